"""Terms: stages of tensor expressions as values that are compared by structure and changed in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polysched.scop.expression import compute
from polysched.scop.expression.evaluation import type_of
from polysched.scop.expression.tensors import (
    Axis,
    Conditional,
    Constant,
    Convert,
    Definition,
    Expression,
    Function,
    Operation,
    Read,
    Reduction,
    Symbol,
    Tensor,
    rebuilt,
    walk,
)


def stages(output: Tensor) -> tuple[Tensor, ...]:
    """The stages that an output needs, each behind what it reads; the output is the last."""
    found: dict[Tensor, None] = {}

    def visit(tensor: Tensor) -> None:
        if tensor in found or tensor.definition is None:
            return
        for node in _nodes(tensor):
            if isinstance(node, Read):
                visit(node.tensor)
        found[tensor] = None

    visit(output)
    return tuple(found)


def inputs(output: Tensor) -> tuple[Tensor, ...]:
    """The tensors without a definition that an output needs, in order of use."""
    found: dict[Tensor, None] = {}
    for stage in stages(output):
        found.update((node.tensor, None) for node in _nodes(stage)
                     if isinstance(node, Read) and node.tensor.definition is None)
    return tuple(found)


def with_stage(output: Tensor, old: Tensor, new: Tensor) -> Tensor:
    """The output with one stage computed in another way; whoever reads it reads the new one."""
    made: dict[Tensor, Tensor] = {old: new}
    for stage in stages(output):
        if stage in made:
            continue
        assert stage.definition is not None
        value = reading(stage.definition.value, made)
        made[stage] = stage if value is stage.definition.value else Tensor(
            stage.name, stage.shape, stage.dtype, Definition(stage.definition.axes, value))
    return made[output]


def reading(value: Expression, instead: Mapping[Tensor, Tensor]) -> Expression:
    """An expression that reads other tensors instead of some; itself where it reads none of them."""
    if not any(isinstance(n, Read) and instead.get(n.tensor, n.tensor) is not n.tensor for n in walk(value)):
        return value
    return rebuilt(value, lambda n: Read(instead.get(n.tensor, n.tensor), n.indices) if isinstance(n, Read) else n)


def substituted(value: Expression, instead: Mapping[Axis, Expression]) -> Expression:
    """An expression with other indices; axes that a reduction in it binds keep theirs."""
    def change(node: Expression) -> Expression:
        return instead.get(node, node) if isinstance(node, Axis) else node

    return rebuilt(value, change)


def stage_over(name: str, axes: Sequence[Axis], value: Expression) -> Tensor:
    """A stage whose elements are a value over axes, each of which gets one of its own of the same extent."""
    return compute([extent_of(axis) for axis in axes],
                   lambda *own: substituted(value, dict(zip(axes, own, strict=True))), name=name)


def extent_of(axis: Axis) -> Expression:
    """The extent of an axis that counts from 0."""
    assert axis.stop is not None
    assert axis.is_plain()
    return axis.stop


def constant_extent(axis: Axis) -> int | None:
    """The extent where it is a number."""
    return axis.stop.value if axis.is_plain() and isinstance(axis.stop, Constant) and isinstance(
        axis.stop.value, int) else None


def axes_in(value: Expression) -> frozenset[Axis]:
    """The axes that an expression mentions."""
    return frozenset(node for node in walk(value) if isinstance(node, Axis))


def factors(value: Expression) -> tuple[Expression, ...]:
    """The operands of a product of products, from left to right; the value alone where it is none."""
    if isinstance(value, Operation) and value.op == "*":
        return tuple(f for argument in value.arguments for f in factors(argument))
    return (value,)


def product(values: Sequence[Expression]) -> Expression:
    """The product from left to right."""
    result = values[0]
    for value in values[1:]:
        result = result * value
    return result


def of_one_type(values: Sequence[Expression]) -> bool:
    """Whether all values have one element type, so that products and sums of them convert nothing."""
    return len({type_of(value) for value in values}) == 1


def plain_sum(stage: Tensor) -> Reduction | None:
    """The reduction of a stage that is a sum over axes that count from 0, in the type of its addends."""
    value = stage.definition.value if stage.definition is not None else None
    if not isinstance(value, Reduction) or value.kind != "sum" or not all(
            a.is_plain() and a.stop is not None and not axes_in(a.stop) for a in value.axes):
        return None
    return value if value.dtype in (None, type_of(value.operand)) and stage.dtype == type_of(value.operand) else None


def key(output: Tensor) -> str:
    """The term as a text, the same for terms of equal structure whatever their stages and axes are called."""
    numbers: dict[Tensor, str] = {}
    lines = []
    for stage in stages(output):
        assert stage.definition is not None
        names = {axis: f"i{k}" for k, axis in enumerate(stage.definition.axes)}
        shape = ", ".join(_text(e, names, numbers) for e in stage.shape)
        lines.append(f"[{shape}] {stage.dtype.name} {_text(stage.definition.value, names, numbers)}")
        numbers[stage] = f"t{len(numbers)}"
    return "\n".join(lines)


def _text(value: Expression, names: dict[Axis, str], numbers: Mapping[Tensor, str]) -> str:
    def below(node: Expression) -> str:
        return _text(node, names, numbers)

    match value:
        case Constant():
            return repr(value.value)
        case Symbol():
            return value.name
        case Axis():
            return names[value]
        case Read():
            return f"{numbers.get(value.tensor, value.tensor.name)}[{', '.join(map(below, value.indices))}]"
        case Convert():
            return f"{value.dtype.name}({below(value.operand)})"
        case Operation() | Function():
            name = value.op if isinstance(value, Operation) else value.name
            return f"({name} {' '.join(map(below, value.arguments))})"
        case Conditional():
            return f"(if {' '.join(map(below, value.operands()))})"
        case Reduction():
            for axis in value.axes:
                names[axis] = f"r{len(names)}"
            bounds = "; ".join(",".join([*map(below, axis.bounds()), str(axis.step)]) for axis in value.axes)
            return f"({value.kind} {value.dtype and value.dtype.name} {bounds}: {below(value.operand)})"
    raise TypeError(type(value).__name__)


def _nodes(stage: Tensor) -> Iterator[Expression]:
    assert stage.definition is not None
    yield from walk(stage.definition.value)
