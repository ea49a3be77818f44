"""Latencies of a real-time job beside one of best effort, with and without preemption.  See README.md.

    python experiments/preemption/run.py
"""

from __future__ import annotations

import ctypes
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit_function
from polysched.emit_c.function import CFunction
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import COLOURS, new_figure
from polysched.experiment.tables import markdown_table
from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.workspace import workspace
from polysched.runtime import Job, PreemptibleKernel, Served, ServeOptions, preemptible, serve
from polysched.runtime.kernels import FLAGS
from polysched.scheduling import pluto
from polysched.scop.expression import build, placeholder, symbols
from polysched.scop.expression.operators import matmul
from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.tiling import TilingOptions, tile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WAYS = {"run to completion": ServeOptions(preempt=False), "yield": ServeOptions(),
        "yield or reset": ServeOptions(reset=True),
        "yield, two threads": ServeOptions(workers=2), "yield, two threads, no padding": ServeOptions(
            workers=2, pad=False),
        "yield, two threads, padding by the model": ServeOptions(workers=2, most_rise=0.1)}
TEST = "__atomic_load_n(polysched_stop, __ATOMIC_RELAXED)"
"""Of the flag, in a kernel that can be stopped."""
REEF_RISE, REEF_GAIN = 0.02, 7.7
"""Han et al., "Microsecond-scale preemption for concurrent GPU-accelerated DNN inferences", OSDI 2022, abstract."""


def cases(settings: Settings) -> list[Case]:
    """The cost of the poll; then every way of sharing, for every edge of tiles, with and without SCHED_FIFO."""
    tiles = settings.config["tiles"]
    return [*(Case(name=f"poll_{t}", parameters={"poll": t}) for t in tiles),
            *(Case(name=f"{way.replace(' ', '_').replace(',', '')}_{t}_{'fifo' if fifo else 'ordinary'}",
                   parameters={"way": way, "tiles": t, "fifo": fifo}) for fifo in (False, True) for t in tiles
              for way in WAYS)]


def product() -> Scop:
    """A matrix product of floats."""
    m, n, k = symbols("m n k")
    return build(matmul(placeholder("a", (m, k), "float32"), placeholder("b", (k, n), "float32")), name="product")


def operands(kernel: PreemptibleKernel, size: int) -> dict[str, np.ndarray]:
    """Square matrices for a product."""
    draw = np.random.default_rng(size)
    return {a.name: draw.random((size, size), dtype=np.float32) for a in kernel.scop.arrays}


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """One way of sharing, beside the real-time job alone and the other job alone, in one process."""
    config = settings.config
    if "poll" in case.parameters:
        return polled(case.parameters["poll"], config["patient"], config["calls"])
    way, fifo = WAYS[case.parameters["way"]], case.parameters["fifo"]
    options = replace(way, fifo=fifo)
    report("compiling")
    kernel = preemptible(product(), tiles=case.parameters["tiles"])
    urgent = Job(name="urgent", kernel=kernel, arguments=operands(kernel, config["urgent"]), period=config["period"],
                 requests=config["requests"])
    patient = Job(name="patient", kernel=kernel, arguments=operands(kernel, config["patient"]))
    few = Job(name="patient", kernel=kernel, arguments=patient.arguments, requests=20)
    serve([few], options)
    report("alone")
    alone, undisturbed = serve([urgent], options), serve([few], options)
    report("together")
    together = serve([urgent, patient], options)
    rate = 20 / undisturbed.seconds
    left = together.seconds - together["urgent"].seconds
    own = alone["urgent"].seconds / config["requests"]
    gain = 1 + together["patient"].runs * (undisturbed["patient"].seconds / 20) / (config["requests"] * own)
    rise = float(np.mean(together["urgent"].latencies) / np.mean(alone["urgent"].latencies)) - 1
    return {"fifo": together.fifo, "gain": gain, "rise": rise, "resets": together["patient"].resets,
            "beside": together["patient"].beside,
            "alone_latencies": np.round(alone["urgent"].latencies, 7).tolist(),
            "alone": quantiles(alone), "together": quantiles(together),
            "latencies": np.round(together["urgent"].latencies, 7).tolist(),
            "yields": len(together.yields), "yield_median": float(np.median(together.yields)) if len(
                together.yields) else None, "kept": together["patient"].runs / (rate * left)}


def quantiles(served: Served) -> list[float]:
    """Median and 99th percentile of the latencies, in seconds."""
    return [float(q) for q in np.quantile(served["urgent"].latencies, (0.5, 0.99))]


def polled(tiles: int, size: int, calls: int) -> dict[str, Any]:
    """Seconds of a kernel, of its code without the test of the flag, of ordinary code; the least of calls in turn."""
    kernel = preemptible(product(), tiles=tiles)
    arguments = operands(kernel, size)
    packed, stop, done = kernel.packed(arguments), ctypes.c_int(0), ctypes.c_long(0)
    untested = replace(kernel.function, text=kernel.function.text.replace(TEST, "0"))
    assert untested.text != kernel.function.text
    ordinary = emit_function(tile(pluto(analyse(product())), TilingOptions(sizes=tiles)), name="ordinary",
                             options=EmitOptions(openmp=False, comments=False))
    called = {"flag": lambda: kernel.entry(packed.addresses, stop, done),
              **{name: compiled(function, arguments, size)
                 for name, function in (("plain", untested), ("ordinary", ordinary))}}
    least = dict.fromkeys(called, math.inf)
    for _ in range(calls):
        for name, call in called.items():
            least[name] = min(least[name], seconds_of(call))
    return least


