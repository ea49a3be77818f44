"""Nodes that are not compiled, as an ONNX model of their own: run by ONNX Runtime if present, else by `onnx.reference`.

The nodes of a graph have the form of the newest operator set; the model says the oldest set that has this form, so that
an older ONNX Runtime knows it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.values.element_types import ELEMENT_TYPES, array_type, element_type
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.model.limits import LIMITS
from polysched.records import dataclass
from polysched.scop.dtypes import BOOL, INT64

BODIES = {"If": ("then_branch", "else_branch"), "Loop": ("body",), "Scan": ("body",),
          "SequenceMap": ("body",)}
"""The attributes that hold the regions of a node, in their order."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Island:
    """Nodes that another runtime computes.

    Parameters
    ----------
    nodes : in order; the last one is what cannot be compiled, the others feed it with values that are no tensors.
    inputs : names and types of what it reads; a type is None where the rank is not known.
    outputs : of the last node.
    constants : values that are known while compiling.
    reason : why it is not compiled.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[tuple[str, TensorType | None], ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, np.ndarray]
    reason: str

    def __repr__(self) -> str:
        return f"<Island {self.node[:100]}: {self.reason[:150]}>"

    @property
    def node(self) -> str:
        """The node as a message names it."""
        return self.nodes[-1].where

    def as_json(self) -> dict[str, Any]:
        """Node, reason and runtime."""
        return {"node": self.node, "reason": self.reason, "runtime": self.runtime}

    @cached_property
    def proto(self) -> Any:
        """The nodes as an ONNX model.

        Raises
        ------
        UnsupportedGraphError : a node is none of ONNX's.
        """
        return _proto(self)

    @cached_property
    def runtime(self) -> str:
        """Which runtime computes it: `onnxruntime` or `onnx.reference`."""
        return str(self._evaluator[0])

    def prepare(self) -> None:
        """Load the runtime, and give it the nodes."""
        self._evaluator  # noqa: B018

    @cached_property
    def _evaluator(self) -> tuple[str, Any]:
        session = _session(self.proto)
        if session is not None:
            return "onnxruntime", session
        from onnx.reference import ReferenceEvaluator
        try:
            return "onnx.reference", ReferenceEvaluator(self.proto)
        except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
            raise self._refusal(error) from None

    def run(self, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs for values of the inputs.

        Raises
        ------
        UnsupportedGraphError : the runtime refuses the node or these values.
        """
        runtime, evaluator = self._evaluator
        given = {name: np.asarray(values[name]) for name, _ in self.inputs}
        failures: tuple[type[Exception], ...] = (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError,
                                                 *runtime_failures())
        try:
            found = evaluator.run(list(self.outputs), given)
        except failures as error:
            raise self._refusal(error, runtime) from None
        for name, value in zip(self.outputs, found, strict=True):
            if not isinstance(value, np.ndarray | np.generic):
                raise UnsupportedGraphError("a result of an island is no tensor", where=self.node, witness=name,
                                            hint="let it end with a tensor")
        return dict(zip(self.outputs, map(np.asarray, found), strict=True))

    def _refusal(self, error: Exception, runtime: str = "onnx.reference") -> UnsupportedGraphError:
        return UnsupportedGraphError(f"{self.reason}, and {runtime} refuses it, too", where=self.node,
                                     witness=str(error).strip()[:300],
                                     hint="correct the node, or give what its shape follows from by values=")


def result_types(island: Island) -> dict[str, TensorType | None]:
    """The types of an island's outputs, by ONNX's own inference; None where the rank is not known.

    An extent that is not known becomes a symbol of its own.

    Raises
    ------
    UnsupportedGraphError : the outputs are no tensors of elements that are had, or the node is none of ONNX's.
    """
    try:
        import onnx
    except ImportError:
        raise UnsupportedGraphError("the package onnx is missing", where=island.node,
                                    hint="python -m pip install onnx") from None
    try:
        inferred = onnx.shape_inference.infer_shapes(island.proto, data_prop=True)
    except onnx.shape_inference.InferenceError as error:
        raise UnsupportedGraphError(island.reason, where=island.node, witness=str(error)[:300],
                                    hint="correct the node; onnx.checker.check_model(path, full_check=True) says "
                                         "more") from None
    symbols = {str(e): e for _, t in island.inputs if t is not None for e in t.shape}
    by_name = {v.name: v for v in inferred.graph.output}
    return {name: _type_of(by_name[name], symbols, island) for name in island.outputs}


def _type_of(value: Any, symbols: Mapping[str, Size], island: Island) -> TensorType | None:
    """The type of an output."""
    import onnx
    if not value.type.HasField("tensor_type"):
        return None
    tensor = value.type.tensor_type
    element = tensor.elem_type
    known = element not in (onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING)
    dtype = element_type(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(element))) if known else None
    if dtype is None or not tensor.HasField("shape"):
        return None
    extents: list[Size] = []
    for place, dimension in enumerate(tensor.shape.dim):
        if dimension.HasField("dim_value"):
            extents.append(Size(dimension.dim_value))
        else:
            extents.append(symbols.get(dimension.dim_param) or Size.symbol(f"{value.name}_{place}"))
    return TensorType.of(dtype, extents)


