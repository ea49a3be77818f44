"""`build`: from the stages of a tensor expression to a Scop.

Every stage is a loop nest in the order of its axes; a reduction initialises its element and then
updates it over the reduction's axes, innermost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field

import islpy as isl

from polysched.errors import UnsupportedScopError, UsageError
from polysched.records import dataclass
from polysched.scop.body import Assign
from polysched.scop.construction import reductions, values
from polysched.scop.construction.promotion import computation_type
from polysched.scop.construction.quotients import with_bounded_quotient
from polysched.scop.construction.region import OutOfBounds, Region
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import promote
from polysched.scop.expression.evaluation import Scope, evaluate, type_of
from polysched.scop.expression.tensors import (
    NAN_WINS,
    Axis,
    Expression,
    Read,
    Reduction,
    Symbol,
    Tensor,
    walk,
)
from polysched.scop.expression.updates import Loop, Step, Update, When, combined, expressions_of, targets_of
from polysched.scop.scop import Scop, Storage


def build(outputs: Tensor | Step | Sequence[Tensor | Step], *, name: str | None = None,
          arguments: Sequence[Tensor] | None = None) -> Scop:
    """The Scop that computes tensors: one loop nest per stage, inputs and outputs as arguments.

    Parameters
    ----------
    outputs : the results, and updates in place, in the order in which they happen; a stage that they need and that
        is not listed is computed before its first use.
    name : the Scop's name; that of the last output by default.
    arguments : inputs and outputs in the order wanted; by default inputs in order of use, then outputs.

    Raises
    ------
    UsageError : an output is an input, or `arguments` leaves one out.
    UnsupportedScopError : a subscript is not affine, or outside its tensor for all sizes but empty ones.
    """
    items = (outputs,) if isinstance(outputs, (Tensor, Update, Loop, When)) else tuple(outputs)
    order = _in_order(items)
    results = [item for item in items if isinstance(item, Tensor)]
    changed = {t for item in items if not isinstance(item, Tensor) for t in targets_of(item)}
    inputs = [t for t in order if isinstance(t, Tensor) and t.definition is None and not t.temporary]
    maker = _Lowering(Region(name or _last_name(items)), changed=frozenset(changed))
    maker.declare_sizes(list(order))
    for tensor in _argument_order([*inputs, *results], arguments):
        maker.declare(tensor, Storage.ARGUMENT)
    for item in order:
        if not isinstance(item, Tensor):
            maker.step_at_top(item)
        elif item.definition is not None:
            maker.stage(item)
        elif item.temporary:
            maker.declare(item, Storage.LOCAL)
    scop = maker.region.finish()
    _refuse_empty(scop)
    return scop


def _in_order(items: Sequence[Tensor | Step]) -> dict[Tensor | Step, None]:
    """The inputs, stages and updates that results need, each behind what it needs.

    Raises
    ------
    UsageError : a result is an input.
    """
    order: dict[Tensor | Step, None] = {}
    for item in items:
        if isinstance(item, Tensor) and item.definition is None:
            raise UsageError(f"{item.name} is an input, not the result of a stage")
        _visit(item, order)
    return order


def _last_name(items: Sequence[Tensor | Step]) -> str:
    """The name of the last result, or of the tensor that is updated last."""
    if not items:
        raise UsageError("there is nothing to build", hint="give stages, or updates under loops")
    last = items[-1]
    return last.name if isinstance(last, Tensor) else list(targets_of(last))[-1].name


def _refuse_empty(scop: Scop) -> None:
    """A program for which only empty sizes are left has a subscript outside its tensor."""
    if any(not s.domain.intersect_params(scop.context).is_empty() for s in scop.statements):
        return
    reasons = [a.text for a in scop.assumptions if a.kind == "in-bounds"]
    raise UnsupportedScopError("no size is left for which anything is computed", where=scop.name,
                               witness="; ".join(reasons) or None,
                               hint="a subscript leaves its tensor for every size but zero; "
                                    "make the output smaller, or pad with where(condition, value, 0)")


def _visit(item: Tensor | Step, order: dict[Tensor | Step, None]) -> None:
    """Put a tensor or a step behind everything that it reads."""
    if item in order:
        return
    for node in _everything_in(item):
        if isinstance(node, Read):
            _visit(node.tensor, order)
    order[item] = None


def _everything_in(item: Tensor | Step) -> list[Expression]:
    """All expressions of a stage's value, or of a step."""
    if isinstance(item, Tensor):
        return [] if item.definition is None else _everything(item.definition.value)
    return [node for root in expressions_of(item) for node in _everything(root)]


