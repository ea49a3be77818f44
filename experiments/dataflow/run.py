"""Dataflow over workers: two engines, dispatch ahead, pipelines, and killed workers.  See README.md.

    python experiments/dataflow/run.py
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.distribute import distribute
from polysched.errors import UsageError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import COLOURS, new_figure
from polysched.experiment.tables import markdown_table
from polysched.runtime.dataflow import (
    Cluster,
    FunctionCode,
    Future,
    ModelCode,
    Program,
    Stage,
    kernel_code,
    pipeline,
    run_distributed,
)
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
SECONDS = 300.0


def cases(settings: Settings) -> list[Case]:
    """Both engines by themselves; what is hidden; pipelines on 2 to 4 workers; killed ranks; two programs at once."""
    return [*(Case(name=f"engine_{e}", parameters={"engine": e}) for e in ("ray", "dask")),
            Case(name="ahead", parameters={"ahead": True}),
            *(Case(name=f"pipeline_{w}", parameters={"pipeline": w}) for w in (2, 3, 4)),
            Case(name="killed", parameters={"killed": True}), Case(name="programs", parameters={"programs": True})]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """One case, in a process of its own."""
    config, given = settings.config, case.parameters
    if "engine" in given:
        return getattr(engines(), f"on_{given['engine']}")(config["steps"])
    if "ahead" in given:
        return hidden(config, report)
    if "pipeline" in given:
        return staged(given["pipeline"], config, report)
    return killed(config, report) if "killed" in given else together(config, report)


def engines() -> Any:
    """The module beside this one."""
    spec = importlib.util.spec_from_file_location("dataflow_engines", HERE / "engines.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["dataflow_engines"] = module
    spec.loader.exec_module(module)
    return module


def wait_code() -> FunctionCode:
    """A node that takes a time and adds 1."""
    def wait(value: Any, seconds: float) -> Any:
        import time
        time.sleep(seconds)
        return value + 1
    return FunctionCode(function=wait)


def hidden(config: Any, report: Report) -> dict[str, Any]:
    """Steps on two workers in turn, one by one and sent ahead: for small and large values, and for many items."""
    code, steps, seconds = wait_code(), config["steps"], config["nodes_seconds"]
    told: dict[str, Any] = {}
    with Cluster(workers=2, spares=0) as cluster:
        program = cluster.program("ahead")
        program.load(code)
        for name, size in (("small", 1), ("large", 1 << 17)):
            report(name)
            times: dict[bool, list[float]] = {False: [], True: []}
            for ahead in (False, True) * 4:
                before = len(cluster.ran)
                began, value = time.time(), np.zeros(size)
                for at in range(steps):
                    value = program.call(code, value, seconds, worker=at % 2)
                    if not ahead:
                        value.node.ended.wait(SECONDS)
                right = bool((value.result(SECONDS) == steps).all())
                whole = time.time() - began
                times[ahead].append(whole - sum(r.seconds for r in cluster.ran[before:]))
            one, sent = (min(times[a][1:]) for a in (False, True))
            told |= {f"{name}_right": right, f"{name}_one_by_one_ms": 1e3 * one / steps,
                     f"{name}_ahead_ms": 1e3 * sent / steps, f"{name}_hidden": 1 - sent / one}
        report("pipeline")
        times = {False: [], True: []}
        for ahead in (False, True) * 4:
            before, began = len(cluster.ran), time.time()
            ends = pipeline(program, stages_of(code, seconds), [(0,)] * steps) if ahead else waited(
                program, code, seconds, steps)
            right = all(end.result(SECONDS) == 2 for (end,) in ends)
            whole, ran = time.time() - began, cluster.ran[before:]
            work = [sum(r.seconds for r in ran if r.worker == w) for w in range(2)]
            times[ahead].append(whole - (max(work) + min(work) / steps if ahead else sum(work)))
        one, sent = (min(times[a][1:]) for a in (False, True))
    return {**told, "pipeline_right": right, "pipeline_one_by_one_ms": 1e3 * one / steps,
            "pipeline_ahead_ms": 1e3 * sent / steps, "pipeline_hidden": 1 - sent / one}


def stages_of(code: FunctionCode, seconds: float) -> list[Stage]:
    """Two stages that take as long."""
    return [Stage(code=code, worker=w, constants=(seconds,)) for w in range(2)]


def waited(program: Program, code: FunctionCode, seconds: float, steps: int) -> list[tuple[Future]]:
    """The pipeline's nodes, each sent when the one before it is done."""
    ends = []
    for _ in range(steps):
        value: Any = 0
        for w in range(2):
            value = program.call(code, value, seconds, worker=w)
            value.node.ended.wait(SECONDS)
        ends.append((value,))
    return ends


