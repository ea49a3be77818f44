"""Whether a text, without its rounding, computes its contraction: both are run over a prime field with random elements.

Rounding and width mean nothing there; a wrong identity of degree d survives one trial with probability d/p (Schwartz
1980, Zippel 1979).  Choices, comparisons, shifts and tables are random functions of their operands.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from polysched.errors import SourceSyntaxError
from polysched.scop.body import Binary, Call, Cast, Expr, IteratorRef, Literal, Load, Select, Unary, children
from polysched.tensorize.description.contraction import Contraction, Dimension, Result, Stage
from polysched.tensorize.description.derivation import ideal_of
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS, Ideal
from polysched.tensorize.description.semantics import Element, Item, Local, Loop, Semantics, Update

PRIME = (1 << 61) - 1
Key: TypeAlias = tuple[str, tuple[int, ...]]
Memory: TypeAlias = dict[Key, int]
Initial: TypeAlias = Callable[[Key], int]


def same_function(semantics: Semantics, contraction: Contraction, *, seed: int = 0,
                  sizes: Mapping[str, int] | None = None) -> bool:
    """Whether the exact text, without its rounding, computes the contraction (one Schwartz-Zippel trial)."""
    return not differing_element(semantics, contraction, seed=seed, sizes=sizes)


def differing_element(semantics: Semantics, contraction: Contraction, *, seed: int = 0,
                      sizes: Mapping[str, int] | None = None) -> str:
    """An element of which the contraction has another value than the exact text, without its rounding; "" for none.

    Raises
    ------
    SourceSyntaxError : the text reads a local that has no value; the witness is the element.
    """
    chooser = random.Random(seed)
    start: Memory = {}
    operands = {o.name for o in semantics.operands}

    def initial(key: Key) -> int:
        if key[0] not in operands:
            raise SourceSyntaxError("a local is read before it has a value", where=semantics.name,
                                    witness=f"{key[0]}{list(key[1]) or ''}")
        if key not in start:
            start[key] = chooser.randrange(PRIME)
        return start[key]

    machine = _Field(dict(sizes or {}), strips=contraction.finish is not None or bool(contraction.limits))
    exact: Memory = {}
    machine.items(semantics.body, {}, exact, initial)
    ideal: Memory = {}
    if not contraction.whole:
        for stage in contraction.stages:
            machine.stage(stage, ideal, initial)
    else:
        for stage in _scaling(contraction):
            machine.stage(stage, ideal, initial)
        begun = not contraction.accumulates and contraction.results[0].reads_itself   # with a sum from zero
        cleared = contraction.output.array if begun else ""
        machine.stage(Stage(contraction.dimensions, contraction.results), ideal,
                      lambda k: 0 if k[0] == cleared else initial(k))
    differ = sorted(k for k in exact.keys() | ideal.keys() if k[0] in operands and exact.get(k) != ideal.get(k))
    return "".join(f"{array}{''.join(f'[{n}]' for n in at)}" for array, at in differ[:1])


def _scaling(contraction: Contraction) -> Iterator[Stage]:
    """The loops that multiply every element of the result by the scale."""
    if contraction.scale:
        output, dtype = contraction.output, contraction.output_dtype
        value = Binary("*", Load(contraction.scale, dtype), Load(str(output), dtype), dtype)
        kept = tuple(d for d in contraction.dimensions if d.name in output.names)
        yield Stage(kept, (Result(output, dtype, value, (output, Element(contraction.scale))),))


class _Field:
    """Runs items and stages over the field.

    Parameters
    ----------
    strips : clamps are taken for their argument.
    """

    def __init__(self, sizes: Mapping[str, int], *, strips: bool) -> None:
        self.sizes, self.strips = sizes, strips

    def items(self, items: Sequence[Item], at: Mapping[str, int], memory: Memory, initial: Initial) -> None:
        for item in items:
            match item:
                case Local():
                    self.declare(item, at, memory, initial)
                case Loop():
                    for i in item.values(at, self.sizes):
                        self.items(item.body, {**at, item.name: i}, memory, initial)
                case Update():
                    value = self.value(item.value, {str(e): e for e in item.elements}, at, memory, initial)
                    memory[_key(item.target, at)] = value

    def declare(self, item: Local, at: Mapping[str, int], memory: Memory, initial: Initial) -> None:
        for key in [k for k in memory if k[0] == item.variable.name]:
            del memory[key]
        if item.value is None:
            return
        value = self.value(item.value, {str(e): e for e in item.elements}, at, memory, initial)
        points: list[tuple[int, ...]] = [()]
        for extent in item.variable.shape:
            points = [(*p, i) for p in points for i in range(int(extent))]
        memory.update({(item.variable.name, p): value for p in points})

    def stage(self, stage: Stage, memory: Memory, initial: Initial) -> None:
        named = [{str(e): e for e in r.reads} for r in stage.results]
        for at in points_of(stage.dimensions, self.sizes):
            new = [(_key(r.output, at), self.value(r.update, names, at, memory, initial))
                   for r, names in zip(stage.results, named, strict=True)]
            memory.update(new)

    def value(self, e: Expr, named: Mapping[str, Element], at: Mapping[str, int], memory: Memory,
              initial: Initial) -> int:
        def below(x: Expr) -> int:
            return self.value(x, named, at, memory, initial)

        match e:
            case Load():
                key = _key(named[e.reference], at)
                return memory[key] if key in memory else initial(key)
            case IteratorRef():
                return at[e.name]
            case Literal():
                return _number(e)
            case Cast():
                return below(e.operand)
            case Unary(op="-"):
                return -below(e.operand) % PRIME
            case Binary(op="+" | "-" | "*"):
                a, b = below(e.left), below(e.right)
                return (a + b if e.op == "+" else a - b if e.op == "-" else a * b) % PRIME
            case Select():   # of numbers a condition is 0 or 1: what holds for this sum holds for the choice
                condition = _unknown("condition", (below(e.condition),))
                return (condition * below(e.then) + (1 - condition) * below(e.otherwise)) % PRIME
            case Call() if e.function in FUNCTIONS:
                return self.call(e, below)
        name = e.op if isinstance(e, Unary | Binary) else e.function if isinstance(e, Call) else type(e).__name__
        return _unknown(name, tuple(map(below, children(e))))

    def call(self, e: Call, below: Callable[[Expr], int]) -> int:
        if self.strips and FUNCTIONS[e.function].ideal is Ideal.CLAMP:
            return below(e.arguments[0])
        meant = ideal_of(Call(e.function, e.arguments, e.dtype))
        return below(meant) if meant != e else _unknown(e.function, tuple(map(below, e.arguments)))


def points_of(dimensions: Sequence[Dimension], sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """The iterations of a nest, in order."""
    if not dimensions:
        yield {}
        return
    *outer, last = dimensions
    for at in points_of(outer, sizes):
        for i in last.values(at, sizes):
            yield {**at, last.name: i}


def _number(e: Literal) -> int:
    whole = math.isfinite(e.value) and int(e.value) == e.value
    return int(e.value) % PRIME if whole else _unknown(repr(e.value), ())


def _key(element: Element, values: Mapping[str, int]) -> Key:
    return element.array, tuple(s.evaluate(values) for s in element.subscripts)


def _unknown(name: str, values: tuple[int, ...]) -> int:
    """A random function of field elements: what holds for it holds for whatever stands there."""
    return int.from_bytes(hashlib.blake2b(repr((name, values)).encode(), digest_size=16).digest()) % PRIME