def _everything(value: Expression) -> list[Expression]:
    """All nodes of a value, those in the bounds of its axes included."""
    nodes = list(walk(value))
    for node in list(nodes):
        if isinstance(node, Reduction):
            nodes += [n for a in node.axes for bound in a.bounds() for n in walk(bound)]
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
    changed: frozenset[Tensor] = frozenset()
    names: dict[Tensor, str] = field(default_factory=dict)
    axes: dict[Axis, Value] = field(default_factory=dict)
    current: str = ""

    def declare_sizes(self, items: list[Tensor | Step]) -> None:
        """Make every symbol of every shape and value a parameter, in order of appearance."""
        for item in items:
            shape = item.shape if isinstance(item, Tensor) else ()
            for node in [n for extent in shape for n in walk(extent)] + _everything_in(item):
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
        constant = tensor.definition is None and tensor not in self.changed and not tensor.temporary
        pointed = storage is Storage.ARGUMENT and not extents and not constant
        self.region.declare(name, tensor.dtype, extents, storage=storage, constant=constant,
                            c_element=f"(*{name})" if pointed else None)
        self.names[tensor] = name

    def stage(self, tensor: Tensor) -> None:
        """Add the loop nest of one stage."""
        assert tensor.definition is not None
        if tensor not in self.names:
            self.declare(tensor, Storage.LOCAL)
        self.current = tensor.name
        with self.refusals("stage"), ExitStack() as loops:
            element = tuple(self.open(loops, axis) for axis in tensor.definition.axes)
            value = tensor.definition.value
            if isinstance(value, Reduction):
                self.reduction(tensor, value, element)
            else:
                self.region.assign(self.names[tensor], element, values.cast(self.value(value), tensor.dtype).expr)

    def step_at_top(self, step: Step) -> None:
        """Add a step that stands under no loop."""
        with self.refusals("update of"):
            self.step(step)

    def step(self, step: Step) -> None:
        """Add a step and the steps inside it."""
        match step:
            case Update():
                self.update(step)
            case Loop():
                with ExitStack() as loops:
                    self.open(loops, step.axis)
                    for inner in step.body:
                        self.step(inner)
            case When():
                self.when(step)

    def update(self, step: Update) -> None:
        """Add the statement of one update."""
        tensor = step.target.tensor
        self.current = tensor.name
        element = self.subscripts(step.target, tuple(self.value(i) for i in step.target.indices))
        if not self.region.is_reached():
            return
        if isinstance(step.value, Reduction):
            if type_of(step.value) != tensor.dtype:
                raise CannotExpress(f"a reduction of {type_of(step.value)} updates {tensor.name} of {tensor.dtype}",
                                    "reduce into a temporary of its type first")
            self.reduction(tensor, step.value, element)
            return
        array, value = self.names[tensor], self.value(step.value)
        common = computation_type(tensor.dtype, step.op) if step.op else tensor.dtype
        if step.op and promote(tensor.dtype) == common and type_of(combined(step)) == tensor.dtype:
            self.region.assign(array, element, values.cast(value, tensor.dtype).expr, op=step.op)
            return
        self.region.assign(array, element, values.cast(self.value(combined(step)), tensor.dtype).expr)

    def when(self, step: When) -> None:
        """Add steps under a condition and its opposite."""
        condition = values.truth(self.value(step.condition)).condition
        if condition is None:
            raise CannotExpress("a condition on steps depends on data", "put it into the value: where(condition, a, b)")
        for side, steps in ((condition, step.body), (condition.complement(), step.otherwise)):
            with self.region.guard(side):
                for inner in steps:
                    self.step(inner)

    @contextmanager
    def refusals(self, what: str) -> Iterator[None]:
        """What cannot be expressed is refused with the name of the stage."""
        try:
            yield
        except OutOfBounds as problem:
            raise UnsupportedScopError(f"{problem} for all sizes", where=f"{what} {self.current}",
                                       witness=problem.witness,
                                       hint="pad by a condition: where(inside, A[...], 0)") from None
        except CannotExpress as problem:
            raise UnsupportedScopError(problem.problem, where=f"{what} {self.current}", hint=problem.hint) from None

    def open(self, loops: ExitStack, axis: Axis) -> Value:
        """Open the loop of an axis."""
        assert axis.stop is not None
        start = values.number(0) if axis.start is None else self.affine(axis.start, f"the start of {axis.name}")
        stop = self.affine(axis.stop, f"the {'extent' if axis.is_plain() else 'stop'} of {axis.name}")
        if axis in self.axes:
            raise UsageError(f"the loop over {axis.name} stands inside another loop over the same axis",
                             hint="make an axis for each loop")
        self.axes[axis] = loops.enter_context(self.region.loop(axis.name, start, stop, axis.step))
        loops.callback(self.axes.pop, axis)
        return self.axes[axis]

    def index(self, axis: Axis) -> Value:
        """The value of an axis whose loop is open."""
        if axis not in self.axes:
            raise UsageError(f"the axis {axis.name} is used in {self.current} outside a loop over it",
                             hint=f"loop({axis.name}, update(...))")
        return self.axes[axis]

    def value(self, expression: Expression) -> Value:
        """The value of an expression under the open loops."""
        return evaluate(expression, Scope(axis=self.index, symbol=self.region.parameter, read=self.read,
                                          guard=self.region.guard, quotient=self.quotient))

    def quotient(self, op: str, result: Value, left: Value, right: Value) -> Value:
        """A quotient or remainder by a size, as it is under the open loops."""
        return with_bounded_quotient(self.region, result, left, right, remainder=op == "%")

    def affine(self, expression: Expression, what: str) -> Value:
        """The value of an expression that must be affine."""
        value = self.value(expression)
        if value.affine is None:
            raise UnsupportedScopError(f"{what} is not affine", where=f"stage {self.current}",
                                       hint="only sums of indices and symbols times constants, // and % by constants")
        return value

    def read(self, read: Read, indices: tuple[Value, ...]) -> Value:
        """One element of an earlier tensor."""
        subscripts = self.subscripts(read, indices)
        if not self.region.is_reached():
            return Value(values.converted(values.number(0), read.tensor.dtype), read.tensor.dtype)
        return self.region.load(self.names[read.tensor], subscripts)

    def subscripts(self, read: Read, indices: tuple[Value, ...]) -> tuple[Value, ...]:
        """The subscripts of an element, all affine."""
        for dimension, index in enumerate(indices):
            if index.affine is None:
                raise UnsupportedScopError(
                    f"subscript {dimension} of {read.tensor.name} is not affine", where=f"stage {self.current}",
                    hint="only sums of indices and symbols times constants, // and % by constants")
        return indices

    def reduction(self, tensor: Tensor, value: Reduction, element: tuple[Value, ...]) -> None:
        """Initialise one element, then update it over the reduction's axes."""
        if value.kind.startswith("arg"):
            self.position(tensor, value, element)
            return
        array, kind = self.names[tensor], NAN_WINS.get(value.kind, value.kind)
        self.region.add((reductions.initialisation(self.region, kind, array, element),))
        with ExitStack() as loops:
            for axis in value.axes:
                self.open(loops, axis)
            operand = values.cast(self.value(value.operand), tensor.dtype)
            self.region.add((reductions.update(self.region, kind, array, element, operand,
                                               propagate_nan=value.kind in NAN_WINS),))

    def position(self, tensor: Tensor, value: Reduction, element: tuple[Value, ...]) -> None:
        """Position and value of the best element go together: one statement updates both."""
        kind, array = NAN_WINS.get(value.kind, value.kind).removeprefix("arg"), self.names[tensor]
        dtype = type_of(value.operand)
        best = self.region.fresh(f"{array}_best")
        self.region.declare(best, dtype, [self.affine(e, "an extent") for e in tensor.shape], storage=Storage.LOCAL)
        first = Assign(target=self.region.touch(array, element), value=values.number(0).expr, dtype=tensor.dtype)
        self.region.add((first, reductions.initialisation(self.region, kind, best, element)))
        if not all(axis.is_plain() for axis in value.axes):
            raise CannotExpress(f"{value.kind} over an axis that does not count from 0 in steps of 1",
                                "reduce over range(extent) and subscript with a sum")
        with ExitStack() as loops:
            place = self.open(loops, value.axes[0])
            for axis in value.axes[1:]:
                index = self.open(loops, axis)
                assert axis.stop is not None
                place = values.arithmetic("+", values.arithmetic("*", place, self.value(axis.stop)), index)
            operand = values.cast(self.value(value.operand), dtype)
            self.region.add(reductions.best_so_far(
                self.region, kind, (array, element), (best, element), operand, place,
                propagate_nan=value.kind in NAN_WINS))
