"""What an instruction computes ideally: one loop nest around one update, derived from its exact text.

The matcher compares loops and bodies, so rounding, flushing and the detour over local partial sums are stripped
here, and remembered as traits that a match reports.  `same_function` proves the derivation: both texts are run over
a prime field with random elements, where rounding means nothing (Schwartz 1980, Zippel 1979: a wrong identity of
degree d survives one trial with probability d/p).  Choices, comparisons and shifts are random functions there.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from polysched.errors import SourceSyntaxError
from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary, rebuild, walk
from polysched.scop.dtypes import DType
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS, Ideal
from polysched.tensorize.description.semantics import Element, Item, Local, Loop, Semantics, Update

PRIME = (1 << 61) - 1


@dataclass(frozen=True)
class Dimension:
    """One loop of an instruction; the extent is a parameter's name where the caller of a library chooses it."""

    name: str
    extent: int | str


@dataclass(frozen=True)
class Limit:
    """A part of the sum that is cut to a range on its way: so many addends, each the update's without the old value.

    Where no such part leaves the range the update is what is computed; that is to be proved of the operands.
    """

    addends: int
    addend: Expr
    low: int
    high: int


@dataclass(frozen=True)
class Contraction:
    """`for all dimensions: output = update`, and `output = finish(output)` at the end when there is a finish.

    Parameters
    ----------
    dimensions : outermost first.
    output : the written element, in terms of the dimensions.
    inputs : the elements read, in order of appearance.
    update : new value of the output; reads the output by `Load(str(output))`.
    accumulates : the old value of the output counts; otherwise the sum starts from zero.
    finish : name of the function that ends the sum (saturation), or None.
    limits : the parts of the sum that are cut on their way.
    scale : name of the operand that the old value of the output is multiplied by ahead of the sum (BLAS's beta), or "".
    traits : what somebody who expects the ideal update accepts, in words.
    """

    dimensions: tuple[Dimension, ...]
    output: Element
    output_dtype: DType
    inputs: tuple[Element, ...]
    input_dtypes: tuple[DType, ...]
    update: Expr
    accumulates: bool
    finish: str | None
    traits: tuple[str, ...]
    scale: str = ""
    limits: tuple[Limit, ...] = ()

    def indexes(self, dimension: str) -> frozenset[str]:
        """Names of the operands that a dimension indexes."""
        return frozenset(e.array for e in (self.output, *self.inputs) if dimension in e.names)

    @property
    def reductions(self) -> tuple[str, ...]:
        """Dimensions that the output does not know."""
        return tuple(d.name for d in self.dimensions if d.name not in self.output.names)


@lru_cache(maxsize=512)
def derive(semantics: Semantics) -> Contraction:
    """The contraction of an instruction.

    The core is the one update that reads input operands; what it accumulates into may be a local that later flows
    into an operand.

    Raises
    ------
    SourceSyntaxError : there is no such core, or several.
    """
    operands = {o.name for o in semantics.operands}
    written = {u.target.array for _, u in _updates(semantics.body)} & operands
    scale, nests = _scaled(semantics, written)
    cores = [(loops, u) for loops, u in nests if any(e.array in operands - written for e in u.elements)]
    if len(cores) != 1:
        raise SourceSyntaxError("the text of an intrinsic has one statement that reads its inputs",
                                where=semantics.name, witness=f"{len(cores)} statements")
    loops, core = cores[0]
    last = next((u for _, u in reversed(nests) if u.target.array in written), core)
    if last is core:
        output, dtype, accumulator = core.target, core.dtype, str(core.target)
    else:
        output, dtype, accumulator = last.target, last.dtype, str(core.target)
    update = _ideal(core.value)
    if accumulator != str(output):
        update = rebuild(update, lambda e: Load(str(output), dtype) if e == Load(accumulator, core.dtype) else e)
    accumulates = str(output) in {str(e) for e in last.elements}
    if not any(e == Load(str(output), dtype) for e in walk(update)):
        update = Binary("+", Load(str(output), dtype), update, dtype)
    cut = _partial_clamp(last)
    limits = () if cut is None else (_limit(semantics, loops, core, accumulator, cut),)
    calls = [e for _, u in nests for e in walk(u.value) if isinstance(e, Call) and e != cut]
    traits = tuple(dict.fromkeys(t for e in calls for t in FUNCTIONS[e.function].traits))
    clamps = [e.function for e in calls if FUNCTIONS[e.function].ideal is Ideal.CLAMP]
    inputs = tuple(e for e in core.elements if e.array in operands - written)
    return Contraction(
        tuple(Dimension(loop.name, loop.extent) for loop in loops), output, dtype, inputs,
        tuple(semantics.operand(e.array).dtype for e in inputs), update, accumulates,
        clamps[0] if clamps else None, traits, scale, limits)


