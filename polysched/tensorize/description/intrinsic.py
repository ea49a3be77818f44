"""The Intrinsic value: one instruction (or library function) described once.

Everything else is made from it: the matcher's loops (`contraction`), the emulator (`emulator`), the test against the
real instruction (`conformance`), the operand layouts (`packing`) and the emitted call (`emit`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from enum import Enum
from functools import cached_property

from polysched.records import dataclass
from polysched.target import Target
from polysched.tensorize.description.contraction import Contraction
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Semantics, Variable


class LoadMode(Enum):
    """How an operand's elements get from memory into the instruction."""

    DIRECT = "direct"          # a vector load of consecutive elements
    BROADCAST = "broadcast"    # a few elements, repeated in every lane
    PACKED = "packed"          # consecutive after a gather into the operand's layout
    TILE = "tile register"     # rows of a two-dimensional register, with a stride
    SCRATCHPAD = "scratchpad"  # moved into a scratchpad by an instruction of its own
    MEMORY = "memory"          # the callee reads memory (library functions)
    VALUE = "value"            # one number, handed over by value (library functions)


@dataclass(frozen=True, kw_only=True)
class Register:
    """How C holds one operand between load and store.

    Parameters
    ----------
    c_type : the C type; empty where registers are numbered (AMX tiles).
    load : C statement that fills `{register}` from `{pointer}`; `{stride}` is the distance of rows in bytes.
    store : C statement that writes `{register}` to `{pointer}`; empty for inputs.
    zero : C statement that clears `{register}`; empty where `memset` does, as for any variable of C.
    hold : C statement that keeps a loaded input in `{register}`, where several executions of a block share it and
        compilers would read memory again for each of them; used where a register is left. Empty where that is as well.
    count : architectural registers of this class; the budget of register blocking.
    """

    c_type: str
    load: str
    store: str = ""
    zero: str = ""
    hold: str = ""
    count: int = 32