def compiled(function: CFunction, arguments: Mapping[str, np.ndarray], size: int) -> Callable[[], Any]:
    """A call of a function with square matrices."""
    with workspace() as folder:
        compile_shared("#pragma GCC visibility push(default)\n" + function.text, name="plain", folder=folder,
                       compiler=find_compiler(None), flags=FLAGS, openmp=False)
        entry = getattr(ctypes.CDLL(str(folder / "plain.so")), function.signature.name)
    own = function.signature.parameters
    entry.argtypes = [ctypes.c_void_p if p.name in arguments else ctypes.c_long for p in own]
    given = [arguments[p.name].ctypes.data if p.name in arguments else size for p in own]
    return lambda: entry(*given)


def seconds_of(call: Callable[[], Any]) -> float:
    """Seconds of a call: some kernels count processor time by ticks of 4 ms, which is longer than a call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def table(records: Sequence[Record]) -> str:
    polls = [[r.parameters["poll"], f"{1e3 * r.values['plain']:.2f}",
              f"{100 * (r.values['flag'] / r.values['plain'] - 1):+.1f}", f"{1e3 * r.values['ordinary']:.2f}"]
             for r in records if "poll" in r.parameters]
    rows = []
    for r in (r for r in records if "way" in r.parameters):
        values = r.values
        policy = "FIFO" if values["fifo"] else "refused" if r.parameters["fifo"] else "ordinary"
        yielded = values["yield_median"]
        rows.append([r.parameters["way"], r.parameters["tiles"], policy, f"{1e6 * values['alone'][1]:.0f}",
                     f"{1e6 * values['together'][0]:.0f}", f"{1e6 * values['together'][1]:.0f}",
                     f"{values['together'][1] / values['alone'][1]:.2f}", f"{100 * values['rise']:+.1f}",
                     f"{values['gain']:.2f}", values["yields"], values["resets"],
                     "" if yielded is None else f"{1e6 * yielded:.0f}", f"{values['kept']:.2f}"])
    return "\n\n".join([
        markdown_table(["tiles", "without the test ms", "flag, % more", "ordinary code ms"], polls),
        markdown_table(["way", "tiles", "threads", "alone p99 us", "median us", "p99 us", "p99 / alone",
                        "mean, % more", "throughput", "yields", "resets", "yield median us",
                        "best effort kept"], rows)])


def plot(records: Sequence[Record]) -> Figure:
    """Distributions of latencies per tile and policy; the trade of latency against throughput, and REEF's."""
    rows = [r for r in records if "way" in r.parameters and r.values]
    if not rows:
        figure, axes = new_figure(width=5.0, height=1.0)
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no latencies were recorded", ha="center", va="center")
        return figure
    panels = list(dict.fromkeys((r.parameters["fifo"], r.parameters["tiles"]) for r in rows))
    columns = min(3, len(panels))
    height = -(-len(panels) // columns)
    figure, first = new_figure(width=max(8.0, 4.0 * columns), height=2.8 * (height + 1))
    first.remove()
    for number, (fifo, tiles) in enumerate(panels):
        axes = figure.add_subplot(height + 1, columns, number + 1)
        own = [r for r in rows if (r.parameters["fifo"], r.parameters["tiles"]) == (fifo, tiles)]
        distribution(axes, "alone", own[0].values["alone_latencies"], "black")
        for r in own:
            at = list(WAYS).index(r.parameters["way"])
            distribution(axes, r.parameters["way"], r.values["latencies"], COLOURS[at % len(COLOURS)])
        axes.set_xscale("log")
        policy = ("SCHED_FIFO" if own[0].values["fifo"] else "SCHED_FIFO refused") if fifo else "ordinary threads"
        axes.set_title(f"tiles of {tiles}, {policy}", fontsize="small")
        axes.set_xlabel("latency, us", fontsize="small")
        axes.set_ylabel("share of requests that are later", fontsize="x-small")
        axes.set_yscale("log")
        if not number:
            axes.legend(fontsize="x-small")
    trade(figure.add_subplot(height + 1, 1, height + 1), rows)
    return figure


def distribution(axes: Any, label: str, latencies: Sequence[float], colour: str) -> None:
    """The share of requests that are later than a latency."""
    late = np.sort(latencies)
    axes.step(1e6 * late, 1 - np.arange(len(late)) / len(late), label=label, color=colour, linewidth=1.0)


def trade(axes: Any, rows: Sequence[Record]) -> None:
    """What the real-time job pays and what the machine gains; the star is what REEF's paper reports of a GPU."""
    for at, way in enumerate(WAYS):
        own = [r for r in rows if r.parameters["way"] == way]
        axes.scatter([100 * r.values["rise"] for r in own], [r.values["gain"] for r in own], s=18, label=way,
                     color=COLOURS[at % len(COLOURS)])
    axes.scatter([100 * REEF_RISE], [REEF_GAIN], marker="*", s=90, color="black", label="REEF on a GPU (its paper)")
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlabel("mean latency of the real-time job, % more than alone", fontsize="small")
    axes.set_ylabel("throughput, times\nthat of it alone", fontsize="small")
    axes.legend(fontsize="x-small", ncols=3)


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
