"""Nodes of a model file against ONNX's own schemas: names and kinds of attributes, how many operands and results.

Attributes are looked for in every version of an operator, since bodies of functions may be of another operator set
than the model.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from polysched.errors import ModelFileError, UnsupportedGraphError
from polysched.graph.limits import LIMITS
from polysched.graph.operators.registry import DOMAINS
from polysched.graph.values.refusals import definition
from polysched.records import dataclass

_ELSEWHERE = frozenset().union(*DOMAINS.values())


@dataclass(frozen=True)
class Signature:
    """What all versions of an operator take together.

    Parameters
    ----------
    kinds : of every attribute: numbers of `onnx.AttributeProto`.
    most_operands, most_results : of one node.
    """

    kinds: dict[str, frozenset[int]]
    most_operands: int
    most_results: int


@cache
def _schemas() -> dict[str, list[Any]]:
    """All versions of all standard operators, and of those of other domains that are had."""
    import onnx
    versions: dict[str, list[Any]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain or schema.name in DOMAINS.get(schema.domain, ()):
            versions.setdefault(schema.name, []).append(schema)
    return versions


@cache
def _signature(name: str) -> Signature:
    """Of an operator that ONNX has."""
    schemas = _schemas()[name]
    kinds: dict[str, set[int]] = {}
    for schema in schemas:
        for attribute, wanted in schema.attributes.items():
            kinds.setdefault(attribute, set()).add(int(wanted.type.value))
    return Signature({a: frozenset(k) for a, k in kinds.items()}, max(s.max_input for s in schemas),
                     max(s.max_output for s in schemas))


def check_node(proto: Any, where: str) -> None:
    """Refuse a node that is none of ONNX.

    Raises
    ------
    UnsupportedGraphError : ONNX has no such operator, or it has no such attribute, operand or result.
    ModelFileError : an attribute is of another kind, or occurs twice.
    """
    import onnx
    signature = _signature(proto.op_type) if proto.op_type in _schemas() else None
    if signature is None or (proto.op_type in _ELSEWHERE) != (proto.domain in DOMAINS):
        raise UnsupportedGraphError(f"ONNX has no operator {proto.op_type[:80]!r}", where=where,
                                    hint="export without operators of a runtime's own, or with a newer onnx installed")
    if len(proto.input) > signature.most_operands or len(proto.output) > signature.most_results:
        raise UnsupportedGraphError(
            f"{proto.op_type} has at most {signature.most_operands} operands and {signature.most_results} results",
            where=where, witness=f"{len(proto.input)} operands and {len(proto.output)} results",
                                    hint=f"give fewer; {definition(proto.op_type)}")
    seen: set[str] = set()
    for attribute in proto.attribute:
        kinds = signature.kinds.get(attribute.name)
        if kinds is None:
            raise UnsupportedGraphError(f"{proto.op_type} has no attribute {attribute.name[:80]!r}", where=where,
                                        hint=f"leave it out: {definition(proto.op_type)}")
        if attribute.name in seen:
            raise ModelFileError(f"the attribute {attribute.name} is given twice", where=where, hint="give it once")
        seen.add(attribute.name)
        if max(len(attribute.s), len(attribute.ints), len(attribute.floats), len(attribute.strings)) > (
                LIMITS.most_attribute_elements) and proto.op_type != "Constant":
            raise ModelFileError(f"the attribute {attribute.name} is very long", where=where,
                                 hint=f"at most {LIMITS.most_attribute_elements} numbers or characters")
        if attribute.type not in kinds:
            name = onnx.AttributeProto.AttributeType.Name
            wanted = " or ".join(sorted(name(kind) for kind in kinds))
            raise ModelFileError(f"the attribute {attribute.name} is no {wanted}", where=where,
                                 witness=name(attribute.type) if attribute.type else "no type",
                                 hint=f"give it as {wanted}: {definition(proto.op_type)}")
