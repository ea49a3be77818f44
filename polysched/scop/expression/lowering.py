"""`build`: from the stages of a tensor expression to a Scop.

Every stage is a loop nest in the order of its axes; a reduction initialises its element and then
updates it over the reduction's axes, innermost.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import islpy as isl

from polysched.errors import UnsupportedScopError, UsageError
from polysched.scop.body import Assign
from polysched.scop.construction import reductions, values
from polysched.scop.construction.region import OutOfBounds, Region
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.expression.evaluation import Scope, evaluate, type_of
from polysched.scop.expression.tensors import Axis, Expression, Read, Reduction, Symbol, Tensor, walk
from polysched.scop.scop import Scop, Storage


def build(outputs: Tensor | Sequence[Tensor], *, name: str | None = None,
          arguments: Sequence[Tensor] | None = None) -> Scop:
    """The Scop that computes tensors: one loop nest per stage, inputs and outputs as arguments.

    Parameters
    ----------
    outputs : the results; every stage that they need is computed, in dependence order.
    name : the Scop's name; that of the last output by default.
    arguments : inputs and outputs in the order wanted; by default inputs in order of use, then outputs.

    Raises
    ------
    UsageError : an output is an input, or `arguments` leaves one out.
    UnsupportedScopError : a subscript is not affine, or outside its tensor for all sizes but empty ones.
    """
    results = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    order: dict[Tensor, None] = {}
    for result in results:
        if result.definition is None:
            raise UsageError(f"{result.name} is an input, not the result of a stage")
        _visit(result, order)
    inputs = [t for t in order if t.definition is None]
    maker = _Lowering(Region(name or results[-1].name))
    maker.declare_sizes(order)
    for tensor in _argument_order([*inputs, *results], arguments):
        maker.declare(tensor, Storage.ARGUMENT)
    for tensor in order:
        if tensor.definition is not None:
            maker.stage(tensor)
    scop = maker.region.finish()
    _refuse_empty(scop)
    return scop


def _refuse_empty(scop: Scop) -> None:
    """A program for which only empty sizes are left has a subscript outside its tensor."""
    if any(not s.domain.intersect_params(scop.context).is_empty() for s in scop.statements):
        return
    reasons = [a.text for a in scop.assumptions if a.kind == "in-bounds"]
    raise UnsupportedScopError("no size is left for which anything is computed", where=scop.name,
                               witness="; ".join(reasons) or None,
                               hint="a subscript leaves its tensor for every size but zero; "
                                    "make the output smaller, or pad with where(condition, value, 0)")


def _visit(tensor: Tensor, order: dict[Tensor, None]) -> None:
    """Put a tensor behind everything that it reads."""
    if tensor in order:
        return
    if tensor.definition is not None:
        for node in _everything(tensor.definition.value):
            if isinstance(node, Read):
                _visit(node.tensor, order)
    order[tensor] = None


def _everything(value: Expression) -> list[Expression]:
    """All nodes of a value, those in the extents of its axes included."""
    nodes = list(walk(value))
    for node in list(nodes):
        if isinstance(node, Reduction):
            nodes += [n for a in node.axes if a.extent is not None for n in walk(a.extent)]
    return nodes


def _argument_order(found: list[Tensor], wanted: Sequence[Tensor] | None) -> list[Tensor]:
    if wanted is None:
        return list(dict.fromkeys(found))
    missing = [t.name for t in found if t not in wanted]
    if missing:
        raise UsageError(f"the arguments leave out {', '.join(missing)}")
    return list(wanted)


@dataclass(eq=False)
class _Lowering:
    """Adds stages to a Region; knows the array behind each tensor."""

    region: Region
    names: dict[Tensor, str] = field(default_factory=dict)
    axes: dict[Axis, Value] = field(default_factory=dict)
    current: str = ""

    def declare_sizes(self, tensors: dict[Tensor, None]) -> None:
        """Make every symbol of every shape and value a parameter, in order of appearance."""
        for tensor in tensors:
            value = [] if tensor.definition is None else _everything(tensor.definition.value)
            for node in [n for extent in tensor.shape for n in walk(extent)] + value:
                if isinstance(node, Symbol):
                    self.region.parameter(node.name, at_least=0)

    def declare(self, tensor: Tensor, storage: Storage) -> None:
        """Give a tensor an array of its own."""
        self.current = tensor.name
        extents = [self.affine(e, f"an extent of {tensor.name}") for e in tensor.shape]
        for extent in extents:
            assert extent.affine is not None
            self.region.assume(extent.affine.ge_set(isl.PwAff("{ [(0)] }")),
                               text=f"no extent of {tensor.name} is negative")
        name = self.region.fresh(tensor.name)
        self.region.declare(name, tensor.dtype, extents, storage=storage, constant=tensor.definition is None)
        self.names[tensor] = name

    def stage(self, tensor: Tensor) -> None:
        """Add the loop nest of one stage."""
        assert tensor.definition is not None
        if tensor not in self.names:
            self.declare(tensor, Storage.LOCAL)
        self.current = tensor.name
        try:
            with ExitStack() as loops:
                element = tuple(self.open(loops, axis) for axis in tensor.definition.axes)
                value = tensor.definition.value
                if isinstance(value, Reduction):
                    self.reduction(tensor, value, element)
                else:
                    self.region.assign(self.names[tensor], element, values.cast(self.value(value), tensor.dtype).expr)
        except OutOfBounds as problem:
            raise UnsupportedScopError(f"{problem} for all sizes", where=f"stage {self.current}",
                                       witness=problem.witness,
                                       hint="pad by a condition: where(inside, A[...], 0)") from None
        except CannotExpress as problem:
            raise UnsupportedScopError(problem.problem, where=f"stage {self.current}", hint=problem.hint) from None

    def open(self, loops: ExitStack, axis: Axis) -> Value:
        """Open the loop of an axis."""
        assert axis.extent is not None
        extent = self.affine(axis.extent, f"the extent of {axis.name}")
        self.axes[axis] = loops.enter_context(self.region.loop(axis.name, values.number(0), extent))
        return self.axes[axis]

    def value(self, expression: Expression) -> Value:
        """The value of an expression under the open loops."""
        return evaluate(expression, Scope(axis=self.axes.__getitem__, symbol=self.region.parameter, read=self.read,
                                          guard=self.region.guard))

    def affine(self, expression: Expression, what: str) -> Value:
        """The value of an expression that must be affine."""
        value = self.value(expression)
        if value.affine is None:
            raise UnsupportedScopError(f"{what} is not affine", where=f"stage {self.current}",
                                       hint="only sums of indices and symbols times constants, // and % by constants")
        return value

    def read(self, read: Read, indices: tuple[Value, ...]) -> Value:
        """One element of an earlier tensor."""
        for dimension, index in enumerate(indices):
            if index.affine is None:
                raise UnsupportedScopError(
                    f"subscript {dimension} of {read.tensor.name} is not affine", where=f"stage {self.current}",
                    hint="only sums of indices and symbols times constants, // and % by constants")
        if not self.region.is_reached():
            return Value(values.converted(values.number(0), read.tensor.dtype), read.tensor.dtype)
        return self.region.load(self.names[read.tensor], indices)

    def reduction(self, tensor: Tensor, value: Reduction, element: tuple[Value, ...]) -> None:
        """Initialise one element, then update it over the reduction's axes."""
        if value.kind in ("argmax", "argmin"):
            self.position(tensor, value, element)
            return
        array = self.names[tensor]
        self.region.add((reductions.initialisation(self.region, value.kind, array, element),))
        with ExitStack() as loops:
            for axis in value.axes:
                self.open(loops, axis)
            operand = values.cast(self.value(value.operand), tensor.dtype)
            self.region.add((reductions.update(self.region, value.kind, array, element, operand),))

    def position(self, tensor: Tensor, value: Reduction, element: tuple[Value, ...]) -> None:
        """Position and value of the best element go together: one statement updates both."""
        kind, array = value.kind.removeprefix("arg"), self.names[tensor]
        dtype = type_of(value.operand)
        best = self.region.fresh(f"{array}_best")
        self.region.declare(best, dtype, [self.affine(e, "an extent") for e in tensor.shape], storage=Storage.LOCAL)
        first = Assign(target=self.region.touch(array, element), value=values.number(0).expr, dtype=tensor.dtype)
        self.region.add((first, reductions.initialisation(self.region, kind, best, element)))
        with ExitStack() as loops:
            place = self.open(loops, value.axes[0])
            for axis in value.axes[1:]:
                index = self.open(loops, axis)
                assert axis.extent is not None
                place = values.arithmetic("+", values.arithmetic("*", place, self.value(axis.extent)), index)
            operand = values.cast(self.value(value.operand), dtype)
            self.region.add(reductions.best_so_far(
                self.region, kind, (array, element), (best, element), operand, place))
