"""ONNX models as graphs: protobuf in, `Graph` out, every node in the form of the newest operator set.

A model file is not trusted: its data lies in its folder, its sizes have limits, and what does not fit is refused before
anything is computed.  Functions, of the model and of the operator set, are inlined where the registry has no operator
of their name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from polysched.errors import ModelFileError, UnsupportedGraphError
from polysched.graph.evaluation.sequences import item_name
from polysched.graph.limits import LIMITS
from polysched.graph.operators.registry import DOMAINS
from polysched.graph.passes.differentiation.gradients import differentiated
from polysched.graph.reading.apart import read_apart
from polysched.graph.reading.checked_nodes import check_node
from polysched.graph.reading.external_data import NO_STRINGS, tensor_array
from polysched.graph.reading.functions import STANDARD, check_text, inlined
from polysched.graph.reading.older_forms import modernised
from polysched.graph.values.element_types import ELEMENT_TYPES, element_type
from polysched.graph.values.graph import Attribute, Graph, Node
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.box_points import MOST_DIMENSIONS

if TYPE_CHECKING:
    import onnx

NO_ONNX = "the package onnx is missing"
STRUCTURES = ("sequence_type", "optional_type")
UNKNOWN = -1
"""What some exporters write as an extent that is not known."""
Elements: TypeAlias = "Sequence[TensorType] | TensorType | None"
"""What an input consists of that is no tensor: of a sequence the types of its elements, of an optional its type, or
None where it is empty."""


def load(model: str | Path | bytes | onnx.ModelProto, *, elements: Mapping[str, Elements] | None = None) -> Graph:
    """The graph of an ONNX model.

    Parameters
    ----------
    model : a file, its bytes, or onnx's own value.
    elements : what inputs consist of that are sequences or optionals; a sequence `s` becomes the inputs `s[0]`,
        `s[1]`, ...

    Raises
    ------
    ModelFileError : the file cannot be read, is damaged, refers to data outside its folder, or exceeds a limit.
    UnsupportedGraphError : an operator, an element type or a construct is not had.
    """
    try:
        import onnx
    except ImportError:
        raise ModelFileError(NO_ONNX, hint="python -m pip install 'polysched[onnx]'") from None
    proto, folder, apart = _parsed(model, onnx)
    version = _version(proto, onnx)
    proto = inlined(proto, version)
    if len(proto.graph.node) > LIMITS.most_nodes:
        raise ModelFileError(f"the model has {len(proto.graph.node)} nodes", hint=f"at most {LIMITS.most_nodes}")
    return _differentiated(_Reader(version, folder, dict(elements or {}), apart).graph(proto.graph))


def _differentiated(graph: Graph) -> Graph:
    """Derivatives in place of `Gradient`, which stays where they need sizes that are open until `bind` fixes them."""
    try:
        return differentiated(graph)
    except UnsupportedGraphError:
        if not graph.symbols:
            raise
    return graph


def structured_inputs(model: onnx.ModelProto) -> tuple[str, ...]:
    """The inputs that are sequences or optionals."""
    return tuple(v.name for v in model.graph.input if v.type.WhichOneof("value") in STRUCTURES)


def _version(proto: Any, onnx: Any) -> int:
    """The version of the standard operator set; refused where it is none that onnx knows."""
    versions = {o.domain: o.version for o in proto.opset_import}
    version = int(versions.get("", versions.get("ai.onnx", 1)))
    newest = onnx.defs.onnx_opset_version()
    if not 1 <= version <= newest:
        raise ModelFileError(f"the operator set {version} is not known",
                             hint=f"1 to {newest}; a newer onnx may have it")
    return version


def _parsed(model: Any, onnx: Any) -> tuple[Any, Path | None, dict[bytes, np.ndarray]]:
    """The protobuf, the folder of the file, and its long constants."""
    from google.protobuf.message import DecodeError
    if isinstance(model, onnx.ModelProto):
        return model, None, {}
    folder: Path | None = None
    where, arrays = "bytes", dict[bytes, np.ndarray]()
    if isinstance(model, str | Path):
        folder, where = Path(model).resolve().parent, str(model)
        try:
            read = read_apart(Path(model))
        except OSError as error:
            raise ModelFileError(f"cannot read the model: {error.strerror}", where=where,
                                 hint="name a file that is there and may be read") from None
        model, arrays = read.message, read.arrays
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(model)
    except DecodeError as error:
        raise ModelFileError("the file is no ONNX model", where=where, witness=str(error),
                             hint="name a .onnx file that was written whole") from None
    if not proto.HasField("graph") or not proto.opset_import:
        raise ModelFileError("the file is no ONNX model: it has no graph or no operator set", where=where,
                             hint="export it anew: onnx.checker.check_model(path) says more")
    return proto, folder, arrays


@dataclass(eq=False)
class _Reader:
    """Makes graphs of protobuf graphs.

    Parameters
    ----------
    version : of the operator set.
    folder : of the file, for data beside it.
    elements : what inputs consist of that are no tensors.
    apart : bytes of long constants by the words that stand for them.
    """

    version: int
    folder: Path | None
    elements: dict[str, Elements] = field(default_factory=dict)
    apart: dict[bytes, np.ndarray] = field(default_factory=dict)
    fresh: int = 0
    taken: set[str] = field(default_factory=set)

    def graph(self, proto: Any, *, region: bool = False) -> Graph:
        """One graph, or the body of a control-flow node, whose inputs have the types of what they are given."""
        for named in (proto, *proto.initializer, *proto.input, *proto.output):
            check_text(named.name)
        constants = {t.name: self.array(t) for t in proto.initializer}
        if len(proto.sparse_initializer):
            raise UnsupportedGraphError("sparse constants are not had", where=f"graph {proto.name}",
                                        hint="store them as dense constants")
        given = [v for v in proto.input if v.name not in constants]
        inputs: list[tuple[str, TensorType]] = []
        nodes: list[Node] = []
        for value in () if region else given:
            own, made = self.input(value)
            inputs, nodes = [*inputs, *own], [*nodes, *made]
        for node in proto.node:
            nodes += self.node(node, constants)
        return Graph(name=proto.name or "model", nodes=tuple(nodes), constants=constants, inputs=tuple(inputs),
                     outputs=tuple(v.name for v in proto.output),
                     parameters=tuple(v.name for v in given) if region else ())

    def input(self, value: Any) -> tuple[list[tuple[str, TensorType]], list[Node]]:
        """An input as tensors, and the nodes that make what it is of them.

        Raises
        ------
        UnsupportedGraphError : it is no tensor, and what it consists of was not said.
        """
        kind = value.type.WhichOneof("value")
        if kind not in STRUCTURES:
            return [(value.name, self.type_of(value))], []
        if value.name not in self.elements:
            raise UnsupportedGraphError(f"the input is a {kind}, not a tensor", where=f"input {value.name!r}",
                                        hint="say the types of its elements: load(model, elements={name: [...]})")
        own = self.elements[value.name]
        if own is None:
            return [], [Node.of("Optional", (), (value.name,))]
        if isinstance(own, TensorType):
            return [(value.name, own)], []
        names = [item_name(value.name, place) for place in range(len(own))]
        return list(zip(names, own, strict=True)), [Node.of("SequenceConstruct", names, (value.name,))]

    def array(self, tensor: Any) -> np.ndarray:
        """A constant; refused where elements are of a type that is not had."""
        array = tensor_array(tensor, self.folder, self.apart)
        if element_type(array.dtype) is None:
            import onnx
            raise _other_elements(element_name(onnx, tensor.data_type), f"constant {tensor.name!r}")
        return array

    def type_of(self, value: Any) -> TensorType:
        """The type of an input; an extent that has no name gets one."""
        import onnx
        if not value.type.HasField("tensor_type"):
            raise UnsupportedGraphError(f"the input is a {value.type.WhichOneof('value') or 'value without a type'}, "
                                        "not a tensor", where=f"input {value.name!r}",
                                        hint="declare it as a tensor of numbers")
        tensor = value.type.tensor_type
        dtype = element_type(_numpy_type(onnx, tensor.elem_type))
        if dtype is None:
            raise _other_elements(element_name(onnx, tensor.elem_type), f"input {value.name!r}")
        if len(tensor.shape.dim) > MOST_DIMENSIONS:
            raise ModelFileError(f"a value has {len(tensor.shape.dim)} dimensions", where=f"input {value.name!r}",
                                 hint=f"at most {MOST_DIMENSIONS}")
        if not tensor.HasField("shape"):
            raise UnsupportedGraphError("the number of dimensions is not known", where=f"input {value.name!r}",
                                        hint="declare its shape, with a name for each extent that is open: "
                                             "onnx.shape_inference may know it")
        return TensorType.of(dtype, [self.extent(value.name, d) for d in tensor.shape.dim])

    def extent(self, name: str, dimension: Any) -> Size:
        if dimension.HasField("dim_value") and dimension.dim_value != UNKNOWN:
            if dimension.dim_value < 0:
                raise ModelFileError("an extent is negative", where=f"input {name!r}",
                                     hint="give a number of at least 0, or a name for an extent that is open")
            return Size(dimension.dim_value)
        self.fresh += 1
        return Size.symbol(dimension.dim_param or f"{name}_{self.fresh}")

    def node(self, proto: Any, constants: dict[str, np.ndarray]) -> Iterator[Node]:
        """The nodes for one of the file; constants are put beside them."""
        where = f"node {proto.name or next(iter(proto.output), '')!r} ({proto.op_type})"
        if proto.domain not in STANDARD and proto.op_type not in DOMAINS.get(proto.domain, ()):
            raise UnsupportedGraphError(f"operators of the domain {proto.domain} are not had", where=where,
                                        hint="export with ai.onnx's operators alone, or with a function of the model")
        check_node(proto, where)
        if proto.op_type == "Constant":
            if len(proto.output) != 1:
                raise ModelFileError("a constant has one result", where=where, witness=f"{len(proto.output)} results",
                                     hint="bind one result")
            constants[proto.output[0]] = self.constant(proto, where)
            return
        attributes: dict[str, Attribute] = {}
        regions: dict[str, Graph] = {}
        for attribute in proto.attribute:
            if attribute.HasField("g"):
                regions[attribute.name] = self.graph(attribute.g, region=True)
            else:
                attributes |= self.attribute(proto.op_type, attribute, where)

        def constant(value: np.ndarray) -> str:
            self.fresh += 1
            name = f"{proto.output[0]}_{proto.op_type}_{self.fresh}"
            constants[name] = value
            return name
        node = Node(op=proto.op_type, inputs=tuple(proto.input), outputs=tuple(proto.output), name=proto.name,
                    attributes=tuple(sorted(attributes.items())),
                    regions=tuple(regions[n] for n in sorted(regions, reverse=True)))
        yield from modernised(node, self.version, constant)

    def constant(self, proto: Any, where: str) -> np.ndarray:
        """The value of a Constant node."""
        if len(proto.attribute) != 1:
            raise ModelFileError("a constant has one value", where=where,
                                 witness=f"{len(proto.attribute)} attributes",
                                 hint="give one of value, value_float, value_floats, value_int and value_ints")
        for a in proto.attribute:
            if a.name == "value":
                return self.array(a.t)
            if a.name in ("value_float", "value_floats"):
                return np.array(a.f if a.name == "value_float" else list(a.floats), np.float32)
            if a.name in ("value_int", "value_ints"):
                return np.array(a.i if a.name == "value_int" else list(a.ints), np.int64)
        raise UnsupportedGraphError("a constant without a value of numbers is not had", where=where, hint=NO_STRINGS)

    def attribute(self, op: str, proto: Any, where: str) -> dict[str, Attribute]:
        """An attribute as plain values; a tensor as its only element and its type."""
        import onnx
        kinds = onnx.AttributeProto
        if proto.ref_attr_name:
            raise UnsupportedGraphError(f"the attribute {proto.name} is that of a function that is not there",
                                        where=where,
                                        hint="inline the functions where the model is made: "
                                             "onnx.inliner.inline_local_functions(model)")
        if op in ("Cast", "ConstantOfShape", "EyeLike", "BitCast", "QuantizeLinear",
                  "DequantizeLinear", "MelWeightMatrix") and proto.name in (
                      "to", "dtype", "output_dtype", "output_datatype") and proto.type == kinds.INT:
            return {proto.name: type_name(onnx, proto.i)}
        plain: dict[int, Any] = {kinds.INT: proto.i, kinds.FLOAT: float(proto.f), kinds.INTS: tuple(proto.ints),
                                 kinds.FLOATS: tuple(map(float, proto.floats))}
        if proto.type in plain:
            return {proto.name: plain[proto.type]}
        if proto.type == kinds.STRING:
            said = proto.s.decode("utf-8", "replace")
            numbers: dict[str, int] = dict(onnx.TensorProto.DataType.items())
            named = op == "Cast" and said in numbers   # in the first operator sets
            return {proto.name: type_name(onnx, numbers[said]) if named else said}
        if proto.type == kinds.STRINGS:
            return {proto.name: tuple(s.decode("utf-8", "replace") for s in proto.strings)}
        if proto.type == kinds.TENSOR and op == "ConstantOfShape":
            value = self.array(proto.t)
            return {"value": value.ravel()[0].item(), "dtype": value.dtype.name}
        if proto.type == kinds.TYPE_PROTO and op == "Optional":
            return {}   # what it would hold: it holds nothing
        raise UnsupportedGraphError(f"the attribute {proto.name} is of a kind that is not had", where=where,
                                    hint="give it as numbers, strings, a tensor or a graph")


def _other_elements(name: str, where: str) -> UnsupportedGraphError:
    """What to raise for elements of a type that no graph has."""
    hint = NO_STRINGS if name == "string" else f"export with one of {', '.join(sorted(ELEMENT_TYPES))}"
    if name.startswith("complex"):
        hint = "give real and imaginary parts as a last dimension of 2, as DFT has them"
    return UnsupportedGraphError(f"elements of type {name} are not had", where=where, hint=hint)


def _numpy_type(onnx: Any, element: int) -> np.dtype:
    """NumPy's type; that of objects where there is none."""
    if element in (onnx.TensorProto.STRING, onnx.TensorProto.UNDEFINED):
        return np.dtype(object)
    try:
        found: np.dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(element))
    except KeyError:
        return np.dtype(object)
    return found


def type_name(onnx: Any, element: int) -> str:
    """The name of an element type, NumPy's where it is one of ours."""
    dtype = element_type(_numpy_type(onnx, element))
    if dtype is not None:
        return dtype.name
    return element_name(onnx, element)


def element_name(onnx: Any, element: int) -> str:
    """ONNX's name of an element type; `undefined` for a number that is none."""
    known: dict[int, str] = {number: name for name, number in onnx.TensorProto.DataType.items()}
    return known.get(element, "undefined").lower()
