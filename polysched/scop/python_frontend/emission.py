"""From operands to statements: loop nests over arrays, temporaries, reductions, guarded statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import islpy as isl

from polysched.scop.body import Assign, BodyStatement, If, Load
from polysched.scop.construction import reductions, values
from polysched.scop.construction.affine_sets import element_set, largest_extent
from polysched.scop.construction.promotion import computation_type, result_type
from polysched.scop.construction.region import Region, Touch
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BOOL, DType, promote, usual_conversion
from polysched.scop.python_frontend.operands import (
    ZERO,
    ArrayValue,
    Indices,
    Pending,
    View,
    elements_of,
    is_one,
    same_extent,
    sources_of,
    stretched,
    whole_view,
)
from polysched.scop.scop import Storage

ITERATORS = ("i", "j", "k", "l", "m", "n")
COMPOUND = frozenset({"+", "-", "*", "/"})


class NeedsLoops(Exception):
    """A statement inside a data-dependent branch is not a plain assignment."""


class Emission:
    """Adds statements to a Region, inside data-dependent branches too.

    Attributes
    ----------
    line : the line of the statements to come.
    stem : what a new array is called: the name that it is assigned to, where there is one.
    conditions : names of the truth values that every statement to come depends on.
    collected : the body of the data-dependent branch being built; None outside one.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self.line = 0
        self.stem = "tmp"
        self.conditions: list[str] = []
        self.collected: list[BodyStatement] | None = None

    def emit(self, *body: BodyStatement) -> None:
        """Add a statement, or collect it for the branch being built."""
        if self.collected is not None:
            self.collected += body
            return
        for name in reversed(self.conditions):
            test = Load(self.region.touch(name, ()), self.region.arrays[name].dtype)
            body = (If(test, tuple(body)),)
        self.region.add(tuple(body), line=self.line)

    @contextmanager
    def loop(self, name: str, start: Value, stop: Value, step: int = 1, *, turned: bool = False) -> Iterator[Value]:
        """Open a loop; inside a data-dependent branch that is built as one statement it cannot be."""
        if self.collected is not None:
            raise NeedsLoops
        with self.region.loop(name, start, stop, step, turned=turned) as value:
            yield value

    def open_all(self, loops: ExitStack, extents: Sequence[Value], *, first: int = 0) -> Indices:
        """Open one loop from 0 per extent."""
        return tuple(loops.enter_context(self.loop(ITERATORS[(first + d) % len(ITERATORS)], ZERO, extent))
                     for d, extent in enumerate(extents))

    def assign_element(self, array: str, subscripts: Indices, value: Value) -> None:
        """`array[subscripts] = value`, converted to the array's type."""
        dtype = self.region.arrays[array].dtype
        target = self.region.touch(array, subscripts)
        self.emit(Assign(target=target, value=values.cast(value, dtype).expr, dtype=dtype))

    def update_element(self, array: str, subscripts: Indices, op: str, value: Value, *, weak: bool = False) -> None:
        """`array[subscripts] op= value` for `+ - * /`, in NumPy's common type."""
        dtype = self.region.arrays[array].dtype
        result, _ = result_type(dtype, weak, value.dtype, value.weak)
        inner = computation_type(result, op)
        whole_division = op == "/" and result.is_integer
        narrows = inner == promote(result) and dtype != BOOL   # C narrows to bool by a comparison with 0
        if not whole_division and (inner == result or narrows) and usual_conversion(dtype, result) == inner:
            operand = values.as_type(value, result, op)
            read, target = self.region.touch(array, subscripts), self.region.touch(array, subscripts)
            self.emit(Assign(target=target, value=operand, dtype=dtype, op=op, read=read))
            return
        old = self.region.load(array, subscripts, weak=weak)
        new = values.divide(old, value) if op == "/" else values.arithmetic(op, old, value)
        self.assign_element(array, subscripts, new)

    def temporary(self, stem: str, dtype: DType, shape: Indices) -> View:
        """A new local array; an extent that depends on iterators takes its largest value."""
        extents = tuple(self._constant_extent(e) for e in shape)
        name = self.region.fresh(stem)
        self.region.declare(name, dtype, extents, storage=Storage.LOCAL)
        view = whole_view(self.region, name, extents)
        return View(name, view.subscripts, shape, dtype)

    def _constant_extent(self, extent: Value) -> Value:
        if extent.affine is None:
            raise CannotExpress("the extent of an array is not affine")
        symbols = [loop.symbol for loop in self.region.loops]
        if all(extent.affine.find_dim_by_name(isl.dim_type.in_, s) < 0
               and extent.affine.find_dim_by_name(isl.dim_type.param, s) < 0 for s in symbols):
            return extent
        domain = self.region.domain.intersect(self.region.context)
        return Value(extent.expr, extent.dtype, extent.weak, largest_extent(extent.affine, domain, symbols))

    def materialised(self, value: View | ArrayValue | Pending, stem: str = "tmp") -> View:
        """An array expression computed into a new local array; a view is one already."""
        if isinstance(value, View):
            return value
        target = self.temporary(stem, value.dtype, value.shape)
        if isinstance(value, Pending):
            self.reduce_into(target, value, fresh=True)
        else:
            self.copy_into(target, value)
        return target

    def copy_into(self, target: View, value: ArrayValue) -> None:
        """Every element of a view from an array expression that does not read it out of order."""
        with ExitStack() as loops:
            indices = self.open_target(loops, target)
            self.assign_element(target.array, target.at(indices), value.element(stretched(indices, value.shape)))

    def open_target(self, loops: ExitStack, target: View) -> Indices:
        """Open loops over a view: over the array's own subscripts where the view steps by one."""
        indices: list[Value] = []
        for d, extent in enumerate(target.shape):
            own = next((s for s in target.subscripts if s.dimension == d), None)
            name = ITERATORS[d % len(ITERATORS)]
            if is_one(extent):
                indices.append(ZERO)
            elif own is not None and own.step == 1:
                stop = values.arithmetic("+", own.start, extent)
                at = loops.enter_context(self.loop(name, own.start, self.region.simplified(stop)))
                indices.append(values.arithmetic("-", at, own.start))
            else:
                indices.append(loops.enter_context(self.loop(name, ZERO, extent)))
        return tuple(indices)

    def reduce_into(self, target: View, value: Pending, *, fresh: bool) -> None:
        """Compute a reduction in the elements of a view; without `fresh` it adds to what is there."""
        best = None
        if value.kind in ("argmax", "argmin"):
            operand_dtype = value.element(tuple(ZERO for _ in value.shape), tuple(ZERO for _ in value.extents)).dtype
            best = self.temporary(f"{target.array}_best", operand_dtype, value.shape)
        kind = value.kind.removeprefix("arg")
        with ExitStack() as loops:
            outer = self.open_target(loops, target)
            element = target.at(outer)
            if best is not None:
                first = Assign(target=self.region.touch(target.array, element), value=values.number(0).expr,
                               dtype=target.dtype)
                self.emit(first, reductions.initialisation(self.region, kind, best.array, best.at(outer)))
            elif fresh:
                self.emit(reductions.initialisation(self.region, kind, target.array, element))
            with ExitStack() as inner:
                place = self.open_all(inner, value.extents, first=len(target.shape))
                operand = value.element(stretched(outer, value.shape), place)
                if best is not None:
                    self.emit(*reductions.best_so_far(
                        self.region, kind, (target.array, element), (best.array, best.at(outer)), operand,
                        _position(place, value.extents), propagate_nan=True))
                    return
                self.emit(reductions.update(self.region, kind, target.array, element,
                                            values.cast(operand, target.dtype), propagate_nan=True))

    def store(self, target: View, value: Value | View | ArrayValue | Pending, *, stem: str = "tmp") -> None:
        """`target[...] = value` with NumPy's meaning: the right side is evaluated before anything is written."""
        if isinstance(value, Pending):
            direct = (value.dtype == target.dtype and target.array not in value.sources
                      and self.fits(target, value.shape, exactly=True))
            if direct:
                self.reduce_into(target, value, fresh=True)
                return
            value = self.materialised(value, stem)
        source = self._as_array(value)
        self.fits(target, source.shape)
        if target.array in source.sources and self.overtakes(target, source):
            source = elements_of(self.region, self.materialised(source, stem))
        self.copy_into(target, source)

    def _as_array(self, value: Value | View | ArrayValue) -> ArrayValue:
        if isinstance(value, Value):
            return ArrayValue((), value.dtype, lambda indices: value, sources_of(self.region, value))
        return elements_of(self.region, value) if isinstance(value, View) else value

    def fits(self, target: View, shape: Indices, *, exactly: bool = False) -> bool:
        """Require that a value of this shape can be assigned to a view; False when only by broadcasting."""
        extra = len(shape) - len(target.shape)
        if shape and not target.shape:
            raise CannotExpress("an array is assigned to an element")   # NumPy refuses it, too
        if extra > 0 and not all(is_one(e) for e in shape[:extra]):
            raise CannotExpress(f"a value of {len(shape)} dimensions does not fit into one of {len(target.shape)}")
        own = shape[max(extra, 0):]
        for extent, wanted in zip(own, target.shape[len(target.shape) - len(own):], strict=True):
            if is_one(extent):
                if exactly and not is_one(wanted):
                    return False
            elif not same_extent(self.region, wanted, extent):
                raise CannotExpress("the shapes of the two sides differ")
        return len(own) == len(target.shape) or not exactly

    def overtakes(self, target: View, source: ArrayValue) -> bool:
        """Whether some element of the source is read after the loop nest has already written it."""
        with ExitStack() as loops:
            depth = len(self.region.loops)
            indices = self.open_target(loops, target)
            symbols = [loop.symbol for loop in self.region.loops[depth:]]
            value = source.element(stretched(indices, source.shape))
            reads = [t for t in self.region.touches_of(value.expr) if t.array == target.array]
            domain = self.region.domain.intersect(self.region.context)
            write = Touch(target.array, tuple(
                s if s.affine is None else self.region.simplified(s) for s in target.at(indices)), domain)
            written = _relation(write, symbols, domain)
            for read in reads:
                meets = written.apply_range(_relation(read, symbols, domain).reverse())
                later = isl.Map.lex_lt(meets.get_space().domain())
                if not meets.intersect(later).is_empty():
                    return True
        return False


def _relation(touch: Touch, symbols: list[str], domain: isl.Set) -> isl.Map:
    """`{ [i, j] -> A[...] }` from the iterations of some open loops to the element that they reach."""
    elements = element_set(touch.array, [s.affine for s in touch.subscripts])
    elements = elements.intersect_params(touch.domain).intersect_params(domain)
    relation = isl.Map.from_domain_and_range(isl.Set("{ [] }"), elements)
    for depth, symbol in enumerate(symbols):
        if relation.find_dim_by_name(isl.dim_type.param, symbol) < 0:
            relation = relation.align_params(isl.Set(f"[{symbol}] -> {{ : }}").get_space())
        position = relation.find_dim_by_name(isl.dim_type.param, symbol)
        relation = relation.move_dims(isl.dim_type.in_, depth, isl.dim_type.param, position, 1)
    return relation


def _position(place: Indices, extents: Indices) -> Value:
    result = place[0]
    for index, extent in zip(place[1:], extents[1:], strict=True):
        result = values.arithmetic("+", values.arithmetic("*", result, extent), index)
    return result
