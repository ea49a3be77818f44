"""What a user can choose about the way from source to source: the options of its rooms, put together and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any, Literal, Unpack

from polysched.emit_c import EmitOptions
from polysched.emit_gpu.interface import CUDA, INTERFACES
from polysched.errors import UsageError
from polysched.gpu import GpuOptions
from polysched.gpu.scratchpad.options import ScratchpadOptions
from polysched.pipeline.short_options import SHORT, Short, ShortOptions, by_part
from polysched.pipeline.source_options import SourceOptions
from polysched.records import dataclass, shortened, whole
from polysched.scheduling import ALGORITHMS, SchedulerOptions, Strategy
from polysched.scheduling.primitives.requests import UseInstruction
from polysched.scheduling.primitives.step import Step
from polysched.scop.scop import Scop
from polysched.target import Target
from polysched.target.gpus import find_gpus
from polysched.target.scratchpads import SCRATCHPADS
from polysched.tensorize.decision import may_gain
from polysched.tensorize.instruction_choice import InstructionChoice
from polysched.tensorize.options import BY_DEFAULT, TensorizeOptions
from polysched.tiling import BandOptions, TilingOptions
from polysched.tiling.planning.register_shape import row_loss

VECTOR_BITS = (0, 128, 256, 512)
BEST = "best"
"""What `--scheduler` calls the cheapest of all schedulers' schedules; a search finds it."""
VERIFY = ("auto", "always", "never")
DEVICES = (*INTERFACES, *SCRATCHPADS)
"""What loops can run on beside this machine's cores."""
PARTS = ("scheduling", "tiling", "emission", "source")
FLAGS = {
    "-O2": "less unrolling and no vector code of the compiler's own where it costs size",
    "-funroll-loops": "unroll loops whose trip count is known when they start",
    "-fno-tree-vectorize": "no vector code of the compiler's own",
    "-fno-tree-coalesce-vars": "accumulators in registers of their own",
    "-fno-schedule-insns": "the order of instructions as emitted, before registers are assigned",
    "-fno-gcse": "addresses are computed where they are used",
    "-mprefer-vector-width=256": "vectors of the compiler's own of 256 bits",
    "-mprefer-vector-width=512": "vectors of the compiler's own of 512 bits"}
