"""Graphs by hand: values that are combined like arrays, with the operators of TVM's inventory as methods.

    g = GraphBuilder("mlp")
    x = g.input("x", "float32", ("N", 4))
    y = g.relu(g.dense(x, g.constant(w)) + 0.5)
    graph = g.graph(y=y)

Types are inferred while the graph is built: an operand that does not fit is refused in the line that gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from polysched.errors import UsageError
from polysched.graph.evaluation.given import given_array
from polysched.graph.evaluation.inference import Inference
from polysched.graph.inventory import INVENTORY
from polysched.graph.values.element_types import ELEMENT_TYPES
from polysched.graph.values.graph import Attribute, Graph, Node
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass

Number: TypeAlias = "int | float | bool"
Operand: TypeAlias = "Value | Number | np.ndarray"


@dataclass(frozen=True, eq=False, repr=False)
class Value:
    """A value of a graph that is built; Python's operators combine it with values, arrays and numbers.

    A number takes the element type of the value that it meets.
    """

    builder: GraphBuilder
    name: str

    @property
    def type(self) -> TensorType:
        """Element type and shape."""
        return self.builder.inference.types[self.name]

    def _with(self, op: str, other: Operand, turned: bool = False) -> Value:
        right = self.builder.operand(other, self)
        return self.builder.op(op, right, self) if turned else self.builder.op(op, self, right)

    def __add__(self, other: Operand) -> Value:
        return self._with("Add", other)

    def __radd__(self, other: Operand) -> Value:
        return self._with("Add", other, turned=True)

    def __sub__(self, other: Operand) -> Value:
        return self._with("Sub", other)

    def __rsub__(self, other: Operand) -> Value:
        return self._with("Sub", other, turned=True)

    def __mul__(self, other: Operand) -> Value:
        return self._with("Mul", other)

    def __rmul__(self, other: Operand) -> Value:
        return self._with("Mul", other, turned=True)

    def __truediv__(self, other: Operand) -> Value:
        return self._with("Div", other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._with("Div", other, turned=True)

    def __floordiv__(self, other: Operand) -> Value:
        return self._with("FloorDiv", other)

    def __mod__(self, other: Operand) -> Value:
        return self._with("Mod", other)

    def __pow__(self, other: Operand) -> Value:
        return self._with("Pow", other)

    def __matmul__(self, other: Operand) -> Value:
        return self._with("MatMul", other)

    def __neg__(self) -> Value:
        return self.builder.op("Neg", self)

    def __lt__(self, other: Value | Number) -> Value:
        return self._with("Less", other)

    def __le__(self, other: Value | Number) -> Value:
        return self._with("LessOrEqual", other)

    def __gt__(self, other: Value | Number) -> Value:
        return self._with("Greater", other)

    def __ge__(self, other: Value | Number) -> Value:
        return self._with("GreaterOrEqual", other)

    def reshape(self, *shape: int) -> Value:
        """The same elements in another shape; -1 for one extent that follows."""
        return self.builder.op("Reshape", self, self.builder.whole(shape))

    def transpose(self, *order: int) -> Value:
        """The dimensions in another order; reversed where none is given."""
        return self.builder.op("Transpose", self, **({"perm": order} if order else {}))

    def __bool__(self) -> bool:
        raise UsageError("a value has no truth value while the graph is built", where=self.name,
                         hint="use g.op(\"Where\", condition, a, b)")

    def __repr__(self) -> str:
        return f"<Value {self.name}: {self.type}>"


class GraphBuilder:
    """Collects inputs, constants and nodes; every name of `INVENTORY` is a method.

    Parameters
    ----------
    name : of the graph.
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self.inputs: list[tuple[str, TensorType]] = []
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}
        self.inference = Inference(Graph(name=name, inputs=(), nodes=(), outputs=()))

    def _fresh(self, stem: str) -> str:
        number = len(self.inference.types)
        while f"{stem}_{number}" in self.inference.types:
            number += 1
        return f"{stem}_{number}"

    def input(self, name: str, dtype: str, shape: Sequence[int | str | Size]) -> Value:
        """A value that is given; a string in its shape is a symbol.

        Raises
        ------
        UsageError : the name is taken, there is no such element type, or the arguments are in another order.
        """
        if not isinstance(name, str) or not isinstance(dtype, str) or isinstance(shape, str) or not (
                isinstance(shape, Sequence) and all(isinstance(e, Integral | str | Size) for e in shape)):
            raise UsageError("an input is given by its name, its element type and its shape",
                             witness=f"input({name!r}, {dtype!r}, {shape!r})"[:200],
                             hint='g.input("x", "float32", ("N", 4))')
        if dtype not in ELEMENT_TYPES:
            raise UsageError(f"no element type {dtype}", where=name, hint=f"one of {', '.join(ELEMENT_TYPES)}")
        if name in self.inference.types:
            raise UsageError(f"the name {name!r} is taken", hint="give each value a name of its own")
        own = TensorType.of(ELEMENT_TYPES[dtype], [Size.symbol(e) if isinstance(e, str) else e for e in shape])
        self.inputs.append((name, own))
        self.inference.types[name] = own
        return Value(self, name)

    def constant(self, array: np.ndarray | np.generic | Number | Sequence[Any], name: str = "") -> Value:
        """A constant; it is not to be changed afterwards."""
        own = name or self._fresh("c")
        if own in self.inference.types:
            raise UsageError(f"the name {own!r} is taken", hint="give each value a name of its own")
        self.constants[own] = given_array(own, array)
        self.inference.bind(own, self.constants[own])
        return Value(self, own)

    def whole(self, numbers: Sequence[int]) -> Value:
        """A constant of int64, as shapes and axes are."""
        return self.constant(np.array(numbers, np.int64))

    def number(self, number: Number, like: Value) -> Value:
        """A scalar of the element type of a value."""
        return self.constant(np.array(number, like.type.numpy))

    def operand(self, other: Operand, like: Value) -> Value:
        """A value as it is, an array as a constant, a number in the element type of another value."""
        if isinstance(other, Value):
            return other
        return self.constant(other) if isinstance(other, np.ndarray) else self.number(other, like)

    def op(self, op: str, *operands: Value | None, **attributes: Attribute) -> Value:
        """The only result of an operator of the registry."""
        return self.ops(op, 1, *operands, **attributes)[0]

    def ops(self, op: str, results: int, *operands: Value | None, **attributes: Attribute) -> tuple[Value, ...]:
        """The results of an operator of the registry; None for an operand that is left out.

        Raises
        ------
        UnsupportedGraphError : there is no such operator, or it refuses its operands.
        UsageError : an operand belongs to another builder.
        """
        for operand in operands:
            if operand is not None and (not isinstance(operand, Value) or operand.builder is not self):
                raise UsageError("an operand is no value of this builder", where=op, witness=repr(operand),
                                 hint="make arrays values by g.constant(...)")
        names = ["" if o is None else o.name for o in operands]
        outputs = [f"{self._fresh(op.lower())}" + (f"_{k}" if results > 1 else "") for k in range(results)]
        node = Node.of(op, names, outputs, attributes)
        self.inference.take(node)
        self.nodes.append(node)
        return tuple(Value(self, o) for o in outputs)

    def __getattr__(self, name: str) -> Callable[..., Value]:
        entry = INVENTORY.get(name)
        if entry is None:
            raise AttributeError(f"no operator {name} in the inventory; g.op(NAME, ...) takes those of the registry")
        return lambda *operands, **options: entry.make(self, *operands, **options)

    def graph(self, *outputs: Value, **named: Value) -> Graph:
        """The graph with some values as outputs, under their own or other names.

        Raises
        ------
        UsageError : there is no output, or a name is taken.
        """
        for name, value in named.items():
            if name in self.inference.types and name != value.name:
                raise UsageError(f"the name {name!r} is taken", hint="give each output a name of its own")
        extra = [Node.of("Identity", (v.name,), (n,)) for n, v in named.items() if n != v.name]
        names = tuple(dict.fromkeys((*(o.name for o in outputs), *named)))
        if not names:
            raise UsageError("a graph has at least one output", where=self.name, hint="name the results: outputs=")
        return Graph(name=self.name, inputs=tuple(self.inputs), nodes=(*self.nodes, *extra), outputs=names,
                     constants=dict(self.constants))
