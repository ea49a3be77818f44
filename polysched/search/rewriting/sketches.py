"""Sketches: terms with parts left open, which guide the rewriting of a tensor expression step by step.

    product = total(anything, extents=(16,))
    sketches = [contains(stage(product)), contains(stage(anything, shape=(512, 512)))]

A step searches for terms that have the form of one sketch, and the next one starts from those.  So terms are reached
whose rules, one after the other, are far too many for a search without a goal.

Source: T. Koehler, A. Goens, S. Bhat, T. Grosser, P. Trinder, M. Steuwer, "Guided Equality Saturation", POPL 2024,
section 3: `?`, `F(s, ...)` and `contains(s)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.expression.tensors import Constant, Expression, Operation, Read, Reduction, Tensor, walk
from polysched.search.limits import LIMITS
from polysched.search.rewriting.rewriter import Term, explored
from polysched.search.rewriting.rules import RULES, Rule
from polysched.search.rewriting.terms import constant_extent

COMMUTATIVE = ("+", "*")


@dataclass(frozen=True, eq=False)
class Sketch:
    """The form of a value.

    Parameters
    ----------
    text : in messages.
    matches : whether a value has it.
    """

    text: str
    matches: Callable[[Expression], bool]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Sketch({self.text})"

    def __and__(self, other: Sketch) -> Sketch:
        """Both forms at once."""
        return Sketch(f"({self} & {other})", lambda value: self.matches(value) and other.matches(value))

    def __or__(self, other: Sketch) -> Sketch:
        """One of two forms."""
        return Sketch(f"({self} | {other})", lambda value: self.matches(value) or other.matches(value))

    def __invert__(self) -> Sketch:
        """Any other form."""
        return Sketch(f"~{self}", lambda value: not self.matches(value))


anything = Sketch("anything", lambda value: True)


def total(operand: Sketch = anything, *, extents: Sequence[int | None] | None = None) -> Sketch:
    """A sum.

    Parameters
    ----------
    extents : of its axes, None for any; any axes where none are given.
    """
    def matches(value: Expression) -> bool:
        return isinstance(value, Reduction) and value.kind == "sum" and operand.matches(value.operand) and _fits(
            [constant_extent(a) for a in value.axes], extents)

    return Sketch(f"total({operand}{_told('extents', extents)})", matches)


def apply(op: str, *operands: Sketch) -> Sketch:
    """An operation of these operands; of `+` and `*` in any order."""
    def matches(value: Expression) -> bool:
        if not isinstance(value, Operation) or value.op != op or len(value.arguments) != len(operands):
            return False
        orders = permutations(value.arguments) if op in COMMUTATIVE else (value.arguments,)
        return any(all(s.matches(v) for s, v in zip(operands, order, strict=True)) for order in orders)

    return Sketch(f"apply({', '.join([repr(op), *map(str, operands)])})", matches)


def stage(value: Sketch = anything, *, shape: Sequence[int | None] | None = None) -> Sketch:
    """An element of a tensor that has a stage of its own.

    Parameters
    ----------
    value : what the elements are.
    shape : its extents, None for any.
    """
    def matches(read: Expression) -> bool:
        return isinstance(read, Read) and read.tensor.definition is not None and _fits(
            [_constant(e) for e in read.tensor.shape], shape) and value.matches(read.tensor.definition.value)

    return Sketch(f"stage({value}{_told('shape', shape)})", matches)


def source(name: str) -> Sketch:
    """An element of an input, by its name."""
    return Sketch(f"source({name!r})", lambda value: isinstance(
        value, Read) and value.tensor.definition is None and value.tensor.name == name)


def contains(part: Sketch) -> Sketch:
    """A value that has a form itself or in something that it is computed from, in whatever stage."""
    return Sketch(f"contains({part})", lambda value: any(map(part.matches, _below(value))))


def guided(output: Tensor, sketches: Sequence[Sketch], *, reassociate: bool = False, rules: Sequence[Rule] = RULES,
           depth: int = LIMITS.sketch_depth, most: int = LIMITS.terms_to_a_sketch) -> tuple[Term, ...]:
    """Terms that compute an output and have the form of the last of some sketches, reached from one to the next.

    Parameters
    ----------
    reassociate : as for `variants`.
    depth : rules one after the other from a sketch to the next.
    most : terms that are looked at for one sketch.

    Raises
    ------
    UsageError : no term within these bounds has the form of a sketch.
    """
    front: tuple[Term, ...] = (Term(output),)
    for number, sketch in enumerate(sketches):
        front = _reached(front, sketch, number, rules, reassociate=reassociate, depth=depth, most=most)
    return front


def _reached(front: Sequence[Term], sketch: Sketch, number: int, rules: Sequence[Rule], *, reassociate: bool,
             depth: int, most: int) -> tuple[Term, ...]:
    """Those terms with the form of a sketch that fewest further rules make."""
    made: list[Term] = []
    seen = 0
    for term in explored(front, rules, reassociate=reassociate, depth=depth, most=most):
        seen += 1
        assert term.output.definition is not None
        if made and len(term.history) > len(made[0].history):
            break
        if sketch.matches(term.output.definition.value):
            made.append(term)
    if not made:
        raise UsageError(
            f"no term has the form of sketch {number + 1}", witness=str(sketch),
            hint=f"{seen} terms were looked at, of up to {len(front[0].history) + depth} rules; a sketch between this "
                 "one and the last makes the way shorter" + (
                     "" if reassociate else "; other orders of sums of floats need reassociate"))
    return tuple(made)


def _below(value: Expression) -> Iterator[Expression]:
    """A value and all that it is computed from; each stage once."""
    entered: set[Tensor] = set()
    left = [value]
    while left:
        for node in walk(left.pop()):
            yield node
            if isinstance(node, Read) and node.tensor.definition is not None and node.tensor not in entered:
                entered.add(node.tensor)
                left.append(node.tensor.definition.value)


def _constant(extent: Expression) -> int | None:
    return extent.value if isinstance(extent, Constant) and isinstance(extent.value, int) else None


def _fits(found: Sequence[int | None], wanted: Sequence[int | None] | None) -> bool:
    return wanted is None or (len(found) == len(wanted) and all(
        want is None or have == want for have, want in zip(found, wanted, strict=True)))


def _told(name: str, value: Sequence[int | None] | None) -> str:
    return "" if value is None else f", {name}={tuple(value)}"


__all__ = ["Sketch", "anything", "apply", "contains", "guided", "source", "stage", "total"]