def staged(workers: int, config: Any, report: Report) -> dict[str, Any]:
    """A pipeline of a kernel, a model, and further kernels, each on its own worker; one worker is killed on the way."""
    scale = kernel_code(scaled())
    size = 64
    x = np.random.default_rng(1).random((size, size), dtype=np.float32)
    model = ModelCode(onnx=model_bytes(size), inputs=("x",), outputs=("y",))
    stages = [Stage(code=FunctionCode(function=lambda a, n=size: (n, a), results=2), worker=0), Stage(
        code=scale, worker=0), Stage(code=model, worker=1),
        *(Stage(code=FunctionCode(function=np.tanh), worker=w) for w in range(2, workers))]
    items = [(x + np.float32(n),) for n in range(config["items"])]
    with Cluster(workers=workers, spares=1) as cluster:
        program = cluster.program("pipeline")
        report("plain")
        plain = [end.result(SECONDS) for (end,) in pipeline(program, stages, items)]
        before = len(cluster.losses)
        report("killed")
        ends = pipeline(program, stages, items)
        cluster.crash(1)
        found = [end.result(SECONDS) for (end,) in ends]
        alone = [expected(scale, model, workers)(*item) for item in items]
        return {"workers": workers, "right": same(plain, alone), "killed_right": same(found, alone),
                "losses": len(cluster.losses) - before, "sent_again": cluster.sent_again}


def expected(scale: Any, model: Any, workers: int) -> Any:
    """The same stages in this process."""
    first, second = scale.load(), model.load()

    def run(x: np.ndarray) -> np.ndarray:
        (y,) = second(*first(len(x), x))
        for _ in range(2, workers):
            y = np.tanh(y)
        return y
    return run


def same(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> bool:
    """Bit for bit."""
    return all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))


def scaled() -> Scop:
    """A kernel of one array."""
    return from_c_text("""void f(int n, float a[n][n]) {
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = 0.5f * a[i][j] - 0.25f;
#pragma endscop
}""")


