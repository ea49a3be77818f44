"""Kernels, bytes and times of fusion plans by cost beside greedy fusion.  See README.md.

    python experiments/models/run.py
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polysched.errors import PolyschedError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.graph import from_text, interpret, load
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.fusion import fuse_by_dominators
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import with_types
from polysched.graph.planning.fusion_plan import FusionPlan, fusion_plan
from polysched.graph.values.graph import Graph
from polysched.model import compile_graph
from polysched.model.planned import planned_by_cost
from polysched.model.verification import by_onnxruntime, differences, random_inputs, timed
from polysched.pipeline.options import PipelineOptions


def layer_norm(value: str, result: str, rows: str) -> str:
    """Layer norm in primitives over the last dimension."""
    names = {name: f"{result}_{name}" for name in ("m", "d", "q", "v", "e", "s", "n", "a")}
    return """  let {m} = ReduceMean({x}, last; keepdims=1)
  let {d} = Sub({x}, {m})
  let {q} = Mul({d}, {d})
  let {v} = ReduceMean({q}, last; keepdims=1)
  let {e} = Add({v}, eps)
  let {s} = Sqrt({e})
  let {n} = Div({d}, {s})
  let {a} = Mul({n}, {y}_gain)
  let {y} = Add({a}, {y}_bias)
""".format(x=value, y=result, **names)


CONSTANTS = """  const last: int64[1] = [-1]
  const eps: float32[1] = [0.00001]
"""

ATTENTION = """  let scores = MatMul(q, k)
  let scaled = Mul(scores, scale)
  let weights = Softmax(scaled; axis=-1)
  let mixed = MatMul(weights, v)
"""

GRAPHS = {
    "layer norm": f"""graph g(x: float32[512, 768], y_gain: float32[768], y_bias: float32[768]) {{
{CONSTANTS}{layer_norm("x", "y", "512")}  return y
}}""",
    "softmax": """graph g(x: float32[512, 1024]) {
  let y = Softmax(x; axis=-1)
  return y
}""",
    "lstm step": """graph g(x: float32[16, 128], h: float32[16, 128], c: float32[16, 128],
        w: float32[4, 128, 128], r: float32[4, 128, 128], b: float32[4, 1, 128]) {
  const i0: int64[1] = [0]
  const i1: int64[1] = [1]
  const i2: int64[1] = [2]
  const i3: int64[1] = [3]
  const i4: int64[1] = [4]
  let xw = MatMul(x, w)
  let hr = MatMul(h, r)
  let z = Add(xw, hr)
  let zb = Add(z, b)
  let zi = Slice(zb, i0, i1, i0)
  let zf = Slice(zb, i1, i2, i0)
  let zg = Slice(zb, i2, i3, i0)
  let zo = Slice(zb, i3, i4, i0)
  let si = Sigmoid(zi)
  let sf = Sigmoid(zf)
  let tg = Tanh(zg)
  let so = Sigmoid(zo)
  let kept = Mul(sf, c)
  let new = Mul(si, tg)
  let next_c = Add(kept, new)
  let tc = Tanh(next_c)
  let next_h = Mul(so, tc)
  return next_h, next_c
}""",
    "attention": f"""graph g(q: float32[12, 256, 32], k: float32[12, 32, 256], v: float32[12, 256, 32]) {{
  const scale: float32[1] = [0.1767767]
{ATTENTION}  return mixed
}}""",
    "bert layer": f"""graph g(x: float32[128, 256], wq: float32[8, 256, 32], wk: float32[8, 256, 32],
        wv: float32[8, 256, 32],
        wo: float32[8, 32, 256], w1: float32[256, 1024], b1: float32[1024], w2: float32[1024, 256], b2: float32[256],
        one_gain: float32[256], one_bias: float32[256], two_gain: float32[256], two_bias: float32[256]) {{
  const scale: float32[1] = [0.1767767]
  const heads: int64[1] = [0]
{CONSTANTS}  let q = MatMul(x, wq)
  let kt = MatMul(x, wk)
  let k = Transpose(kt; perm=[0, 2, 1])
  let v = MatMul(x, wv)
{ATTENTION}  let parts = MatMul(mixed, wo)
  let summed = ReduceSum(parts, heads; keepdims=0)
  let r1 = Add(summed, x)
{layer_norm("r1", "one", "128")}  let h1 = MatMul(one, w1)
  let h2 = Add(h1, b1)
  let h3 = Relu(h2)
  let h4 = MatMul(h3, w2)
  let h5 = Add(h4, b2)
  let r2 = Add(h5, one)
{layer_norm("r2", "two", "128")}  return two
}}""",
    "mobilenet block": """graph g(x: float32[1, 32, 28, 28], w1: float32[64, 32, 1, 1], b1: float32[64],
        w2: float32[64, 1, 3, 3], b2: float32[64], w3: float32[32, 64, 1, 1], b3: float32[32]) {
  let a1 = Conv(x, w1, b1)
  let a2 = Relu(a1)
  let a3 = Conv(a2, w2, b2; group=64, pads=[1, 1, 1, 1])
  let a4 = Relu(a3)
  let a5 = Conv(a4, w3, b3)
  let y = Add(a5, x)
  return y
}"""}


DECODE = "decode loop"
BY_LENGTH = ("mlp by length", "attention by length")


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={}) for name in (*GRAPHS, DECODE, *BY_LENGTH)]


def by_dominators(graph: Graph) -> int:
    """Kernels of TVM's rule."""
    fused = fuse_by_dominators(graph)
    return sum(1 for node in fused.nodes if node.regions or not operator_of(node).view)


