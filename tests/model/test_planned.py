"""The plan of a graph as it is compiled."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.graph import from_text, interpret
from polysched.graph.planning.fusion_plan import Verdict, fusion_plan
from polysched.graph.planning.plan import Plan
from polysched.graph.values.graph import Graph
from polysched.model import planned as module
from polysched.model.compiling import compile_graph
from polysched.model.planned import by_default, in_blocks, online_or_whole, planned, prepared, stitched_verdict
from polysched.pipeline.options import PipelineOptions
from polysched.target import Target, host
from tests.graph.passes.control_graphs import loops_in_loops
from tests.tiers import and_campaign

PRODUCT = from_text("""graph f(x: float32[8, 32], w: float32[32, 64]) {
  let a = MatMul(x, w)
  let y = Relu(a)
  return y, y
}""")


def test_an_output_that_is_given_twice_is_made_once() -> None:
    made = planned(PRODUCT)
    assert made.graph.outputs == ("y",)
    assert [n.op for k in made.kernels for n in k.fragment.nodes] == ["MatMul", "Relu"]


def test_a_target_changes_layouts_and_not_the_outputs() -> None:
    assert str(planned(PRODUCT, host()).type_of("y")) == str(planned(PRODUCT).type_of("y"))


SOFTMAX = from_text("""graph f(x: float32[9, 33]) {
  let y = Softmax(x; axis=-1)
  return y
}""")


def test_kernels_by_cost_are_compiled_and_right() -> None:
    inputs = {"x": np.linspace(-3, 3, 9 * 33, dtype=np.float32).reshape(9, 33)}
    model = compile_graph(SOFTMAX, fusion="cost")
    assert len(model.plan.kernels) == 1
    np.testing.assert_allclose(model.run(inputs)["y"], interpret(SOFTMAX, inputs)["y"], rtol=1e-5)
    with pytest.raises(UsageError, match="greedily or by cost"):
        compile_graph(SOFTMAX, fusion="best")


def names(plan: Plan) -> list[list[str]]:
    return [[n.op for n in k.fragment.nodes] for k in plan.kernels]


def test_by_default_kernels_are_by_cost_where_dominators_are_not_better(monkeypatch: pytest.MonkeyPatch) -> None:
    options = PipelineOptions()
    assert len(planned(SOFTMAX, host(), options=options, fusion="auto").kernels) == 1
    assert len(planned(SOFTMAX, host(), options=options, fusion="greedy").kernels) == 4
    monkeypatch.setattr(module, "seconds_of", lambda graph, groups, target, sizes: 0.0)
    worse = planned(SOFTMAX, host(), options=options, fusion="auto")
    assert names(worse) == names(planned(SOFTMAX, host(), options=options, fusion="greedy"))
    assert any(what == "a plan by cost" and "by dominators" in why for what, why in worse.refused)


def test_records_and_large_graphs_keep_the_greedy_rule(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorded = by_default(prepared(SOFTMAX), PipelineOptions(database=str(tmp_path / "records.db")))
    assert isinstance(recorded, str)
    assert "database" in recorded
    monkeypatch.setattr(module, "LIMITS", replace(module.LIMITS, most_nodes_by_cost=2))
    large = by_default(prepared(SOFTMAX), PipelineOptions())
    assert isinstance(large, str)
    assert "5 nodes, more than 2" in large
    open_size = from_text("graph f(x: float32[N, 4]) { let y = Softmax(x; axis=-1) return y }")
    assert by_default(prepared(open_size), PipelineOptions()) == ""
    assert by_default(prepared(open_size), PipelineOptions(), {"M": 7}) == ""


def test_a_verdict_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path))
    fragment = prepared(SOFTMAX)
    first = stitched_verdict(fragment, {}, PipelineOptions())
    assert first.seconds > 0
    monkeypatch.setattr(module, "stitched_fragment", None)
    assert stitched_verdict(fragment, {}, PipelineOptions()) == first


def test_early_outputs_of_plans_by_cost_come_early() -> None:
    graph = from_text("""graph f(x: float32[9, 33], w: float32[33, 33]) {
      let a = MatMul(x, w)
      let b = Softmax(a; axis=-1)
      let c = MatMul(b, w)
      let d = Relu(x)
      return c, d
    }""")
    plan = planned(graph, host(), options=PipelineOptions())
    assert plan.steps[0].outputs == ("d",)


def test_products_of_bytes_are_not_stitched_since_instructions_may_compute_them() -> None:
    fragment = from_text("""graph kernel(x: uint8[32, 64], w: int8[64, 48]) {
      let p = ByteMatMul(x, w; a_zero=3)
      let y = Cast(p; to="float32")
      return y
    }""")
    assert "an instruction may compute its product of bytes" in stitched_verdict(fragment, {}, PipelineOptions()).reason
    plain = PipelineOptions(tensorize=None)
    assert "instruction" not in stitched_verdict(fragment, {}, plain).reason


def test_a_softmax_over_long_rows_is_in_blocks_where_that_is_cheaper(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = from_text("""graph f(q: float32[1, 2, 8], k: float32[1, 8, 131072], v: float32[1, 131072, 8]) {
      let s = MatMul(q, k)
      let p = Softmax(s; axis=-1)
      let y = MatMul(p, v)
      return y
    }""")
    options = PipelineOptions()
    monkeypatch.setattr(module, "stitched_verdict", lambda fragment, sizes, options: Verdict("not asked here"))
    typed = prepared(graph, host())
    online = in_blocks(typed, host())
    assert online is not None
    for seconds, taken in ((1.0, online), (0.0, typed)):
        whole = replace(fusion_plan(typed, host(), patterns=False), seconds=seconds)
        found, plan = online_or_whole(typed, whole, options)
        assert [n.op for n in found.nodes] == [n.op for n in taken.nodes]
        assert any("softmax" in what and "by the model" in why for what, why in plan.refused)
    assert in_blocks(prepared(SOFTMAX, host()), host()) is None


OPEN = """graph f(q: float32[3, N, 8], k: float32[3, 8, N], v: float32[3, N, 8]) {
  let s = MatMul(q, k)
  let p = Softmax(s; axis=-1)
  let y = MatMul(p, v)
  return y
}"""


@pytest.mark.parametrize(("fusion", "sizes", "kernels"), [
    ("auto", None, 6), ("auto", {"N": 64}, 1), ("cost", None, 1), ("greedy", {"N": 64}, 6)])
def test_kernels_of_open_sizes_are_by_the_cost_at_likely_ones(fusion: module.Fusion, sizes: dict[str, int] | None,
                                                              kernels: int) -> None:
    plan = planned(from_text(OPEN), host(), options=PipelineOptions(), fusion=fusion, sizes=sizes)
    assert len(plan.kernels) == kernels


@pytest.mark.parametrize("likely", and_campaign([{"N": 7}], [{"N": (1, 32)}]))
def test_a_stitched_kernel_is_right_at_all_sizes(likely: dict) -> None:
    graph = from_text(OPEN)
    model = compile_graph(graph, likely=likely)
    assert len(model.plan.kernels) == 1
    for n in (1, 2, 7, 16, 33, 130):
        rng = np.random.default_rng(n)
        inputs = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in (
            ("q", (3, n, 8)), ("k", (3, 8, n)), ("v", (3, n, 8)))}
        np.testing.assert_allclose(model.run(inputs)["y"], interpret(graph, inputs)["y"], rtol=2e-5, atol=1e-6)


SEPARABLE = """graph f(x: float32[{n}, 3, {h}, {w}]) {{
  let a = Conv(x, first, b; strides=[2, 2], pads=[1, 1, 1, 1])
  let c = HardSwish(a)
  let d = Conv(c, deep, b; group={m}, pads=[1, 1, 1, 1])
  let e = Relu(d)
  let g = Conv(e, points, b)
  let i = HardSwish(g)
  let j = Conv(i, deep, b; group={m}, pads=[2, 0, 1, 1])
  let y = Conv(j, whole, b; pads=[1, 1, 1, 1])
  return y
}}"""


@pytest.mark.parametrize(("n", "m", "h", "w"), [(1, 16, 14, 14), (2, 32, 13, 22), (1, 48, 9, 33)])
def test_convolutions_pad_what_they_make(n: int, m: int, h: int, w: int) -> None:
    rng = np.random.default_rng(7)
    shapes = {"first": (m, 3, 3, 3), "deep": (m, 1, 3, 3), "points": (m, m, 1, 1), "whole": (m, m, 3, 3), "b": (m,)}
    weights = {name: (rng.normal(size=s) * 0.2).astype(np.float32) for name, s in shapes.items()}
    graph = from_text(SEPARABLE.format(n=n, m=m, h=h, w=w)).but(constants=weights)
    model = compile_graph(graph, fusion="greedy")
    inputs = {"x": rng.normal(size=(n, 3, h, w)).astype(np.float32)}
    for _ in range(2):
        np.testing.assert_allclose(model.run(inputs)["y"], interpret(graph, inputs)["y"], rtol=1e-3, atol=1e-5)
    padded = [k for k in model.plan.kernels if k.fragment.nodes[-1].op == "PadConstant"]
    assert len(padded) == 3, "only the input's padding is a copy"


def test_regions_in_regions_are_planned_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """An order of nodes with early outputs first is planned beside the other one, at every depth."""
    depth, asked = 6, []
    own = module.prepared

    def counted(graph: Graph, target: Target | None = None) -> Graph:
        asked.append(graph.name)
        return own(graph, target)
    monkeypatch.setattr(module, "prepared", counted)
    made = planned(loops_in_loops(depth))
    assert len(asked) == depth + 1
    assert len(made.kernels) == 1