"""The compiler flags that may be chosen: none changes a result."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False)
class PipelineOptions:
    """What a user can choose about the way from source to source.

    It is composed of the options of the rooms.  Most of their fields have a short form, `short_options.SHORT`, which is
    given, replaced and read like a field: `PipelineOptions(tile=32)` is
    `PipelineOptions(tiling=TilingOptions(sizes=32))`, and `replace(options, tile=16)` changes nothing else.

    Parameters
    ----------
    scheduler : a name of `scheduling.ALGORITHMS`, or `best` for the one whose tiles the cost model finds cheapest.
    strategy : followed instead of a named scheduler.
    scheduling : of the scheduler: fusion, index-set splitting, concurrent start.
    tiling : tiles, orders, register blocks, copies and threads, of all bands and of single ones; and the machine.
    emission : of the C: vectors, functions of math.h, how sums may be rounded.  The width of vectors is that of the
        machine unless given; threads and copies are those of `tiling`.
    tensorize : which instructions may compute statements; None for none. By default those whose results are equal bit
        for bit, where the model finds them faster and no schedule or tiles are chosen by hand.
    source : how a C file is read, and the compiler.
    assumed : values that the models take for parameters, by their C spelling; the code is right for all others, too.
    collapse : make one loop of two that walk whole rows which end within a vector, where neither the tiles nor a
        strategy nor an instruction is chosen by hand.
    expand : give temporaries that every iteration writes anew a copy per iteration, so that they order nothing; most
        copies become variables or small buffers again in the emitted loops.
    guard : test at run time what the extraction assumes, with the original code as the other branch; None where loops
        were found by `autodetect`, for which nobody promised anything.
    safe : keep the original code of a region of a C file as an alternative, for where there is too little to do.
    portable : functions of a C file with vectors wider than 16 bytes stand in a copy for their target, chosen at run
        time beside the original where the compiler was told of no such vectors; None where the file is for this
        machine's cores.
    verify_instructions : run the code with an instruction beside the statement that it replaces before it is emitted:
        `auto` where no verdict on the same code was kept, `always`, or `never`.
    steps : by hand, on the schedule, before it is tiled.
    flags : of `FLAGS`, for whoever compiles the C.
    database : file of what searches found; `polysched.optimize` and the commands look a region up there.
    device : of `DEVICES`, what the loops run on instead of this machine's cores; None for these.
    gpu : how loops are mapped to a device: its blocks of work items.
    scratchpad : how they are mapped to an accelerator whose buffers a program fills itself.

    Raises
    ------
    UsageError : a value that no room has, or two that contradict each other.
    """

    scheduler: str
    strategy: Strategy | None
    scheduling: SchedulerOptions
    tiling: TilingOptions
    emission: EmitOptions
    tensorize: TensorizeOptions | None
    source: SourceOptions
    assumed: tuple[tuple[str, int], ...]
    collapse: bool
    expand: bool
    guard: bool | None
    safe: bool
    portable: bool | None
    verify_instructions: Literal["auto", "always", "never"]
    steps: tuple[Step, ...]
    flags: tuple[str, ...]
    database: str | None
    device: str | None
    gpu: GpuOptions
    scratchpad: ScratchpadOptions

    fusion = Short[str]()
    split_index_sets = Short[bool]()
    concurrent_start = Short[int]()
    tile = Short[int | tuple[int, ...] | Literal["auto", "off"]]()
    outer_tiles = Short[tuple[int | tuple[int, ...], ...]]()
    tile_order = Short[tuple[int, ...]]()
    point_order = Short[tuple[int, ...]]()
    outer_orders = Short[tuple[tuple[int, ...], ...]]()
    packed = Short[tuple[str, ...] | None]()
    parallel = Short[bool]()
    parallel_degrees = Short[int]()
    parallel_loop = Short[int | None]()
    split_tiles = Short[bool | None]()
    bands = Short[Mapping[int, BandOptions]]()
    vector_bits = Short[int]()
    math = Short[Literal["vector", "libm"]]()
    reassociate = Short[bool]()
    wide_sums = Short[bool]()
    simd = Short[bool]()
    verify_passes = Short[bool]()
    autodetect = Short[bool]()
    pure = Short[tuple[str, ...]]()
    include_dirs = Short[tuple[str, ...]]()
    defines = Short[tuple[str, ...]]()
    cc = Short[str | None]()

    def __init__(self, *, scheduler: str = "pluto", strategy: Strategy | None = None,
                 scheduling: SchedulerOptions | None = None, tiling: TilingOptions | None = None,
                 emission: EmitOptions | None = None, tensorize: TensorizeOptions | None = BY_DEFAULT,
                 source: SourceOptions | None = None, assumed: tuple[tuple[str, int], ...] = (),
                 collapse: bool = True, expand: bool = True, guard: bool | None = None, safe: bool = False,
                 portable: bool | None = None,
                 verify_instructions: Literal["auto", "always", "never"] = "auto",
                 steps: tuple[Step, ...] = (), flags: tuple[str, ...] = (), database: str | None = None,
                 device: str | None = None, gpu: GpuOptions | None = None,
                 scratchpad: ScratchpadOptions | None = None,
                 **short: Unpack[ShortOptions]) -> None:
        changed = by_part(short)
        tiling = replace(tiling or TilingOptions(), **changed.get("tiling", {}))
        emission = emission or EmitOptions(vector_bits=tiling.target.vector_bits)
        wanted = changed.get("emission", {})
        if "vector_bits" in wanted and wanted["vector_bits"] is None:
            wanted = {**wanted, "vector_bits": tiling.target.vector_bits}
        values = {
            "scheduler": scheduler, "strategy": strategy, "tensorize": _as_asked(tensorize, steps), "assumed": assumed,
            "collapse": collapse, "expand": expand, "guard": guard, "safe": safe,
            "portable": portable,
            "verify_instructions": verify_instructions, "steps": steps, "flags": flags, "database": database,
            "device": device, "gpu": gpu or GpuOptions(),
            "scratchpad": scratchpad or ScratchpadOptions(),
            "tiling": tiling, "emission": replace(emission, **wanted),
            "scheduling": replace(scheduling or SchedulerOptions(), **changed.get("scheduling", {})),
            "source": replace(source or SourceOptions(), **changed.get("source", {}))}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if self.scheduler not in (*ALGORITHMS, BEST):
            raise UsageError(f"no scheduler {self.scheduler!r}", hint=f"one of {', '.join((*ALGORITHMS, BEST))}")
        if self.emission.vector_bits not in VECTOR_BITS:
            raise UsageError(f"vectors of {self.emission.vector_bits} bits cannot be emitted",
                             hint=f"one of {', '.join(map(str, VECTOR_BITS))}")
        if self.emission.math not in ("vector", "libm"):
            raise UsageError(f"no mathematical functions {self.emission.math!r}", hint="vector or libm")
        if self.verify_instructions not in VERIFY:
            raise UsageError(f"instructions cannot be verified {self.verify_instructions!r}",
                             hint=f"one of {', '.join(VERIFY)}")
        if unknown := [flag for flag in self.flags if flag not in FLAGS]:
            raise UsageError(f"the compiler flag {unknown[0]!r} is not on the list", hint=f"one of {', '.join(FLAGS)}")
        self._check_device()
        if self.steps and self.scheduler == BEST:
            raise UsageError("steps by hand need one schedule", witness="scheduler best",
                             hint=f"one of {', '.join(ALGORITHMS)}")

    def _check_device(self) -> None:
        if self.device is None:
            if self.gpu != GpuOptions():
                raise UsageError("blocks of work items are for a device, not for this machine's cores",
                                 witness=str(self.gpu), hint=f"name a device: {', '.join(INTERFACES)}")
            if self.scratchpad != ScratchpadOptions():
                raise UsageError("buffers are those of an accelerator, not of this machine's cores",
                                 witness=str(self.scratchpad), hint=f"name one: {', '.join(SCRATCHPADS)}")
            return
        if self.device not in DEVICES:
            raise UsageError(f"no device {self.device!r}", hint=f"one of {', '.join(DEVICES)}")
        self._check_work_items()
        instruction = self.tensorize is not None and self.tensorize.is_asked
        accelerator = self._check_accelerator()
        tiled = self.tile not in ("auto", "off") and not accelerator
        by_hand = [*self._by_hand(), *(["tile"] if tiled else [])]
        refused = [name for name, given in (
            ("scheduler best", self.scheduler == BEST), ("an instruction", instruction), ("safe", self.safe),
            ("portable", self.portable), ("database", self.database is not None), ("one thread", not self.parallel),
            ("a number of parallel degrees", self.parallel_degrees != 1),
            ("a width of vectors", self.vector_bits != self.tiling.target.vector_bits),
            ("sums in another order", self.reassociate and accelerator), ("a library of math.h", self.math != "vector"),
            *((name, name != "steps") for name in by_hand)) if given]
        if refused:
            raise UsageError(f"{refused[0]} is for this machine's cores, not for {self.device}",
                             hint="leave it out, or leave the device out")

    def _check_work_items(self) -> None:
        if self.gpu.tensor_cores and self.device != CUDA.name:
            raise UsageError(f"{self.device} has no instructions for tensor cores", hint=f"name {CUDA.name} instead")
        others = [own for own in find_gpus(self.gpu.devices) if not own.architecture]
        if self.device == CUDA.name and others:
            raise UsageError(f"{others[0].name} ({others[0].title}) runs no CUDA", hint="name a GPU that does")

    def _check_accelerator(self) -> bool:
        """Whether the device is an accelerator whose buffers a program fills."""
        if self.device not in SCRATCHPADS:
            if self.scratchpad != ScratchpadOptions():
                raise UsageError(f"the buffers of {self.device} are no user's to fill", witness=str(self.scratchpad),
                                 hint=f"they are with --target {' or '.join(SCRATCHPADS)}")
            return False
        if self.gpu != GpuOptions():
            raise UsageError(f"{self.device} has no blocks of work items", witness=str(self.gpu), hint="leave them out")
        for name, given in (("a scheduler", self.scheduler != "pluto" or self.strategy is not None),
                            ("a step by hand", bool(self.steps)), ("--tile off", self.tile == "off")):
            if given:
                raise UsageError(f"{name} is for this machine's cores, not for {self.device}",
                                 hint="leave it out; --tile has the edges of its tiles")
        return True

    def but(self, **short: Unpack[ShortOptions]) -> PipelineOptions:
        """These options with some fields of their parts changed, in the short form that type checkers know."""
        changed: dict[str, Any] = dict(short)
        return replace(self, **changed)

    @property
    def register_block(self) -> tuple[int, int] | None:
        """Rows and columns of the only register block that may be used; None where the model chooses, or none may."""
        return self.tiling.register if isinstance(self.tiling.register, tuple) else None

    def differences(self) -> dict[str, str]:
        """What was chosen otherwise than by default, as text: by the short name where there is one."""
        plain = PipelineOptions()
        found: dict[str, str] = {}
        names = {place: name for name, place in SHORT.items()}
        for own in fields(self):
            value, default = getattr(self, own.name), getattr(plain, own.name)
            if own.name not in PARTS:
                found |= {own.name: _text(value)} if value != default else {}
                continue
            for inner in fields(value):
                chosen = getattr(value, inner.name)
                if chosen != getattr(default, inner.name):
                    found[names.get((own.name, inner.name), f"{own.name}.{inner.name}")] = _text(chosen)
        return found

    def __repr__(self) -> str:
        """What was chosen, on one line."""
        chosen = ", ".join(f"{name}={text}" for name, text in self.differences().items())
        line = f"PipelineOptions({chosen})"
        return shortened(line)

    def scheduler_options(self) -> SchedulerOptions:
        """How to schedule for the machine."""
        target, given = self.target(), self.scheduling.cache_bytes
        return replace(self.scheduling, line_bytes=target.line_bytes,
                       cache_bytes=target.kept_bytes(2) if given is None else given)

    def tiling_options(self) -> TilingOptions:
        """How to tile for the vectors that are emitted: without any, no block of registers is made."""
        if self.emission.vector_bits:
            return replace(self.tiling, target=self.target())
        bands = {number: own if own.register is None else replace(own, register=False)
                 for number, own in self.tiling.bands.items()}
        return replace(self.tiling, target=self.target(), register=False, bands=bands)

    @property
    def is_by_model(self) -> bool:
        """Whether loops, tiles and their code are the models' choice, none of it made by hand."""
        return (self.strategy is None and self.scheduler in ("pluto", BEST) and self.tile == "auto"
                and bool(self.target().vector_bits) and not self._by_hand())

    @property
    def is_portable(self) -> bool:
        """Whether functions with wide vectors are chosen at run time."""
        return self.device is None if self.portable is None else self.portable

    @property
    def is_guarded(self) -> bool:
        """Whether assumptions are tested at run time."""
        return self.autodetect if self.guard is None else self.guard

    def instructions_for(self, scop: Scop) -> TensorizeOptions | None:
        """Which instructions may compute statements of a program; None where it is not to be looked at."""
        if self.tensorize is None or self.tensorize.is_asked:
            return self.tensorize
        by_hand = self.strategy is not None or self.scheduler == "original" or self.tile != "auto" or self._by_hand()
        return None if by_hand or not self.target().vector_bits or not may_gain(scop) else self.tensorize

    def assumed_in(self, scop: Scop) -> dict[str, int]:
        """What the models assume for parameters of a program, by their names."""
        stated = dict(self.assumed)
        return {p.name: stated[p.spelling] for p in scop.parameters if p.spelling in stated}

    def tiling_of(self, scop: Scop) -> TilingOptions:
        """`tiling_options`, with what the models assume for parameters of a program."""
        return replace(self.tiling_options(), parameters={**self.tiling.parameters, **self.assumed_in(scop)})

    def collapses_for(self) -> int:
        """Bytes of the vectors for which loops over short rows are collapsed; 0 where loops are chosen by hand."""
        by_hand = self.tile != "auto" or self._by_hand() or self.strategy or (
            self.tensorize is not None and self.tensorize.is_asked)
        return self.target().vector_bits // 8 if self.collapse and not by_hand else 0

    def row_loss(self, vectors: int) -> float:
        """How many times longer register blocks take along rows of so many vectors than along rows without an end."""
        return row_loss(vectors, self.target())

    def emit_options(self) -> EmitOptions:
        """What the C may use: threads and copies only where `tiling` has some."""
        target, packed = self.target(), [own.packed for own in self.tiling.each()]
        every = tuple(dict.fromkeys(array for arrays in packed for array in arrays or ()))
        return replace(self.emission, last_cache_bytes=self.emission.last_cache_bytes or target.caches[-1].size_bytes,
                       vector_registers=target.vector_registers, target=target,
                       openmp=self.emission.openmp and any(own.parallel for own in self.tiling.each()),
                       packing=self.emission.packing if None in packed else every)

    def target(self) -> Target:
        """The machine that code is made for, with the vectors that were asked for."""
        return self.tiling.target.with_vectors(self.emission.vector_bits)

    def chosen(self) -> dict[str, object]:
        """What shapes the result, for the record."""
        return {"scheduler": self.scheduler if self.strategy is None else "strategy", "fusion": self.fusion,
                "split_index_sets": self.split_index_sets, "concurrent_start": self.concurrent_start,
                "parallel_degrees": self.parallel_degrees,
                "tile": list(self.tile) if isinstance(self.tile, tuple) else self.tile,
                "parallel": self.parallel, **self._by_hand(),
                **({"assumed": dict(self.assumed)} if self.assumed else {}),
                "intrinsic": None if self.tensorize is None else self.tensorize.intrinsic,
                **({"device": self.device} if self.device else {}),
                **({"devices": list(self.gpu.devices)} if self.gpu.devices else {}),
                **({"block": list(self.gpu.block)} if self.gpu.block else {}),
                "collapse": self.collapse, "expand": self.expand, "reassociate": self.reassociate, "math": self.math,
                "vector_bits": self.target().vector_bits}

    def _steps(self) -> dict[str, object]:
        return {"steps": [step.to_json() for step in self.steps]} if self.steps else {}

    def _by_hand(self) -> dict[str, object]:
        """What was given beside `tile`: nothing where the model chose."""
        given: dict[str, object] = self._steps()
        if self.outer_tiles:
            given["outer_tiles"] = [list(level) if isinstance(level, tuple) else level for level in self.outer_tiles]
        for name in ("tile_order", "point_order"):
            if getattr(self, name):
                given[name] = list(getattr(self, name))
        if self.outer_orders:
            given["outer_orders"] = [list(order) for order in self.outer_orders]
        if self.register_block:
            given["register_block"] = list(self.register_block)
        if self.packed is not None:
            given["packed"] = list(self.packed)
        for name in ("split_tiles", "parallel_loop"):
            if getattr(self, name) is not None:
                given[name] = getattr(self, name)
        if self.tiling.diamond:
            given["diamond"] = True
        if self.bands:
            given["bands"] = {str(number): own.given() for number, own in self.bands.items()}
        return given


def _as_asked(given: TensorizeOptions | None, steps: tuple[Step, ...]) -> TensorizeOptions | None:
    """Which instructions may compute statements, with those that steps by hand ask for."""
    asked = {step.statement: InstructionChoice(name=step.name, loops=step.loops, operands=step.operands,
                                               tiling=step.tiling, block=step.block)
             for step in steps if isinstance(step, UseInstruction)}
    if not asked:
        return given
    given = given or BY_DEFAULT
    return replace(given, chosen={**given.chosen, **asked})


def _text(value: object) -> str:
    """A value as text that is the same in every process: sets in order, and of dataclasses what is not by default."""
    if is_dataclass(value) and not isinstance(value, type):
        own = ((f, getattr(value, f.name)) for f in fields(value))
        return f"{type(value).__name__}({', '.join(f'{f.name}={_text(v)}' for f, v in own if v != _default(f))})"
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_text(k)}: {_text(v)}' for k, v in sorted(value.items()))}}}"
    return whole(value)


def _default(field: Field[Any]) -> object:
    """What a field has by default; MISSING where it has to be given."""
    return field.default if field.default_factory is MISSING else field.default_factory()