def _partial_clamp(last: Update) -> Call | None:
    """The clamp of what is added to an element, `C[i] += sat_i16(t)`; None where only the sum itself is clamped."""
    calls = [e for e in walk(last.value) if isinstance(e, Call) and FUNCTIONS[e.function].ideal is Ideal.CLAMP]
    own = [e for e in calls if not any(x == Load(str(last.target), last.dtype) for x in walk(e))]
    return own[0] if own and any(x == Load(str(last.target), last.dtype) for x in walk(last.value)) else None


def _limit(semantics: Semantics, loops: tuple[Loop, ...], core: Update, accumulator: str, cut: Call) -> Limit:
    """How many addends of the core come together ahead of a clamp, and the range of that.

    Raises
    ------
    SourceSyntaxError : what is clamped is no sum that the core adds up.
    """
    if cut.arguments != (Load(accumulator, core.dtype),) or not (
            isinstance(core.value, Binary) and core.value.op == "+" and core.value.left == cut.arguments[0]):
        raise SourceSyntaxError("a clamp on the way to a sum is one of a local that the core adds to",
                                where=semantics.name, witness=str(cut))
    inside = [loop for loop in loops if loop.name not in core.target.names and _holds_local(semantics, loop, core)]
    low, high = FUNCTIONS[cut.function].dtype.value_range()
    return Limit(math.prod(int(loop.extent) for loop in inside), _ideal(core.value.right), low, high)


def _holds_local(semantics: Semantics, loop: Loop, core: Update) -> bool:
    """Whether a loop runs inside the place where the core's local is declared."""
    def declares(items: tuple[Item, ...]) -> bool:
        return any((isinstance(x, Local) and x.variable.name == core.target.array)
                   or (isinstance(x, Loop) and declares(x.body)) for x in items)

    return not declares(loop.body)


def _scaled(semantics: Semantics, written: set[str]) -> tuple[str, list[tuple[tuple[Loop, ...], Update]]]:
    """The operand that a first statement multiplies the result by, or ""; and the other statements."""
    nests = list(_updates(semantics.body))
    first, numbers = nests[0][1], {o.name for o in semantics.operands if not o.shape}
    if len(nests) > 1 and isinstance(first.value, Binary) and first.value.op == "*" and first.target.array in written:
        sides = [e.reference for e in (first.value.left, first.value.right) if isinstance(e, Load)]
        scale = [r for r in sides if r in numbers]
        if len(sides) == 2 and str(first.target) in sides and scale:
            return scale[0], nests[1:]
    return "", nests


def _updates(items: tuple[Item, ...], loops: tuple[Loop, ...] = ()) -> Iterator[tuple[tuple[Loop, ...], Update]]:
    for item in items:
        match item:
            case Update():
                yield loops, item
            case Loop():
                yield from _updates(item.body, (*loops, item))
            case Local():
                pass


def _ideal(value: Expr) -> Expr:
    def change(e: Expr) -> Expr:
        if not isinstance(e, Call):
            return e
        a = e.arguments
        match FUNCTIONS[e.function].ideal:
            case Ideal.IDENTITY:
                return a[0] if a[0].dtype == e.dtype else Cast(a[0], e.dtype)
            case Ideal.CLAMP:
                return a[0]
            case Ideal.SUM:
                return Binary("+", a[0], a[1], e.dtype)
            case Ideal.PRODUCT:
                return Binary("*", a[0], a[1], e.dtype)
            case Ideal.MULTIPLY_ADD:
                return Binary("+", a[2], Binary("*", a[0], a[1], e.dtype), e.dtype)
    return rebuild(value, change)


