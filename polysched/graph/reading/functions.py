"""Functions of a model and of the operator set, inlined by onnx; how large that gets is known before it is done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polysched.errors import ModelFileError
from polysched.graph.limits import LIMITS
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.reading.schema_bodies import with_bodies

STANDARD = ("", "ai.onnx")
Key = tuple[str, str, str]


def inlined(proto: Any, version: int) -> Any:
    """The model without functions, where the registry does not have them.

    Parameters
    ----------
    version : of the standard operator set.

    Raises
    ------
    ModelFileError : functions call each other in a circle, get too large, or do not fit their calls.
    """
    import onnx
    from onnx import inliner
    known = [(domain, name) for name in OPERATORS for domain in STANDARD]
    count = _inlined_nodes(proto)
    if count > LIMITS.most_nodes:
        raise ModelFileError(f"the model has {count} nodes", hint=f"at most {LIMITS.most_nodes}")
    if all(n.op_type in OPERATORS for n in _nodes(proto.graph)) and not proto.functions:
        return proto
    own = onnx.ModelProto()
    own.CopyFrom(proto)   # the caller's model stays as it is
    try:
        if proto.functions:
            own = inliner.inline_selected_functions(own, known, exclude=True)
        _with_defaults(own.graph, onnx)
        with_bodies(own, version)
        return inliner.inline_selected_functions(own, known, exclude=True, inline_schema_functions=True)
    except (RuntimeError, ValueError, onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise ModelFileError("the functions of the model cannot be inlined", witness=str(error)[:300],
                             hint="the functions, or what calls them, contradict each other: "
                                  "onnx.checker.check_model(path, full_check=True) says more") from None


def _nodes(graph: Any) -> Iterator[Any]:
    """The nodes of a graph or a function, those of its regions included; refused where a name is no text."""
    for node in graph.node:
        names = (node.op_type, node.domain, node.name, *node.input, *node.output)
        for name in (*names, *(a.name for a in node.attribute)):
            check_text(name)
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g)


def check_text(name: Any) -> None:
    """Refuse a name that is no UTF-8: protobuf does not look.

    Raises
    ------
    ModelFileError : it is none.
    """
    try:
        plain = isinstance(name, str) and name.encode("utf-8") is not None
    except UnicodeEncodeError:
        plain = False
    if not plain:
        raise ModelFileError("a name of the model is no UTF-8", witness=repr(name)[:80], hint="write names as UTF-8")


def _inlined_nodes(proto: Any) -> int:
    """How many nodes the model has when its own functions are inlined; refused where they call themselves."""
    functions = {(f.domain, f.name, f.overload): f for f in proto.functions}
    counts: dict[Key, int] = {}
    open_calls: list[tuple[Key, Iterator[Any], int]] = []

    def key_of(node: Any) -> Key:
        return node.domain, node.op_type, node.overload
    main: Key = ("", "", "")
    open_calls.append((main, _nodes(proto.graph), 0))
    while open_calls:
        key, left, count = open_calls.pop()
        for node in left:
            called = key_of(node)
            if called not in functions:
                count += 1
            elif called in counts:
                count += counts[called]
            else:
                if called == key or any(called == other for other, _, _ in open_calls):
                    raise ModelFileError("a function calls itself", where=f"function {called[1]}",
                                         hint="inline it where the model is made: ONNX's functions do not recur")
                open_calls += [(key, _and(node, left), count), (called, _nodes(functions[called]), 0)]
                break
        else:
            counts[key] = count
    return counts[main]


def _and(node: Any, left: Iterator[Any]) -> Iterator[Any]:
    """A node, and what is left behind it."""
    yield node
    yield from left


def _with_defaults(graph: Any, onnx: Any) -> None:
    """Write the default attributes of nodes that are functions: the inliner leaves them out of the bodies."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _with_defaults(attribute.g, onnx)
        if node.op_type in OPERATORS or node.domain not in STANDARD or not onnx.defs.has(node.op_type):
            continue
        given = {a.name for a in node.attribute}
        for name, wanted in onnx.defs.get_schema(node.op_type).attributes.items():
            if name not in given and wanted.default_value.name:
                node.attribute.append(wanted.default_value)