def plans(graph: Graph, options: PipelineOptions) -> tuple[FusionPlan, dict[str, Any]]:
    """The plan by cost, and the counts of all plans."""
    found = planned_by_cost(graph, options)
    alone = fusion_plan(graph, options.target(), patterns=False)
    return found, {
        "greedy_kernels": len(alone.kernels), "greedy_bytes": alone.bytes_moved,
        "dominator_kernels": by_dominators(graph),
        "cost_kernels": len(found.kernels), "cost_bytes": found.bytes_moved,
        "compulsory_bytes": found.bytes_compulsory, "plan": str(found)}


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """One graph: its plans, the results of the one by cost, and the times of both."""
    os.environ["OMP_NUM_THREADS"] = str(settings.threads[0])
    if case.name == DECODE:
        return decoded(settings.threads[0], report)
    if case.name in BY_LENGTH:
        from lengths import measured_by_length
        return measured_by_length(case.name, settings.threads[0], report)
    graph, options = from_text(GRAPHS[case.name]), PipelineOptions()
    values = plans(with_types(standard(graph)), options)[1]
    report("compiling")
    try:
        by_cost, greedy = (compile_graph(graph, options=options, fusion=fusion) for fusion in ("cost", "greedy"))
    except PolyschedError as refusal:
        return values | {"refused": refusal.problem}
    arrays = random_inputs(graph)
    report("comparing")
    wanted = interpret(graph, arrays)
    wrong = [d.output for d in differences(by_cost.run(arrays), wanted) if d.place is not None]
    report("timing")
    times = timed(by_cost.run, greedy.run, arrays)
    return values | {"wrong": wrong, "seconds": times.seconds, "ratio": times.ratio, "interval": list(times.interval)}


def decoded(threads: int, report: Report) -> dict[str, Any]:
    """The model whose loop ends by data, compiled whole, beside ONNX Runtime."""
    import onnx
    from decoding import decode_inputs, decode_loop
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "decode.onnx"
        onnx.save(decode_loop(), file)
        report("compiling")
        model, other, arrays = compile_graph(load(file)), by_onnxruntime(file, threads), decode_inputs()
        report("comparing")
        wrong = [d.output for d in differences(model.run(arrays), other(arrays)) if d.place is not None]
        report("timing")
        times = timed(model.run, other, arrays)
    return {"wrong": wrong, "kernels": len(model.plan.kernels), "plan": str(model.plan), "seconds": times.seconds,
            "ratio": times.ratio, "interval": list(times.interval)}


def control_table(records: Sequence[Record]) -> str:
    """A row per model with control flow."""
    rows = [[r.case, str(r.values["kernels"]), "wrong" if r.values["wrong"] else "right", f"{r.values['ratio']:.2f}"]
            for r in records]
    return markdown_table(["model", "kernels", "results", "times as fast as ONNX Runtime"], rows) + "\n"


def length_table(records: Sequence[Record]) -> str:
    """A row per model and length."""
    from lengths import HEAD, length_rows
    return markdown_table(HEAD, [row for r in records for row in length_rows(r.case, r.values)]) + "\n"


def table(records: Sequence[Record]) -> str:
    """A row per graph."""
    rows, control = [], [r for r in records if r.case == DECODE]
    lengths = [r for r in records if r.case in BY_LENGTH]
    for record in (r for r in records if r.case not in (DECODE, *BY_LENGTH)):
        value = record.values
        result = "refused" if "refused" in value else "wrong" if value["wrong"] else "right"
        rows.append([record.case, str(value["greedy_kernels"]), str(value["dominator_kernels"]),
                     str(value["cost_kernels"]),
                     f"{value['greedy_bytes'] / value['compulsory_bytes']:.2f}",
                     f"{value['cost_bytes'] / value['compulsory_bytes']:.2f}", result,
                     f"{value['ratio']:.2f}" if "ratio" in value else ""])
    head = ["graph", "kernels: greedy", "dominators", "by cost", "bytes / compulsory: greedy", "by cost", "results",
            "times as fast as greedy"]
    return "\n".join([*([markdown_table(head, rows) + "\n"] if rows else []),
                      *([control_table(control)] if control else []), *([length_table(lengths)] if lengths else [])])


def verdict(records: Sequence[Record]) -> str:
    """Why the run is a failure."""
    wrong = [r.case for r in records if r.values.get("wrong")]
    return f"wrong outputs: {', '.join(wrong)}" if wrong else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, times_calls=False)