def model_bytes(size: int) -> bytes:
    """A small model: a product, and a ReLU.

    Raises
    ------
    UsageError : onnx is not installed.
    """
    try:
        import onnx
    except ImportError:
        raise UsageError("the pipeline has a model from ONNX", hint="python -m pip install 'polysched[onnx]'") from None
    helper = onnx.helper
    weights = np.random.default_rng(0).random((size, size), dtype=np.float32) - np.float32(0.5)
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [size, size]) for n in "xy")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"])], "small", [x], [y],
        [onnx.numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model.SerializeToString()


def mixing() -> Scop:
    """Steps that compute long and send rows to neighbours."""
    return from_c_text("""void f(int n, int steps, double A[n][n], double B[n][n], double M[n][n]) {
#pragma scop
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < n; j++) {
      B[i][j] = 0.0;
      for (int k = 0; k < n; k++)
        B[i][j] += (A[i - 1][k] + A[i][k] + A[i + 1][k]) * M[k][j];
    }
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = 0.001 * B[i][j];
}
#pragma endscop
}""")


def killed(config: Any, report: Report) -> dict[str, Any]:
    """Ranks of a distributed program, killed at random moments; extra time in steps of the plain runs between them."""
    at_once = rank_kills(config, report, config["kills_at_once"], {"spare_seconds": 0.0})
    return {**rank_kills(config, report, config["kills"], {}), "spare_at_once": at_once,
            "at_once_right": all(run["same"] for run in at_once["runs"])}


def rank_kills(config: Any, report: Report, kills: int, options: dict[str, Any]) -> dict[str, Any]:
    """As many kills, each behind a plain run."""
    distributed, sizes = distribute(mixing(), "i"), {"n": config["n"], "steps": config["program_steps"]}
    draw = np.random.default_rng(0)
    arrays = {name: draw.random((config["n"], config["n"])) for name in "ABM"}
    runs: list[dict[str, Any]] = []
    with Cluster(workers=2, spares=1, **options) as cluster:
        program = cluster.program("ranks")
        wanted = b""
        for number in range(2 + 2 * kills):   # the first two are warm-ups
            report(f"run {number + 1}")
            before, losses, again = len(cluster.ran), len(cluster.losses), cluster.sent_again
            began = time.time()
            run = run_distributed(program, distributed, arrays, sizes)
            sent, at, timer, worker = time.time(), 0.0, None, int(draw.integers(2))
            if kill := number > 1 and number % 2 == 1:
                at = float(draw.uniform(0.05, 0.95)) * runs[-1]["seconds"]
                timer = threading.Timer(at, cluster.crash, (worker,))
                timer.start()
            result = run.result("A", SECONDS).tobytes()
            seconds, own = time.time() - sent, cluster.ran[before:]
            if timer is not None:
                timer.cancel()   # a run may end before its kill
                timer.join()
            wanted = wanted or result
            again_at = [r.began - sent - at for r in own if kill and r.attempt > 1 and r.worker == worker]
            runs.append({"killed": kill, "at": at, "restarted_seconds": min(again_at, default=None),
                         "seconds": seconds, "same": result == wanted,
                         "losses": len(cluster.losses) - losses, "heard": [x.heard for x in cluster.losses[losses:]],
                         "sent_again": cluster.sent_again - again, "dispatch_seconds": sent - began,
                         "ran": [[r.worker, round(r.began - sent, 4), round(r.seconds, 4), r.attempt] for r in own]})
            cluster.refill()
    return costs(runs[2:], run.nodes // 2)


def costs(runs: list[dict[str, Any]], steps: int) -> dict[str, Any]:
    """What kills cost beyond the median of the plain runs, in seconds, and in steps: a step is a node on each rank."""
    plain = statistics.median(r["seconds"] for r in runs if not r["killed"])
    for r in runs:
        r["costs_seconds"] = r["seconds"] - plain
        r["costs_steps"] = r["costs_seconds"] * steps / plain
    hit = [r for r in runs if r["losses"]]
    told = {"runs": runs, "plain_seconds": plain, "step_seconds": plain / steps, "steps": steps, "kills": len(hit)}
    told["restarted_seconds_median"] = statistics.median(
        r["restarted_seconds"] for r in hit if r["restarted_seconds"] is not None)
    return told | {f"costs_{unit}_{name}": function([r[f"costs_{unit}"] for r in hit]) for unit in ("steps", "seconds")
                   for name, function in (("median", statistics.median), ("most", max))}


def together(config: Any, report: Report) -> dict[str, Any]:
    """Two programs at once on one cluster: results of each alone."""
    distributed, sizes = distribute(mixing(), "i"), {"n": 200, "steps": config["program_steps"]}
    draw = np.random.default_rng(0)
    arrays = {name: draw.random((200, 200)) for name in "ABM"}
    code = wait_code()
    with Cluster(workers=2, spares=0) as cluster:
        first, second = cluster.program("ranks"), cluster.program("chain")
        alone = run_distributed(first, distributed, arrays, sizes).result("A", SECONDS).tobytes()
        report("together")
        before, value = len(cluster.ran), 0
        for at in range(config["steps"]):
            value = second.call(code, value, 0.001, worker=at % 2)
        run = run_distributed(first, distributed, arrays, sizes)
        right = run.result("A", SECONDS).tobytes() == alone and value.result(SECONDS) == config["steps"]
        ran = cluster.ran[before:]
        names = [r.program for r in sorted(ran, key=lambda r: r.began)]
        return {"right": bool(right), "turns": sum(a != b for a, b in pairwise(names))}


def table(records: Sequence[Record]) -> str:
    parts = []
    done = [r for r in records if r.values]
    own = [r for r in done if "engine" in r.parameters]
    if own:
        parts.append(markdown_table(
            ["engine", "start s", "small: one by one ms", "ahead ms", "large: one by one ms", "ahead ms", "to send ms",
             "a kill costs, steps", "right"],
            [[r.parameters["engine"], f"{r.values['start']:.1f}", *(f"{r.values[k]:.2f}" for k in (
                "small_one_by_one_ms", "small_ahead_ms", "large_one_by_one_ms", "large_ahead_ms",
                "small_dispatch_ms", "kill_costs_steps")), r.values["killed_right"]] for r in own]))
    for r in (r for r in done if "ahead" in r.parameters):
        parts.append(markdown_table(
            ["values", "engine's ms a step, one by one", "sent ahead", "hidden", "right"],
            [[n, f"{r.values[f'{n}_one_by_one_ms']:.2f}", f"{r.values[f'{n}_ahead_ms']:.2f}",
              f"{r.values[f'{n}_hidden']:.3f}", r.values[f"{n}_right"]] for n in ("small", "large", "pipeline")]))
    staged_rows = [[r.values["workers"], r.values["right"], r.values["losses"], r.values["killed_right"],
                    r.values["sent_again"]] for r in done if "pipeline" in r.parameters]
    if staged_rows:
        parts.append(markdown_table(["workers", "right", "killed", "right with the kill", "nodes sent again"],
                                    staged_rows))
    for r in (r for r in done if "killed" in r.parameters):
        parts += kill_tables(r.values)
    for r in (r for r in done if "programs" in r.parameters):
        parts.append(f"Two programs at once: right {r.values['right']}, {r.values['turns']} turns between them.")
    return "\n\n".join(parts)


def kill_tables(values: Any) -> list[str]:
    """Kills in short, then one by one."""
    short = markdown_table(
        ["new spare process", "kills", "step ms", "restarted after ms, median", "cost ms, median", "in steps",
         "cost ms, greatest", "in steps"],
        [[name, v["kills"], f"{1e3 * v['step_seconds']:.0f}", f"{1e3 * v['restarted_seconds_median']:.0f}",
          f"{1e3 * v['costs_seconds_median']:.0f}", f"{v['costs_steps_median']:.2f}",
          f"{1e3 * v['costs_seconds_most']:.0f}", f"{v['costs_steps_most']:.2f}"]
         for name, v in (("behind the run", values), ("at once", values["spare_at_once"]))])
    each = markdown_table(
        ["killed at s", "of s", "costs ms", "in steps", "heard by", "nodes sent again", "same bits"],
        [[f"{k['at']:.2f}", f"{k['seconds']:.2f}", f"{1e3 * k['costs_seconds']:.0f}", f"{k['costs_steps']:.2f}",
          ", ".join(k["heard"]), k["sent_again"], k["same"]] for k in values["runs"] if k["killed"]])
    return [short, each]


def nothing(why: str) -> Figure:
    """A figure that says why it is empty."""
    figure, axes = new_figure(width=5.0, height=1.0)
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, ha="center", va="center")
    return figure


def plot(records: Sequence[Record]) -> Figure:
    """Who ran what when: the plain run, and each run with a kill."""
    found = next((r for r in records if "killed" in r.parameters and r.values), None)
    if found is None:
        return nothing("no run with a kill was recorded")
    runs = found.values["runs"][:8]
    figure, first = new_figure(width=8.0, height=1.2 * len(runs) + 0.8)
    first.remove()
    longest = max(run["seconds"] for run in runs)
    for number, run in enumerate(runs):
        axes = figure.add_subplot(len(runs), 1, number + 1)
        for worker, began, seconds, attempt in run["ran"]:
            axes.barh(worker, seconds, left=began, height=0.7, color=COLOURS[2 if attempt > 1 else worker],
                      edgecolor="white", linewidth=0.4)
        if run["killed"]:
            axes.axvline(run["at"], color="black", linewidth=1.2)
        axes.set_xlim(0, longest * 1.02)
        axes.set_yticks([0, 1], ["rank 0", "rank 1"], fontsize="small")
        text = f"killed at {run['at']:.1f} s: {run['costs_steps']:+.2f} steps" if run["killed"] else "not killed"
        axes.set_title(text, fontsize="small", loc="left")
    axes.set_xlabel("seconds; a node that was sent again has its own colour")
    return figure


def verdict(records: Sequence[Record]) -> str:
    """A wrong result fails the run."""
    wrong = [r.case for r in records if r.values and not all(rights(r.values))]
    return f"wrong results: {', '.join(wrong)}" if wrong else ""


def rights(values: Any) -> list[bool]:
    """Every judgement in a record."""
    own = [v for k, v in values.items() if k.endswith("right")]
    return own + [run["same"] for run in values.get("runs", [])]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(HERE), *sys.argv[1:]]))