@dataclass(frozen=True, kw_only=True)
class Operand:
    """What the text cannot say about an operand: register, load mode and preconditions.

    Parameters
    ----------
    name : the parameter of the text.
    alignment_bytes : of the pointer; 1 when any address will do.
    stride : precondition on the strides of the memory that it reads, in words (`rows may be apart`).
    scratchpad : with the mode of this name, the memory that its registers lie in; "" for the only one that there is.
    """

    name: str
    register: Register
    mode: LoadMode = LoadMode.DIRECT
    alignment_bytes: int = 1
    stride: str = "consecutive"
    scratchpad: str = ""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cycles between two issues of the instruction on one core, and from operands to result.

    Parameters
    ----------
    issue_cycles, latency_cycles : of the processor that the source describes.
    slowdown : of issue, on a machine with narrower pipes; `Intrinsic.on` sets it.
    """

    issue_cycles: float
    latency_cycles: float
    source: str = ""
    slowdown: float = 1.0

    @property
    def cycles(self) -> float:
        """Between two issues on the machine; what models count."""
        return self.issue_cycles * self.slowdown


@dataclass(frozen=True, kw_only=True)
class Scratchpad:
    """Memory that the program fills explicitly; `capacity_bytes` bounds what is resident at once."""

    name: str
    capacity_bytes: int


@dataclass(frozen=True, kw_only=True)
class Isa:
    """An instruction set: what compiles it, what runs it, where it is documented.

    Parameters
    ----------
    name : for instance `avx512_vnni`.
    machine : as `platform.machine()` says; other values run nowhere here.
    manual : title of the document.
    headers : C headers of the intrinsics.
    flags : compiler flags that enable it.
    compilers : compilers to look for on another machine, best first.
    runner : program and arguments that run a binary of that machine elsewhere (qemu-user); empty when none can.
    prepare : C statements run once per process before the first instruction; `{refuse};` where the processor or
        the system refuses.  What flags claim is never trusted.
    qualifier : C in front of functions that hold the instruction.
    """

    name: str
    machine: str
    manual: str
    headers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    compilers: tuple[str, ...] = ()
    runner: tuple[str, ...] = ()
    prepare: str = ""
    qualifier: str = ""


@dataclass(frozen=True, kw_only=True)
class Intrinsic:
    """One instruction, completely.

    Parameters
    ----------
    name : key in the registry.
    isa : where it exists.
    semantics : scalar C text; see `semantics` for the language.
    operands : register and load mode per parameter of the text, in its order.
    template : C that executes it on registers `{C}`, `{A}`, ...; or, for a library function, the call.
    cost : cycles.
    section : the manual's section.
    configure : C executed before the first use (tile shapes, strides).
    finish : C executed after the last.
    scratchpads : memories it works in; without any, what lies in a scratchpad has no bound.
    temporaries : registers that the template needs beside those of the operands.
    library : True for a function that is called with pointers, sizes and strides.
    any_order : the manual leaves open in which order floats are added; the text has one of the orders.
    as_written : what is matched keeps sums that the text writes out instead of making loops of them.
    """

    name: str
    isa: Isa
    semantics: str
    operands: tuple[Operand, ...]
    template: str
    cost: Cost
    section: str
    configure: str = ""
    finish: str = ""
    scratchpads: tuple[Scratchpad, ...] = field(default=())
    temporaries: int = 0
    library: bool = False
    any_order: bool = False
    as_written: bool = False

    def __post_init__(self) -> None:
        named, declared = [o.name for o in self.operands], [v.name for v in self.parsed.operands]
        if named != declared:
            raise ValueError(f"{self.name}: operands {named} do not name the parameters {declared} of the text")
        if not self.library and (by_value := [o.name for o in self.operands if o.mode is LoadMode.VALUE]):
            raise ValueError(f"{self.name}: operand {by_value[0]} is handed over by value, which only functions do")
        pads = [s.name for s in self.scratchpads]
        lying = [o for o in self.operands if o.mode is LoadMode.SCRATCHPAD]
        if pads and (wrong := [o.name for o in lying if self.pad(o) not in pads]):
            raise ValueError(f"{self.name}: operand {wrong[0]} lies in a scratchpad, but does not name one of {pads}")
        if not self.holds(dict.fromkeys(named, 1)):
            raise ValueError(f"{self.name}: the operands of one execution exceed the capacity of a scratchpad")

    @cached_property
    def parsed(self) -> Semantics:
        """The text as loops and assignments."""
        return parse(self.semantics)

    @cached_property
    def contraction(self) -> Contraction:
        """What the matcher compares."""
        return derive(self.parsed, as_written=self.as_written)

    @cached_property
    def other_form(self) -> Intrinsic | None:
        """The same instruction with the sums that its text writes out as they stand; None where it writes none out."""
        other = replace(self, as_written=True)
        return None if self.as_written or other.contraction == self.contraction else other

    def on(self, target: Target) -> Intrinsic:
        """The instruction with the costs of a machine: full vectors issue as slowly as multiply-adds on them do."""
        vectors = not self.library and all(o.mode is not LoadMode.TILE for o in self.operands)
        full = vectors and 0 < target.vector_bits <= max(v.elements * v.dtype.bits for v in self.parsed.operands)
        slowdown = target.costs.vector_slowdown if full else 1.0
        return self if slowdown == self.cost.slowdown else replace(self, cost=replace(self.cost, slowdown=slowdown))

    def operand(self, name: str) -> Operand:
        """The operand of this name; KeyError when there is none."""
        for operand in self.operands:
            if operand.name == name:
                return operand
        raise KeyError(name)

    def pad(self, operand: Operand) -> str:
        """Name of the scratchpad that an operand lies in; "" when it is not clear which."""
        return operand.scratchpad or (self.scratchpads[0].name if len(self.scratchpads) == 1 else "")

    def holds(self, tiles: Mapping[str, int]) -> bool:
        """Whether the scratchpads have room for so many tiles of every operand at once."""
        used = dict.fromkeys((s.name for s in self.scratchpads), 0)
        for operand in self.operands:
            if operand.mode is LoadMode.SCRATCHPAD and used:
                variable = self.parsed.operand(operand.name)
                used[self.pad(operand)] += tiles[operand.name] * variable.elements * variable.dtype.bytes
        return all(used[s.name] <= s.capacity_bytes for s in self.scratchpads)

    def row_bytes(self, name: str) -> int:
        """Bytes between the rows of an operand in its natural layout."""
        variable = self.parsed.operand(name)
        first = variable.shape[0] if variable.shape else 1
        return variable.elements // (first if isinstance(first, int) else 1) * variable.dtype.bytes

    @property
    def inputs(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.parsed.operands if not v.written)

    @cached_property
    def output(self) -> Variable:
        """The operand that the first result is written to."""
        return next(v for v in self.parsed.operands if v.name == self.contraction.output.array)

    @cached_property
    def outputs(self) -> tuple[Variable, ...]:
        """All written operands, in the order of the results."""
        names = dict.fromkeys(r.output.array for r in self.contraction.results)
        return tuple(map(self.parsed.operand, names))

    @cached_property
    def one_by_one(self) -> tuple[Intrinsic, ...]:
        """Per result an instruction that computes it alone, of the same operands; itself where there is one."""
        if not self.contraction.others:
            return (self,)
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return tuple(_OneResult(**given, number=at) for at in range(len(self.contraction.results)))


@dataclass(frozen=True, kw_only=True)
class _OneResult(Intrinsic):
    """One result of an instruction that has several; the operands that the others are written to are inputs.

    Parameters
    ----------
    number : of the result.
    """

    number: int

    @cached_property
    def contraction(self) -> Contraction:
        """The result alone."""
        return derive(self.parsed, as_written=self.as_written).alone(self.number)
