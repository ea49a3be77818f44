"""What onnx's inliner has to be told: the types of operands, and bodies of nodes that leave an operand out.

The inliner does not know the types of constants: they are written beside the values of the graph.  It stops at nodes
that leave an operand out before the last, and in regions at those that read a value around them: such a node becomes a
call of a function of the model, whose body onnx's schema makes for the types of the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from polysched.errors import ModelFileError
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.values.refusals import definition

DOMAIN = "polysched.bodies"


def with_bodies(proto: Any, version: int) -> None:
    """Write the types of operands of functions, or their bodies; the model is changed.

    Parameters
    ----------
    version : of the standard operator set.

    Raises
    ------
    ModelFileError : the type of an operand is not known, or the schema makes no body of such operands.
    """
    import onnx
    if not any(_depends_on_types(n, version, onnx) for graph in _graphs(proto.graph) for n in graph.node):
        return
    number = 0
    for graph, types in _typed(proto.graph, _inferred(proto, onnx), {}, onnx):
        for node in [n for n in graph.node if _depends_on_types(n, version, onnx)]:
            while node.input and not node.input[-1]:
                del node.input[-1]   # onnx makes no body of those
            if "" in node.input or graph is not proto.graph:
                proto.functions.append(_body(node, number, version, types, onnx))
                number += 1
            else:
                _tell_types(graph, node, types)
    if number:
        proto.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))


def _body(node: Any, number: int, version: int, types: Mapping[str, Any], onnx: Any) -> Any:
    """The function of a node, which becomes a call of it.

    Parameters
    ----------
    number : of the function among those that are made.
    types : of the values that the node sees.
    """
    schema: Any = onnx.defs.get_schema(node.op_type, version, "")   # onnx's stubs lack some of its methods
    versions = schema.context_dependent_function_opset_versions
    where = f"node {node.name or next(iter(node.output), '')!r} ({node.op_type})"
    operands = [types.get(name) if name else onnx.TypeProto() for name in node.input]
    if any(t is None for t in operands):
        raise ModelFileError("the type of an operand is not known", where=where, witness=", ".join(node.input)[:200],
                             hint="bind it ahead of the node; onnx.shape_inference.infer_shapes(model, "
                                  "strict_mode=True) says more")
    try:
        text = schema.get_context_dependent_function_with_opset_version(
            max((v for v in versions if v <= version), default=min(versions)), node.SerializeToString(),
            [t.SerializeToString() for t in operands if t is not None])
    except (RuntimeError, ValueError, onnx.shape_inference.InferenceError) as error:
        raise ModelFileError("the operator has no body for such operands", where=where,
                             witness=str(error)[:300], hint=f"correct the node: {definition(node.op_type)}") from None
    body = onnx.FunctionProto.FromString(text)
    body.domain, body.name = DOMAIN, f"{node.op_type}_{number}"
    for own in body.opset_import:   # an older body serves up to the next one that the schema has
        own.version = version if own.domain in ("", "ai.onnx") else own.version
    node.domain, node.op_type = body.domain, body.name
    return body


def _tell_types(graph: Any, node: Any, types: Mapping[str, Any]) -> None:
    """Write the types of a node's operands beside the values of its graph, where they are known and not there."""
    there = {v.name for v in (*graph.input, *graph.value_info)}
    for name in dict.fromkeys(node.input):
        if name in types and name not in there:
            graph.value_info.add(name=name, type=types[name])


def _depends_on_types(node: Any, version: int, onnx: Any) -> bool:
    """Whether a node is a function of the operator set whose body depends on its operands."""
    if node.domain not in ("", "ai.onnx") or node.op_type in OPERATORS or not onnx.defs.has(node.op_type):
        return False
    try:
        schema = onnx.defs.get_schema(node.op_type, version, "")
    except onnx.defs.SchemaError:   # a later version has it
        return False
    return bool(schema.context_dependent_function_opset_versions)


def _graphs(graph: Any) -> Iterator[Any]:
    """A graph and its regions."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _typed(graph: Any, inferred: Any, around: Mapping[str, Any], onnx: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A graph and its regions with the types of the values that they see.

    Parameters
    ----------
    inferred : the same graph, with the types that onnx infers.
    around : types of the values around it.
    """
    types = dict(around)
    for value in (*inferred.input, *inferred.value_info, *inferred.output):
        if value.type.WhichOneof("value"):
            types[value.name] = value.type
    for tensor in graph.initializer:
        types[tensor.name] = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
    yield graph, types
    for node, other in zip(graph.node, inferred.node, strict=True):
        regions = zip(*([a.g for a in n.attribute if a.HasField("g")] for n in (node, other)), strict=True)
        for own, known in regions:
            yield from _typed(own, known, types, onnx)


def _inferred(proto: Any, onnx: Any) -> Any:
    """The graph with the types of values as far as onnx infers them."""
    try:
        return onnx.shape_inference.infer_shapes(proto).graph
    except (RuntimeError, ValueError, onnx.shape_inference.InferenceError) as error:
        raise ModelFileError("the types of the model do not fit together", witness=str(error)[:300],
                             hint="onnx.checker.check_model(path, full_check=True) says more") from None
