"""Refusals: node, operator, attribute or operand, and what to try; of every operator that a malformed model has."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import polysched.errors
from polysched.errors import PolyschedError
from polysched.graph import Graph, Node
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.control import CALL, IF, LOOP, SCAN
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.control import resolve_control
from polysched.graph.values.refusals import OWN_OPERATORS, Part, Remedy, refused, said
from tests.graph.samples import SAMPLES, Sample, graph_of

NODE = Node.of("Conv", ("x", "w", ""), ("y",), {"pads": (1,)}, name="first")
STRUCTURES = {op for op in OPERATORS if ("Sequence" in op or "Optional" in op) and op != "ReverseSequence"}
REGIONS = {IF, LOOP, SCAN, CALL, "Branch", "Repeat"}


def test_a_refusal_says_node_operator_attribute_and_what_to_try() -> None:
    error = refused(NODE, "two numbers are wanted", "pads", witness="1", hint="give two")
    assert str(error) == ("node 'first' (Conv), attribute pads: two numbers are wanted\n  witness: 1\n  hint: give two")
    assert said(NODE, (0, 2)) == "operand 0 'x' and operand 2"
    assert said(NODE, Part.RESULTS) == "its results"
    assert refused(NODE, "no", 1).hint == (
        "correct operand 1 'w' in the model; https://onnx.ai/onnx/operators/onnx__Conv.html says what Conv takes")
    assert str(refused(NODE, "long" * 200, 1, witness="long" * 200)).count("...") == 2
    assert "OPERATORS['Dense']" in str(refused(replace(NODE, op="Dense"), "no", 0, hint=Remedy.CONVERT).hint)


def test_pages_are_those_of_onnx() -> None:
    schemas = {s.name for s in onnx.defs.get_all_schemas_with_history()}
    assert OPERATORS.keys() - schemas == OWN_OPERATORS


def _call(text: str, start: int) -> str:
    """A call from its opening bracket to the one that closes it."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return text[start:place]
    return text[start:]


def test_every_refusal_of_these_rooms_has_a_hint() -> None:
    errors = [name for name in dir(polysched.errors) if name.endswith("Error")]
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(errors)})(?=\()")
    folder = Path(polysched.errors.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for room in ("graph", "model")
             for path in (folder / room).rglob("*.py")}
    calls = [(path, _call(text, found.end())) for path, text in texts.items() for found in pattern.finditer(text)]
    assert len(calls) > 100
    assert not [(path.name, call) for path, call in calls if "hint=" not in call]


def malformed(case: Sample) -> Iterator[Sample]:
    """Uses of an operator that are wrong in one place, and some that are not."""
    op, operands, attributes, results = case
    for place, own in enumerate(operands):
        if own is not None:
            others: list[Any] = [None, own[None], own.reshape(-1), own.astype(bool), np.zeros_like(own, "float16"),
                                 np.zeros_like(own, "int32"), own[..., :0] if own.ndim else own.reshape(1)]
            if own.dtype.kind in "if":
                others += [np.full_like(own, -7), np.concatenate([own.ravel()] * 2)]
            yield from ((op, [*operands[:place], other, *operands[place + 1:]], attributes, results)
                        for other in others)
    for name, value in attributes.items():
        many = isinstance(value, tuple)
        for other in (((), (*value, 1), tuple(-7 for _ in value)) if many else ("no such word",) if isinstance(
                value, str) else (-99, 99)):
            yield op, operands, {**attributes, name: other}, results
    yield op, operands, {**attributes, "axis": 99}, results
    yield op, operands, attributes, results + 99
    yield op, [*operands, np.zeros((5, 3, 5), bool)], attributes, results


def refusal_of(graph: Graph) -> PolyschedError | None:
    """What its only node is refused with."""
    try:
        infer(resolve_control(graph))
    except PolyschedError as error:
        return error
    return None


def has_four_parts(error: PolyschedError, node: Node) -> bool:
    """Whether a refusal names node, operator, an attribute or what else it is about, and what to try."""
    head, about = f"{node.where}, ", ("attribute ", "operand ", *(part.value for part in Part))
    return str(error.where).startswith(tuple(head + each for each in about)) and bool(error.hint) and (
        "{" not in str(error.hint))


def test_what_a_malformed_model_has_is_refused_with_the_four_parts() -> None:
    found: dict[str, list[PolyschedError]] = {}
    for case in {case[0]: case for case in SAMPLES}.values():
        for wrong in malformed(case):
            graph, _ = graph_of(wrong, OPERATORS[case[0]].steering)
            if (error := refusal_of(graph)) is not None:
                assert has_four_parts(error, graph.nodes[0]), error
                found.setdefault(case[0], []).append(error)
    assert OPERATORS.keys() - REGIONS - STRUCTURES == found.keys()
    assert len({error.problem for errors in found.values() for error in errors}) > 200


@pytest.mark.parametrize("op", sorted(STRUCTURES | REGIONS))
def test_a_node_without_what_it_consists_of_is_refused_with_the_four_parts(op: str) -> None:
    graph, _ = graph_of((op, [np.zeros(3, np.float32)], {}, 2))
    error = refusal_of(graph)
    assert error is not None
    assert has_four_parts(error, graph.nodes[0]), error