def same_function(semantics: Semantics, contraction: Contraction, *, seed: int = 0,
                  sizes: Mapping[str, int] | None = None) -> bool:
    """Whether the exact text, without its rounding, computes the contraction (one Schwartz-Zippel trial)."""
    chooser = random.Random(seed)
    extents = dict(sizes or {})
    memory: dict[tuple[str, tuple[int, ...]], int] = {}

    def initial(key: tuple[str, tuple[int, ...]]) -> int:
        if key not in memory:
            memory[key] = chooser.randrange(PRIME)
        return memory[key]

    exact: dict[tuple[str, tuple[int, ...]], int] = {}
    _run(semantics.body, {}, extents, exact, initial)
    ideal: dict[tuple[str, tuple[int, ...]], int] = {}
    body: Item = Update(contraction.output, contraction.output_dtype, contraction.update,
                        (contraction.output, *contraction.inputs))
    for dimension in reversed(contraction.dimensions):
        body = Loop(dimension.name, dimension.extent, False, (body,))
    operands = {o.name for o in semantics.operands}
    start = initial if contraction.accumulates else (lambda k: 0 if k[0] == contraction.output.array else initial(k))
    _run((*_scaling(contraction), body), {}, extents, ideal, start)
    return {k: v for k, v in exact.items() if k[0] in operands} == ideal


def _scaling(contraction: Contraction) -> tuple[Item, ...]:
    """The loops that multiply every element of the result by the scale."""
    if not contraction.scale:
        return ()
    output, dtype = contraction.output, contraction.output_dtype
    value = Binary("*", Load(contraction.scale, dtype), Load(str(output), dtype), dtype)
    item: Item = Update(output, dtype, value, (output, Element(contraction.scale)))
    for dimension in reversed([d for d in contraction.dimensions if d.name in output.names]):
        item = Loop(dimension.name, dimension.extent, False, (item,))
    return (item,)


def _run(items, values, sizes, memory, initial) -> None:  # type: ignore[no-untyped-def]
    for item in items:
        match item:
            case Local():
                _declare(item, memory, values, initial)
            case Loop():
                extent = sizes[item.extent] if isinstance(item.extent, str) else item.extent
                for i in reversed(range(extent)) if item.descending else range(extent):
                    _run(item.body, values | {item.name: i}, sizes, memory, initial)
            case Update():
                value = _field_value(item.value, item, values, memory, initial)
                memory[_key(item.target, values)] = value


def _declare(item, memory, values, initial) -> None:  # type: ignore[no-untyped-def]
    for key in [k for k in memory if k[0] == item.variable.name]:
        del memory[key]
    if item.value is not None:
        value = item.value.value if isinstance(item.value, Literal) else None
        if value != 0:
            raise SourceSyntaxError("a local of an intrinsic's text starts from 0 or nothing",
                                    where=item.variable.name)
        for flat in range(item.variable.elements):
            key, rest = [], flat
            for extent in reversed(item.variable.shape):
                key.insert(0, rest % extent)
                rest //= extent
            memory[(item.variable.name, tuple(key))] = 0


def _key(element: Element, values: Mapping[str, int]) -> tuple[str, tuple[int, ...]]:
    return element.array, tuple(s.evaluate(values) for s in element.subscripts)


def _field_value(e: Expr, update: Update, values, memory, initial) -> int:  # type: ignore[no-untyped-def]
    def value(x: Expr) -> int:
        return _field_value(x, update, values, memory, initial)

    match e:
        case Load():
            key = _key(update.element(e.reference), values)
            return int(memory[key]) if key in memory else int(initial(key))
        case Literal():
            return int(e.value) % PRIME
        case Cast():
            return value(e.operand)
        case Unary() if e.op == "-":
            return -value(e.operand) % PRIME
        case Binary() if e.op in ("+", "-", "*"):
            a, b = value(e.left), value(e.right)
            return (a + b if e.op == "+" else a - b if e.op == "-" else a * b) % PRIME
        case Call():
            return value(_ideal(e))
        case Select():
            return _unknown_function("?:", (value(e.condition), value(e.then), value(e.otherwise)))
        case Unary() | Binary():   # comparisons, shifts, masks
            parts = (e.operand,) if isinstance(e, Unary) else (e.left, e.right)
            return _unknown_function(e.op, tuple(map(value, parts)))
    raise SourceSyntaxError("the text of an intrinsic computes with its operands", where=str(update.target),
                            witness=str(e), hint="what rounds or saturates is a call of a function of exact_arithmetic")


def _unknown_function(name: str, values: tuple[int, ...]) -> int:
    """A random function of field elements: what holds for it holds for whatever stands there."""
    return int.from_bytes(hashlib.blake2b(repr((name, values)).encode(), digest_size=16).digest()) % PRIME


