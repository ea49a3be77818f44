"""Sequences become their elements: the interpreter, which has lists, computes the same."""

from typing import Any

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Graph, from_text, interpret, to_text
from polysched.graph.evaluation.interpreter import run_node
from polysched.graph.evaluation.sequences import run_structured
from polysched.graph.operators.families.sequences import STRUCTURED
from polysched.graph.passes.control import resolve_control, resolve_sequences
from polysched.graph.passes.simple import bind
from polysched.graph.values.graph import Node

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def both(graph: Graph, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    """The outputs, of the interpreter and behind the pass."""
    resolved = resolve_control(graph)
    assert not {n.op for n in resolved.walk()} & STRUCTURED
    assert to_text(resolve_control(resolved)) == to_text(resolved)
    wanted, found = interpret(graph, inputs), interpret(resolved, inputs)
    assert list(found) == list(wanted)
    for name, value in wanted.items():
        assert found[name].dtype == value.dtype
        assert np.array_equal(found[name], value)
    return found


def graph_of(*lines: str, inputs: str = "x: float32[3, 4]") -> Graph:
    return from_text("\n".join([f"graph f({inputs}) {{", *(f"  {line}" for line in lines), "}"]))


def test_what_is_put_in_is_taken_out() -> None:
    graph = graph_of("const one: int64[] = [1]", "const back: int64[] = [-2]", "let n = Neg(x)", "let e = Exp(x)",
                     "let s = SequenceConstruct(x, n)", "let t = SequenceInsert(s, e, one)",
                     "let u = SequenceInsert(t, n)", "let v = SequenceErase(u, back)", "let w = SequenceErase(v)",
                     "let y = SequenceAt(w, one)", "let c = SequenceLength(v)", "return y, c")
    found = both(graph, x=X)
    assert np.array_equal(found["y"], np.exp(X))
    assert found["c"] == 3


def test_a_golden() -> None:
    graph = graph_of("const at: int64[] = [-1]", "let n = Neg(x)", "let s = SequenceConstruct(x, n)",
                     "let y = SequenceAt(s, at)", "return y, s")
    assert str(resolve_control(graph)) == """graph f(x: float32[3, 4]) {
  const at: int64[] = [-1]
  let n = Neg(x)
  let y = Identity(n)
  let "s[0]" = Identity(x)
  let "s[1]" = Identity(n)
  return y, "s[0]", "s[1]"
}"""


@pytest.mark.parametrize(("split", "attributes", "count"), [
    ("", "axis=1", 4), ("", "axis=-1, keepdims=0", 4), ("two", "axis=1", 2), ("two", "axis=0", 2),
    ("uneven", "axis=1", 2), ("", "axis=-2, keepdims=1", 3)])
def test_a_tensor_is_split_and_joined(split: str, attributes: str, count: int) -> None:
    graph = graph_of("const two: int64[] = [2]", "const uneven: int64[2] = [3, 1]",
                     f"let s = SplitToSequence(x{', ' * bool(split)}{split}; {attributes})",
                     "let c = SequenceLength(s)", "return c, s")
    found = both(graph, x=X)
    assert found["c"] == count
    assert len(found) == 1 + count


@pytest.mark.parametrize("new_axis", [0, 1])
def test_a_sequence_is_joined(new_axis: int) -> None:
    graph = graph_of("let s = SequenceConstruct(x, x)", f"let y = ConcatFromSequence(s; axis=-1, new_axis={new_axis})",
                     "return y")
    assert both(graph, x=X)["y"].shape == ((3, 4, 2) if new_axis else (3, 8))


def test_a_loop_makes_a_sequence() -> None:
    graph = graph_of("const n: int64[] = [3]", "const go: bool[] = [true]", "let none = SequenceEmpty()",
                     "let s = Loop(n, go, none) {", "  graph body(i, c, v) {", "    let r = Gather(x, i)",
                     "    let w = SequenceInsert(v, r)", "    let k = Identity(c)", "    return k, w", "  }", "}",
                     "let y = ConcatFromSequence(s; axis=0, new_axis=1)", "return y, s")
    found = both(graph, x=X)
    assert np.array_equal(found["y"], X)
    assert list(found) == ["y", "s[0]", "s[1]", "s[2]"]


def test_a_branch_asks_for_an_optional() -> None:
    for optional, factor in (("Optional(x)", 1), ("Optional()", -1)):
        graph = graph_of(f"let o = {optional}", "let h = OptionalHasElement(o)", "let y = If(h) {", "  graph yes() {",
                         "    let a = OptionalGetElement(o)", "    return a", "  }", "  graph no() {",
                         "    let b = Neg(x)", "    return b", "  }", "}", "return y")
        assert np.array_equal(both(graph, x=X)["y"], factor * X)


def test_an_empty_optional_is_no_output() -> None:
    assert both(graph_of("let o = Optional()", "let y = Neg(x)", "return o, y"), x=X).keys() == {"y"}


def test_a_map_runs_its_body_for_each_element() -> None:
    graph = graph_of("let n = Neg(x)", "let s = SequenceConstruct(x, n)", "let p, q = SequenceMap(s, x, s) {",
                     "  graph body(a, b, c) {", "    let d = Sub(a, b)", "    return d, c", "  }", "}", "return p, q")
    found = both(graph, x=X)
    assert np.array_equal(found["p[1]"], -2 * X)
    assert np.array_equal(found["q[1]"], -X)


@pytest.mark.parametrize(("lines", "problem"), [
    (["let y = SequenceAt(x, zero)"], "operand 0 is no sequence"),
    (["let s = SequenceConstruct(x)", "let y = SequenceAt(s, p)"], "operand 1 decides about a sequence"),
    (["let s = SequenceConstruct(x)", "let y = SequenceAt(s, one)"], "lies outside of the sequence"),
    (["let s = SequenceConstruct(x, zero)", "let y = SequenceLength(s)"], "tensors of one element type"),
    (["let s = SequenceConstruct(x)", "let y = SequenceConstruct(s)"], "operand 0 is no tensor"),
    (["let s = SequenceEmpty()", "let y = ConcatFromSequence(s; axis=0)"], "a sequence with elements"),
    (["let s = SequenceEmpty()", "let y = SequenceErase(s)"], "no element to erase"),
    (["let s = SequenceConstruct(x)", "let y = Neg(s)"], "where a tensor is wanted"),
    (["let s = Optional()", "let y = OptionalGetElement(s)"], "an optional has no element"),
    (["let s = SplitToSequence(x; axis=7)", "let y = SequenceLength(s)"], "axis 7 of 2 dimensions"),
    (["let s = SplitToSequence(x, zero)", "let y = SequenceLength(s)"], "at least one element"),
    (["let y = SequenceMap(x) {", "  graph body(a) {", "    return a", "  }", "}"], "operand 0 is no sequence"),
])
def test_it_is_refused(lines: list[str], problem: str) -> None:
    graph = graph_of("const zero: int64[] = [0]", "const one: int64[] = [1]", *lines, "return y",
                     inputs="x: float32[3, 4], p: int64[]")
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        resolve_control(graph)
    assert refusal.value.where is not None


@pytest.mark.parametrize("lines", [
    ["let s = If(go) {", "  graph yes() {", "    let a = SequenceConstruct(x)", "    return a", "  }", "  graph no() {",
     "    let b = SequenceConstruct(x)", "    return b", "  }", "}", "let y = SequenceLength(s)"],
    ["let e = SequenceEmpty()", "let s = Loop(n, yes, e) {", "  graph body(i, c, v) {",
     "    let w = SequenceInsert(v, x)", "    let k = Identity(c)", "    return k, w", "  }", "}",
     "let y = SequenceLength(s)"]])
def test_sequences_do_not_cross_control_flow_on_data(lines: list[str]) -> None:
    graph = graph_of("const yes: bool[] = [true]", *lines, "return y",
                     inputs="x: float32[3, 4], go: bool[], n: int64[]")
    with pytest.raises(UnsupportedGraphError, match="a sequence"):
        resolve_control(graph)
    known = bind(graph, values={"go": np.array(True), "n": np.array(2)})
    assert both(known, x=X)["y"] in (1, 2)


def test_a_sequence_inside_of_control_flow_on_data_is_resolved() -> None:
    graph = graph_of("let y = If(go) {", "  graph yes() {", "    let a = SequenceConstruct(x, x)",
                     "    let b = ConcatFromSequence(a; axis=0)", "    return b", "  }", "  graph no() {",
                     "    let c = Concat(x, x; axis=0)", "    return c", "  }", "}", "return y",
                     inputs="x: float32[3, 4], go: bool[]")
    resolved = resolve_control(graph)
    assert [n.op for n in resolved.nodes][:1] == ["Branch"]
    assert np.array_equal(interpret(resolved, {"x": X, "go": np.array(True)})["y"], np.concatenate([X, X]))


def test_a_value_is_not_called_as_an_element() -> None:
    graph = Graph(name="f", inputs=graph_of("return x").inputs, outputs=("s", "s[0]"), nodes=(
        Node.of("SequenceConstruct", ("x",), ("s",)), Node.of("Neg", ("x",), ("s[0]",))))
    for refused in (lambda: resolve_control(graph), lambda: interpret(graph, {"x": X})):
        with pytest.raises(UnsupportedGraphError, match="as if it were an element"):
            refused()


def test_a_graph_without_sequences_stays_as_it_is() -> None:
    graph = graph_of("let y = Neg(x)", "return y")
    assert resolve_sequences(graph) is graph


def test_a_sequence_has_a_limit() -> None:
    graph = graph_of("const n: int64[] = [1]", "let s = SplitToSequence(x, n)", "let y = SequenceLength(s)", "return y",
                     inputs="x: float32[1000000000000]")
    with pytest.raises(UnsupportedGraphError, match="a sequence has 1000000000000 elements"):
        resolve_control(graph)


@pytest.mark.parametrize(("node", "operands"), [
    (Node.of("SequenceAt", ("s", "p"), ("y",)), ([X], np.array(3))),
    (Node.of("SequenceInsert", ("s", "x", "p"), ("y",)), ([X], X, np.array(5))),
    (Node.of("OptionalGetElement", ("s",), ("y",)), (None,)),
    (Node.of("SplitToSequence", ("s", "p"), ("y",)), (X, np.array([1, 1])))])
def test_the_interpreter_refuses_what_does_not_fit(node: Node, operands: tuple[object, ...]) -> None:
    with pytest.raises(UnsupportedGraphError, match="do not fit"):
        run_structured(node, dict(zip(node.inputs, operands, strict=True)))


def test_the_interpreter_refuses_a_sequence_in_place_of_a_tensor() -> None:
    values: dict[str, Any] = {"s": [X]}
    with pytest.raises(UnsupportedGraphError, match="where a tensor is wanted"):
        run_node(Node.of("Neg", ("s",), ("y",)), values)
