"""What an expression of a Python function can be: a scalar, a view of an array, an array expression, a tuple.

Array expressions are lazy: an `ArrayValue` gives its element at given indices, so a whole line of array
arithmetic becomes one loop nest.  A `Pending` reduction waits for where its result goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from polysched.records import dataclass
from polysched.scop.body import Load
from polysched.scop.construction import values
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import DType

Indices: TypeAlias = tuple[Value, ...]
ONE = values.number(1)
ZERO = values.number(0)


@dataclass(frozen=True, eq=False)
class Subscript:
    """One subscript of an array behind a view: `start`, or `start + step * index[dimension]`."""

    start: Value
    step: int = 1
    dimension: int | None = None


@dataclass(frozen=True, eq=False)
class View:
    """A part of an array, as basic slicing makes it.

    Parameters
    ----------
    array : the array's name in the Scop.
    subscripts : one per dimension of the array.
    shape : extents of the view; a dimension that no subscript uses comes from `None` in an index.
    """

    array: str
    subscripts: tuple[Subscript, ...]
    shape: Indices
    dtype: DType

    def at(self, indices: Indices) -> Indices:
        """The array's subscripts of one element of the view."""
        return tuple(s.start if s.dimension is None else values.arithmetic(
            "+", s.start, values.arithmetic("*", values.number(s.step), indices[s.dimension])) for s in self.subscripts)


@dataclass(frozen=True, eq=False)
class ArrayValue:
    """An array expression.

    Parameters
    ----------
    element : its value at indices, under the loops that are open then.
    sources : names of the arrays that it reads.
    """

    shape: Indices
    dtype: DType
    element: Callable[[Indices], Value]
    sources: frozenset[str]


@dataclass(frozen=True, eq=False)
class Pending:
    """A reduction that is not computed yet.

    Parameters
    ----------
    kind : `sum`, `prod`, `max`, `min`, `argmax` or `argmin`.
    shape : extents of the result; none for a scalar.
    extents : extents of what is reduced over.
    element : the operand at an index of the result and one of the reduction.
    dtype : the type of the result.
    """

    kind: str
    shape: Indices
    extents: Indices
    dtype: DType
    element: Callable[[Indices, Indices], Value]
    sources: frozenset[str]


@dataclass(frozen=True, eq=False)
class TupleValue:
    """Several operands: a shape, or the two sides of a parallel assignment."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, eq=False)
class PythonObject:
    """Something of Python's own: a module, a function, a type, None.

    Parameters
    ----------
    name : how the function reaches it from outside, `np.float32`; empty for what is no name from outside.
    """

    value: Any
    name: str = ""


Operand: TypeAlias = Value | View | ArrayValue | Pending | TupleValue | PythonObject


def whole_view(region: Region, array: str, shape: Indices) -> View:
    """All of an array."""
    subscripts = tuple(Subscript(ZERO, 1, d) for d in range(len(shape)))
    return View(array, subscripts, shape, region.arrays[array].dtype)


def elements_of(region: Region, view: View) -> ArrayValue:
    """A view as an array expression."""
    return ArrayValue(view.shape, view.dtype, lambda indices: region.load(view.array, view.at(indices)),
                      frozenset({view.array}))


def unknown(dtype: DType) -> Value:
    """A value of a type, to find out the type of what is computed from it."""
    return Value(Load("unknown", dtype), dtype)


def is_one(extent: Value) -> bool:
    """Whether an extent is the constant 1, which broadcasts."""
    return extent.literal == 1


def same_extent(region: Region, left: Value, right: Value) -> bool:
    """Require two extents to be equal; False when they never are."""
    if left.affine is None or right.affine is None:
        raise CannotExpress("the extent of an array is not affine")
    zero = values.affine_constant(0)
    filled = region.without_iterators(region.domain.intersect(left.affine.gt_set(zero)).intersect(
        right.affine.gt_set(zero)))
    return region.require(left.affine.eq_set(right.affine), kind="shapes", text="shapes that meet are equal",
                          assuming=filled)


def broadcast_shape(region: Region, shapes: Sequence[Indices]) -> Indices:
    """The common shape of several operands, as NumPy's rules give it.

    Raises
    ------
    CannotExpress : extents that are not equal for any size.
    """
    rank = max(len(s) for s in shapes)
    result: list[Value] = []
    for d in range(rank):
        extents = [s[len(s) - rank + d] for s in shapes if len(s) - rank + d >= 0]
        wide = [e for e in extents if not is_one(e)]
        for other in wide[1:]:
            if not same_extent(region, wide[0], other):
                raise CannotExpress("the shapes do not broadcast together")
        result.append(wide[0] if wide else ONE)
    return tuple(result)


def stretched(indices: Indices, shape: Indices) -> Indices:
    """The indices of an operand of this shape under those of the result; further dimensions have extent 1."""
    more = max(len(shape) - len(indices), 0)
    own = (ZERO,) * more + indices[len(indices) + more - len(shape):] if shape else ()
    return tuple(ZERO if is_one(extent) else index for index, extent in zip(own, shape, strict=True))


def sources_of(region: Region, operand: Value | ArrayValue) -> frozenset[str]:
    """Names of the arrays that an operand reads."""
    if isinstance(operand, ArrayValue):
        return operand.sources
    return frozenset(t.array for t in region.touches_of(operand.expr))


def lifted(region: Region, function: Callable[..., Value],
           operands: Sequence[Value | ArrayValue]) -> Value | ArrayValue:
    """A function of scalars applied element by element, with broadcasting."""
    if all(isinstance(o, Value) for o in operands):
        return function(*operands)
    shape = broadcast_shape(region, [o.shape for o in operands if isinstance(o, ArrayValue)])
    dtype = function(*[unknown(o.dtype) if isinstance(o, ArrayValue) else o for o in operands]).dtype

    def element(indices: Indices) -> Value:
        return function(*[o.element(stretched(indices, o.shape)) if isinstance(o, ArrayValue) else o for o in operands])
    sources = frozenset[str]().union(*(sources_of(region, o) for o in operands))
    return ArrayValue(shape, dtype, element, sources)
