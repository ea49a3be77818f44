"""What random ONNX models are drawn on: a model that grows by one node at a time, with ONNX's types of all values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

import numpy as np

from polysched.records import dataclass

EXTENTS = (1, 1, 2, 3, 4, 5, 7, 8, 9, 17)
VERSIONS = (7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)
MOST_ELEMENTS = 800
FLOATS = ("float32", "float32", "float32", "float64", "float16")
WHOLE = ("int64", "int32", "int8", "uint8", "int16", "uint16", "uint32", "uint64")
NUMBERS = (*FLOATS, *WHOLE)
EMPTY = 0.04
"""The share of models whose fresh values may have no elements."""
OLD_FORMAT = 8
"""The version of the file format that operator sets up to 18 were published with."""
Fits: TypeAlias = "Callable[[Known], bool]"


@dataclass(frozen=True)
class Known:
    """What is known of a value.

    Parameters
    ----------
    dtype : NumPy's name.
    shape : its extents.
    is_exact : whether every evaluation has the same bits, so that it may be rounded, compared or sorted.
    """

    dtype: str
    shape: tuple[int, ...]
    is_exact: bool

    @property
    def rank(self) -> int:
        """The number of its dimensions."""
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        """Whether its elements are floating."""
        return self.dtype.startswith("float")


def reads(node: Any) -> list[str]:
    """What a node and its regions read."""
    inner = [name for a in node.attribute if a.HasField("g") for n in a.g.node for name in reads(n)]
    returned = [v.name for a in node.attribute if a.HasField("g") for v in a.g.output]
    return [*node.input, *inner, *returned]


class ModelDrawing:
    """A model that grows by one node at a time.

    Parameters
    ----------
    seed : of all draws.
    """

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.rng = np.random.default_rng(seed)
        self.version = self.draw.choice(VERSIONS)
        self.may_be_empty = self.draw.random() < EMPTY
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self.inputs: dict[str, np.ndarray] = {}
        self.known: dict[str, Known] = {}

    def chance(self, share: float) -> bool:
        """Whether something of that probability happens."""
        return self.draw.random() < share

    def since(self, version: int) -> bool:
        """Whether the operator set is that one or a later one."""
        return self.version >= version

    def extents(self, rank: int) -> tuple[int, ...]:
        """A shape of few elements."""
        while True:
            shape = tuple(0 if self.may_be_empty and self.chance(0.2) else self.draw.choice(EXTENTS)
                          for _ in range(rank))
            if np.prod(shape, dtype=int) <= MOST_ELEMENTS:
                return shape

    def array(self, dtype: str, shape: Sequence[int], low: float = -3, high: float = 4) -> np.ndarray:
        """Random elements from `low` to below `high`; none of them below 0 without a sign."""
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype.startswith("float"):
            return self.rng.uniform(low, high, shape).astype(dtype)
        least = max(int(low), 0) if dtype.startswith("u") else int(low)
        return self.rng.integers(least, max(int(high), least + 1), shape).astype(dtype)

    def given(self, array: np.ndarray) -> str:
        """The name of an input of the model."""
        name = f"x{len(self.inputs)}"
        self.inputs[name] = array
        self.known[name] = Known(array.dtype.name, array.shape, True)
        return name

    def constant(self, values: object, dtype: str = "int64") -> str:
        """The name of a constant."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.array(values, dtype)
        self.known[name] = Known(dtype, self.constants[name].shape, True)
        return name

    def operand(self, dtype: str, shape: Sequence[int], low: float = -3, high: float = 4) -> str:
        """A fresh value that is a constant or an input."""
        array = self.array(dtype, shape, low, high)
        return self.given(array) if self.chance(0.4) else self.constant(array, dtype)

    def value(self, fits: Fits = lambda v: True, *, ranks: Sequence[int] = (1, 2, 3, 4),
              dtypes: Sequence[str] = NUMBERS) -> str:
        """A value of some ranks and element types: one that there is, or an input."""
        def is_wanted(known: Known) -> bool:
            return known.rank in ranks and known.dtype in dtypes and fits(known)
        fitting = [n for n, k in self.known.items() if n not in self.constants and is_wanted(k)]
        if fitting and self.chance(0.75):
            return self.draw.choice(fitting[-4:])
        dtype = self.draw.choice(dtypes)
        for _ in range(100):
            shape = self.extents(self.draw.choice(ranks))
            if is_wanted(Known(dtype, shape, True)):
                break
        return self.given(self.array(dtype, shape))

    def has(self, op: str, domain: str = "") -> bool:
        """Whether the operator set has an operator."""
        import onnx
        try:
            onnx.defs.get_schema(op, self.version, domain)
        except onnx.defs.SchemaError:
            return False
        return True

    def pick(self, *ops: str) -> str:
        """One of some operators that the operator set has; empty, which is no operator, where it has none."""
        return self.draw.choice([op for op in ops if self.has(op)] or [""])

    def add(self, op: str, *inputs: str, results: int = 1, exact: bool = False, shape: Sequence[int] | None = None,
            **attributes: Any) -> list[str]:
        """The results of one more node; none where ONNX's types refuse it, or where it has many elements.

        Parameters
        ----------
        shape : of a result for which ONNX infers none.
        exact : whether every evaluation has the same bits where its operands have.
        attributes : those that are None are left out.
        """
        import onnx
        if not self.has(op):
            return []
        outputs = [f"v{len(self.nodes)}_{r}" for r in range(results)]
        given = {k: v for k, v in attributes.items() if v is not None}
        node = onnx.helper.make_node(op, list(inputs), outputs, **given)
        return self.take(node, exact and all(self.known[i].is_exact for i in inputs if i), shape)

    def take(self, node: Any, exact: bool, shape: Sequence[int] | None = None) -> list[str]:
        """The results of a node, where ONNX's types have it."""
        import onnx
        outputs = [o for o in node.output if o]
        values = [n for n in dict.fromkeys(reads(node)) if n in self.known]
        proto = self.model([node], values, outputs)
        try:
            inferred = onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
        except (onnx.shape_inference.InferenceError, ValueError, RuntimeError):
            return []
        found = {v.name: v.type.tensor_type for v in inferred.graph.output}
        for name in outputs:
            own = found[name]
            if own.HasField("shape") and all(d.HasField("dim_value") for d in own.shape.dim):
                extents = tuple(d.dim_value for d in own.shape.dim)
            elif shape is not None:
                extents = tuple(shape)
            else:
                return []
            if np.prod(extents, dtype=int) > MOST_ELEMENTS or min(extents, default=0) < 0:
                return []
            dtype = onnx.helper.tensor_dtype_to_np_dtype(own.elem_type).name
            self.known[name] = Known(dtype, extents, exact)
        self.nodes.append(node)
        return list(node.output)

    def model(self, nodes: Sequence[Any], inputs: Sequence[str], outputs: Sequence[str]) -> Any:
        """A model of some nodes; constants among the inputs are initializers."""
        import onnx
        given = [self.info(n) for n in inputs if n not in self.constants]
        initial = [onnx.numpy_helper.from_array(self.constants[n], n) for n in inputs if n in self.constants]
        untyped = [onnx.ValueInfoProto(name=name) for name in outputs]
        made = [self.info(n) if n in self.known else u for n, u in zip(outputs, untyped, strict=True)]
        graph = onnx.helper.make_graph(list(nodes), "drawn", given, made, initial)
        proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", self.version)])
        proto.ir_version = OLD_FORMAT if self.version < 19 else min(proto.ir_version, 10)
        return proto

    def info(self, name: str) -> Any:
        """ONNX's word for the type of a value."""
        import onnx
        own = self.known[name]
        return onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(own.dtype)),
                                                  own.shape)

    def finished(self) -> Any:
        """The model so far: what no node reads is an output, and some more."""
        read = {name for node in self.nodes for name in reads(node)}
        made = [o for node in self.nodes for o in node.output if o]
        outputs = [o for o in made if o not in read or self.chance(0.15)]
        given = [name for name in (*self.inputs, *self.constants) if name in read]
        return self.model(self.nodes, given, outputs)