def _proto(island: Island) -> Any:
    import onnx
    from onnx import helper, numpy_helper
    nodes = [_node(n) for n in island.nodes]
    version = max(_version(n) for node in island.nodes for n in _walk(node))
    given = [helper.make_value_info(name, _value_type(t)) for name, t in island.inputs]
    constants = [numpy_helper.from_array(np.asarray(a), name) for name, a in island.constants.items()]
    graph = helper.make_graph(nodes, "island", given,
                              [helper.make_value_info(o, onnx.TypeProto()) for o in island.outputs], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)],
                             ir_version=min(onnx.IR_VERSION, LIMITS.newest_format))


def _walk(node: Node) -> list[Node]:
    return [node, *(n for region in node.regions for n in region.walk())]


def _value_type(its_type: TensorType | None) -> Any:
    import onnx
    from onnx import helper
    if its_type is None:
        return onnx.TypeProto()
    shape = [int(e) if e.is_constant else str(e) for e in its_type.shape]
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(its_type.numpy), shape)


def _schema(node: Node) -> Any:
    import onnx
    if not onnx.defs.has(node.op):
        raise UnsupportedGraphError(f"{node.op} is no operator of ONNX", where=node.where,
                                    hint="write it with ONNX's operators")
    return onnx.defs.get_schema(node.op)


def _version(node: Node) -> int:
    return int(_schema(node).since_version)


def _node(node: Node) -> Any:
    """A node as ONNX has it."""
    from onnx import helper
    schema = _schema(node)
    made = helper.make_node(node.op, node.inputs, node.outputs, name=node.name)
    given: dict[str, Any] = dict(node.attributes)
    if node.op == "ConstantOfShape" and "value" in given:
        given["value"] = helper.make_tensor("value", _element_number(str(given.pop("dtype"))), [1],
                                            [given["value"]])
    for name, value in given.items():
        if name not in schema.attributes:
            raise UnsupportedGraphError(f"{node.op} of ONNX has no attribute {name}", where=node.where,
                                        hint="leave it out")
        made.attribute.append(_attribute(name, value, schema.attributes[name].type))
    for name, region in zip(BODIES.get(node.op, ()), node.regions, strict=False):
        made.attribute.append(helper.make_attribute(name, _region(region, node.op)))
    return made


def _attribute(name: str, value: Any, kind: Any) -> Any:
    """An attribute; the name of an element type is its number."""
    import onnx
    from onnx import helper
    kinds = onnx.AttributeProto
    if int(kind.value) == kinds.INT and isinstance(value, str):
        value = _element_number(value)
    return helper.make_attribute(name, list(value) if isinstance(value, tuple) else value, attr_type=int(kind.value))


def _element_number(name: str) -> int:
    """ONNX's number of an element type, by NumPy's name of it, or by ONNX's where no graph has such elements.

    Raises
    ------
    UnsupportedGraphError : there is none of that name.
    """
    import onnx
    if name in ELEMENT_TYPES:
        return int(onnx.helper.np_dtype_to_tensor_dtype(array_type(ELEMENT_TYPES[name])))
    numbers: dict[str, int] = dict(onnx.TensorProto.DataType.items())
    if name.upper() not in numbers:
        raise UnsupportedGraphError(f"ONNX has no elements of type {name}", hint="put a Cast ahead of it")
    return numbers[name.upper()]


def _region(region: Graph, op: str) -> Any:
    """The body of a control-flow node; a loop's has the number of the iteration and whether it goes on first."""
    import onnx
    from onnx import helper, numpy_helper
    bound = {o for n in region.nodes for o in n.outputs}
    seen: dict[str, str] = {}
    nodes = [_node(n) for n in region.nodes]
    results = []
    for place, name in enumerate(region.outputs):   # each result is made inside, and is one once
        own = name if name in bound and name not in seen else f"{name}_result_{place}"
        if own != name:
            nodes.append(helper.make_node("Identity", [name], [own]))
        seen[name] = own
        results.append(own)
    counted = (TensorType.of(INT64, ()), TensorType.of(BOOL, ())) if op == "Loop" else ()
    named = [helper.make_value_info(n, _value_type(counted[p] if p < len(counted) else None))
             for p, n in enumerate(region.parameters)]
    made = [helper.make_value_info(n, onnx.TypeProto()) for n in results]
    return helper.make_graph(nodes, region.name or "body", named, made,
                             [numpy_helper.from_array(np.asarray(a), n) for n, a in region.constants.items()])


def runtime_failures() -> tuple[type[Exception], ...]:
    """What ONNX Runtime raises where it refuses something."""
    try:
        from onnxruntime.capi import onnxruntime_pybind11_state as state
    except ImportError:
        return ()
    return tuple(getattr(state, n) for n in ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf",
                                             "NotImplemented", "RuntimeException", "NoSuchFile"))


def _session(proto: Any) -> Any:
    """ONNX Runtime's session; None where it is not there or does not take the nodes."""
    try:
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    failures: tuple[type[Exception], ...] = (RuntimeError, ValueError, *runtime_failures())
    try:
        return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except failures:
        return None


def inputs_of(nodes: Sequence[Node]) -> tuple[str, ...]:
    """What nodes read from outside."""
    made = {o for n in nodes for o in n.outputs}
    return tuple(dict.fromkeys(name for n in nodes for name in n.used if name not in made))
