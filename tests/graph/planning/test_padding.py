"""Kernels write into their padded result; what is around it are copies."""

import numpy as np
import pytest

from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.simple import with_types
from polysched.graph.planning.expressions import has_stages, is_epilogue, scop_of
from polysched.graph.planning.padding import padded_in_place
from polysched.graph.planning.partition import Beside, fragment_of, partition
from polysched.graph.planning.plan import plan
from polysched.graph.values.graph import Graph
from tests.graph.samples import read_plan

TEXT = """graph f(x: float32[1, 2, 4, 4], w: float32[3, 2, 1, 1]) {{
  const z: float32[] = [0.5]
  const axes: int64[1] = [1]
  {}
  let y = PadConstant(s, z; before=[0, 0, 1, 2], behind=[0, 1, 0, 1])
  return {}
}}"""


def graph(*lines: str, outputs: str = "y") -> Graph:
    return with_types(from_text(TEXT.format("\n  ".join(lines), outputs)))


def groups(made: Graph) -> list[str]:
    inferred = infer(made)
    found = padded_in_place(made, partition(made, inferred), inferred)
    return [" ".join(n.op for n in g.nodes) for g in found if not isinstance(g, Beside)]


@pytest.mark.parametrize(("lines", "wanted"), [
    (("let c = Conv(x, w)", "let s = Relu(c)"), "Conv Relu PadConstant"),
    (("let s = Conv(x, w)",), "Conv PadConstant"),
    (("let s = Exp(x)",), "Exp PadConstant"),
    (("let c = Conv(x, w)", "let e = Sigmoid(c)", "let s = Mul(c, e)"), "Conv Sigmoid Mul PadConstant")])
def test_what_is_only_padded_is_made_in_its_place(lines: tuple[str, ...], wanted: str) -> None:
    made = graph(*lines)
    assert groups(made) == [wanted]
    steps = plan(made)
    assert [type(step).__name__ for step in steps.steps] == ["Copies", "Kernel"]
    assert (steps.steps[0].inputs, steps.steps[0].outputs, steps.steps[1].outputs) == (("z",), ("y",), ("y",))
    arrays = {n: np.random.default_rng(1).normal(size=t.extents).astype(np.float32) for n, t in made.inputs}
    np.testing.assert_allclose(read_plan(steps, arrays)["y"], interpret(made, arrays)["y"], rtol=1e-5)


@pytest.mark.parametrize(("lines", "outputs"), [
    (("let s = Relu(x)", "let t = Neg(s)"), "y, t"), (("let s = Relu(x)",), "s, y"),
    (("let s = ReduceMax(x, axes)",), "y"), (("let s = Concat(x, x; axis=1)",), "y"), (("let s = Transpose(x)",), "y")])
def test_what_something_else_reads_or_no_epilogue_makes_is_copied(lines: tuple[str, ...], outputs: str) -> None:
    assert "PadConstant" in groups(graph(*lines, outputs=outputs))


def test_an_open_size_is_copied() -> None:
    made = with_types(from_text("""graph f(x: float32[N, 4]) {
  const z: float32[] = [0.0]
  let s = Exp(x)
  let y = PadConstant(s, z; before=[1, 0], behind=[0, 1])
  return y
}"""))
    assert groups(made) == ["Exp", "PadConstant"]


def test_a_kernel_writes_nothing_around_its_result() -> None:
    made = graph("let c = Conv(x, w)", "let s = Relu(c)")
    inferred = infer(made)
    (group,) = padded_in_place(made, partition(made, inferred), inferred)
    assert not isinstance(group, Beside)
    fragment = fragment_of(made, group, inferred)[0]
    assert is_epilogue(fragment)
    assert not has_stages(fragment)
    scop = scop_of(fragment)
    (written,) = [a for s in scop.statements for a in s.writes if a.array == "y0"]
    assert written.relation.range().count_val().to_python() == 3 * 4 * 4


CHAIN = """graph f(x: float32[1, 2, 4, 4]) {{
  const z: float32[] = [0.5]
  const o: float32[] = [{other}]
  const axes: int64[1] = [1]
  let a = Relu(x)
  let p = PadConstant(a, z; before=[0, 0, 1, 1], behind=[0, 0, 1, 1])
  let s = MaxPool(p; kernel_shape=[3, 3])
  let b = Transpose(s; perm=[0, 1, 3, 2])
  {between}
  let d = Neg({last})
  let q = PadConstant(d, o; before=[0, 0, 1, 1], behind=[0, 0, 1, 1])
  let y = MaxPool(q; kernel_shape=[3, 3])
  return y
}}"""
WIDE = "let m = Concat(b, b, b, b; axis=1)\n  let c = ReduceMax(m, axes; keepdims=1)\n  let n = Add(b, c)"


@pytest.mark.parametrize(("other", "between", "last", "lasting"), [
    ("0.5", "", "b", 1), ("0.25", "", "b", 0), ("0.5", WIDE, "n", 0)])
def test_a_border_that_stands_there_is_not_written_again(other: str, between: str, last: str, lasting: int) -> None:
    made = plan(with_types(from_text(CHAIN.format(other=other, between=between, last=last))))
    assert made.arena.offsets["p"] == made.arena.offsets["q"]
    assert len(made.lasting) == lasting
    assert all(step.output == "q" for step in made.lasting)


def test_open_sizes_have_no_lasting_borders() -> None:
    made = plan(with_types(from_text("graph f(x: float32[N, 4]) {\n  let y = Exp(x)\n  return y\n}")))
    assert made.lasting == frozenset()


def test_the_result_of_control_flow_is_padded_by_a_copy() -> None:
    graph = from_text("""graph f(x: float32[2, 3], c: bool[]) {
  const z: float32[] = [0.5]
  let b = Branch(c, x) {
    graph yes(t) {
      let e = Exp(t)
      return e
    }
    graph no(t) {
      return t
    }
  }
  let y = PadConstant(b, z; before=[1, 0], behind=[0, 1])
  return y
}""")
    assert [type(step).__name__ for step in plan(with_types(graph), regions=lambda r: plan(with_types(r))).steps] == [
        "Either", "Copies"]
