"""Bodies of ONNX's functions for nodes that leave an operand out before the last: onnx's inliner stops at those.

Such a node becomes a call of a function of the model, whose body onnx's schema makes for the types of the operands.
"""

from __future__ import annotations

from typing import Any

from polysched.errors import ModelFileError
from polysched.graph.operators.registry import OPERATORS

DOMAIN = "polysched.bodies"


def with_bodies(proto: Any, version: int) -> None:
    """Write the bodies of the nodes of a model's graph that leave an operand out; the model is changed.

    Parameters
    ----------
    version : of the standard operator set.

    Raises
    ------
    ModelFileError : the type of an operand is not known, or the schema makes no body of such operands.
    """
    import onnx
    wanted = [n for n in proto.graph.node if _leaves_out(n, version, onnx)]
    if not wanted:
        return
    types = _types(proto, onnx)
    for number, node in enumerate(wanted):
        schema: Any = onnx.defs.get_schema(node.op_type, version, "")   # onnx's stubs lack some of its methods
        versions = schema.context_dependent_function_opset_versions
        where = f"node {node.name or next(iter(node.output), '')!r} ({node.op_type})"
        operands = [types.get(name) if name else onnx.TypeProto() for name in node.input]
        if any(t is None for t in operands):
            raise ModelFileError("the type of an operand is not known", where=where,
                                 witness=", ".join(node.input)[:200])
        try:
            text = schema.get_context_dependent_function_with_opset_version(
                max((v for v in versions if v <= version), default=min(versions)), node.SerializeToString(),
                [t.SerializeToString() for t in operands if t is not None])
        except (RuntimeError, ValueError) as error:
            raise ModelFileError("the operator has no body for such operands", where=where,
                                 witness=str(error)[:300]) from None
        body = onnx.FunctionProto.FromString(text)
        body.domain, body.name = DOMAIN, f"{node.op_type}_{number}"
        node.domain, node.op_type = body.domain, body.name
        proto.functions.append(body)
    proto.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))


def _leaves_out(node: Any, version: int, onnx: Any) -> bool:
    """Whether a node is a function of the operator set that depends on its operands, and leaves one out."""
    if node.domain or node.op_type in OPERATORS or "" not in node.input or not onnx.defs.has(node.op_type):
        return False
    try:
        schema = onnx.defs.get_schema(node.op_type, version, "")
    except onnx.defs.SchemaError:   # a later version has it
        return False
    return bool(schema.context_dependent_function_opset_versions)


def _types(proto: Any, onnx: Any) -> dict[str, Any]:
    """The types of values as far as onnx infers them."""
    try:
        graph = onnx.shape_inference.infer_shapes(proto).graph
    except (RuntimeError, ValueError) as error:
        raise ModelFileError("the types of the model do not fit together", witness=str(error)[:300]) from None
    found = {v.name: v.type for v in [*graph.input, *graph.value_info] if v.type.WhichOneof("value")}
    for tensor in graph.initializer:
        found[tensor.name] = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
    return found
