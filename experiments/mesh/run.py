"""How near to its bound is a placement on a mesh, and how far from simple ones?  See README.md.

    python experiments/mesh/run.py
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from polysched.errors import PlacementError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.measure.ranks import mpi_command
from polysched.mesh import (
    ManyOperators,
    MeshTarget,
    Message,
    Operator,
    OperatorGraph,
    PlaceOptions,
    Rectangle,
    compute_shift,
    place,
    place_many,
    verify,
    walk,
)
from polysched.mesh.cost import Ledger
from polysched.mesh.exact import fewest_hop_bytes, least_score_of_any

HERE = Path(__file__).parent
METHODS = ("row-major", "greedy", "anneal", "exact")
OTHER = "other shapes"
AIM = 0.8


def beside(name: str) -> ModuleType:
    """A file of this folder as a module."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GRAPHS = beside("graphs").GRAPHS


def cases(settings: Settings) -> list[Case]:
    """The graphs, and the sizes of those with very many operators."""
    config = settings.config
    return [*(Case(name=name, parameters={"graph": name}) for name in GRAPHS),
            *(Case(name=f"brute_{seed}", parameters={"brute": seed}) for seed in range(config["brute"])),
            *(Case(name=f"ranks_{seed}", parameters={"ranks": seed}) for seed in range(config["ranks"])),
            *(Case(name=f"layered_{count}", parameters={"many": count}) for count in config["many"])]


def elementwise(seed: int, count: int, largest: int) -> OperatorGraph:
    """Operators on vectors of 960 bytes; each but the first hears from one or two before it."""
    draw = random.Random(seed)
    operators = tuple(Operator(name=f"o{n}", work=960.0 * draw.randint(1, 9), extents=(1, draw.randint(1, largest)),
                               result=960) for n in range(count))
    pairs = {(draw.randrange(n), n) for n in range(1, count) for _ in range(2)}
    return OperatorGraph(name=f"elementwise{seed}", operators=operators, messages=tuple(
        Message(source=f"o{s}", sink=f"o{t}", bytes=960) for s, t in sorted(pairs)))


def against_all(seed: int) -> dict[str, Any]:
    """CP-SAT and annealing beside every placement of six operators of one core on 3 x 3."""
    draw = random.Random(seed)
    graph, target = elementwise(seed, 6, 1), MeshTarget(rows=3, columns=3)
    graph = OperatorGraph(name=graph.name, operators=graph.operators, messages=tuple(
        Message(source=m.source, sink=m.sink, bytes=draw.randint(1, 60)) for m in graph.messages))
    placement = place(graph, target, PlaceOptions(routing="xy"))
    cores = [Rectangle(r, c, 1, 1) for r in range(3) for c in range(3)]
    ledger = Ledger(graph, target, cores[:6])
    best_hops, best_score = ledger.hop_bytes, ledger.score
    for chosen in itertools.permutations(cores, 6):
        ledger.move({n: r for n, r in enumerate(chosen) if r != ledger.rectangles[n]})
        best_hops, best_score = min(best_hops, ledger.hop_bytes), min(best_score, ledger.score)
    solved = fewest_hop_bytes(graph, placement.shapes, target, placement.rectangles)
    return {"fewest_hop_bytes": best_hops, "solver": solved.bound, "proved": solved.proved, "best_score": best_score,
            "annealed": placement.figures["score"].value, "bound": placement.figures["score"].bound}


def on_ranks(seed: int) -> dict[str, Any]:
    """A placement on 2 x 2 cores, executed by four MPI ranks; bytes on links against the walker's."""
    graph, target = elementwise(seed, 3 + seed % 2, 2), MeshTarget(rows=2, columns=2)
    placement = place(graph, target, PlaceOptions(seed=seed))
    verify(placement)
    walked = {f"{a[0] * 2 + a[1]},{b[0] * 2 + b[1]}": size for (a, b), size in walk(placement).items()}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "placement.json"
        file.write_text(json.dumps(placement.to_json()))
        done = subprocess.run([mpi_command("mpiexec"), "-n", "4", sys.executable, str(HERE / "ranks.py"), str(file)],
                              capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(done.stdout)
    return {"operators": len(graph.operators), "bytes": sum(walked.values()), "results_equal": found["equal"],
            "loads_equal": found["links"] == walked, "used_cores": placement.used_cores}


def layered(count: int) -> ManyOperators:
    """Each operator hears from two of the 200 before it."""
    draw = np.random.default_rng(1)
    sinks = np.tile(np.arange(1, count), 2)
    return ManyOperators(count=count, sources=np.maximum(0, sinks - draw.integers(1, 200, len(sinks))), sinks=sinks,
                         bytes=draw.integers(1, 1000, len(sinks)))


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """The figures of every method with the same shapes; the loads are walked again."""
    if "many" in case.parameters:
        count = case.parameters["many"]
        side = round(count ** 0.5 + 0.499)
        target = MeshTarget(rows=side, columns=side)
        operators = layered(count)
        order = place_many(operators, target, method="order").figures["hop_bytes"]
        began = time.monotonic()
        found = place_many(operators, target).figures["hop_bytes"]
        return {"hop_bytes": {"order": order.value, "partition": found.value}, "bound": order.bound,
                "seconds": time.monotonic() - began}
    if "brute" in case.parameters:
        return against_all(case.parameters["brute"])
    if "ranks" in case.parameters:
        return on_ranks(case.parameters["ranks"])
    return placed(case, settings, report)


def placed(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """A graph by every method with the same shapes, then with shapes that send less."""
    rows, columns = settings.config["mesh"]
    target, graph = MeshTarget(rows=rows, columns=columns, memory=4 << 20), GRAPHS[case.parameters["graph"]]()
    shapes = place(graph, target, PlaceOptions(method="greedy")).shapes
    found: dict[str, Any] = {}
    methods = [m for m in METHODS if m != "exact" or len(graph.operators) <= settings.config["exact_operators"]]
    for method in methods:
        report(method)
        try:
            placement = place(graph, target, PlaceOptions(method=method, shapes=shapes))
        except PlacementError:
            found[method] = None
            continue
        verify(placement)
        found[method] = {name: [f.value, f.bound] for name, f in placement.figures.items()}
    report(OTHER)
    free = place(graph, target)
    verify(free)
    found[OTHER] = {name: [f.value, f.bound] for name, f in free.figures.items()}
    try:
        shifted = compute_shift(graph, target).to_json()
    except PlacementError as error:
        shifted = {"refused": str(error)}
    return {"operators": len(graph.operators), "messages": len(graph.messages), "figures": found,
            "least_score": least_score_of_any(graph, shapes, target), "notes": list(free.notes), "shifted": shifted}


def table(records: Sequence[Record]) -> str:
    rows = []
    for record in [r for r in records if "graph" in r.parameters]:
        figures = record.values["figures"]
        same = [f for method, f in figures.items() if f and method != OTHER]
        for method, its in figures.items():
            if its is None:
                rows.append([record.case, method, *["does not pack"] * 6])
                continue
            score, alike = its["score"][0], [its] if method == OTHER else same
            bound = max(f["score"][1] for f in alike)
            rows.append([record.case, method, f"{score / figures['greedy']['score'][0]:.2f}", f"{score / bound:.3f}",
                         f"{its['largest_load'][0] / its['largest_load'][1]:.2f}",
                         f"{its['hop_bytes'][0] / max(f['hop_bytes'][1] for f in alike):.2f}",
                         f"{its['interval'][0] / its['interval'][1]:.2f}", f"{1e6 * its['latency'][0]:.0f}"])
    least = [_least(r) for r in records if "least_score" in r.values]
    orders = [_orders(r) for r in records if "graph" in r.parameters]
    large = [r for r in records if "many" in r.parameters]
    hops = [r.values["hop_bytes"] for r in large]
    many = [[r.case, f"{h['partition'] / h['order']:.2f}", f"{h['partition'] / r.values['bound']:.1f}",
             f"{r.values['seconds']:.0f}"] for r, h in zip(large, hops, strict=True)]
    brute = [r.values for r in records if "brute" in r.parameters]
    ranks = [r.values for r in records if "ranks" in r.parameters]
    proved = sum(v["proved"] and v["solver"] == v["fewest_hop_bytes"] for v in brute)
    best = sum(v["annealed"] == v["best_score"] for v in brute)
    below = sum(v["bound"] > v["best_score"] for v in brute)
    right = sum(v["results_equal"] and v["loads_equal"] for v in ranks)
    checks = [["graphs on 3x3, every placement tried", len(brute)], ["CP-SAT has the fewest byte hops", proved],
              ["annealing has the best score", best], ["a placement below the bound", below],
              ["placements on 2x2 run as four MPI ranks", len(ranks)],
              ["results and bytes on every link as predicted", right]]
    return "\n\n".join([
        markdown_table(["graph", "method", "score / greedy", "score / bound", "load / bound", "byte hops / bound",
                        "interval / bound", "latency us"], rows),
        markdown_table(["graph", "best score / greedy", "bound of greedy's shapes / greedy",
                        "bound of any shapes as fast / greedy", f"{AIM} of greedy is"], least),
        markdown_table(["graph", "anneal", "row-major pipeline", "compute-shift", "anneal", "layer by layer",
                        "compute-shift", "its bound"], orders),
        markdown_table(["operators", "byte hops / order", "byte hops / bound", "seconds"], many),
        markdown_table(["check", "count"], checks)])


def _least(record: Record) -> list[str]:
    """What was reached of greedy's score, and what no placement is below: of the same shapes, and of any as fast."""
    figures = {method: its["score"] for method, its in record.values["figures"].items() if its}
    greedy, best = figures["greedy"][0], min(value for value, _ in figures.values())
    same = max(bound for method, (_, bound) in figures.items() if method != OTHER)
    any_shapes = record.values["least_score"]
    judged = ("reached" if best <= AIM * greedy else "impossible" if any_shapes > AIM * greedy else
              "impossible with these shapes" if same > AIM * greedy else "open")
    return [record.case, *(f"{score / greedy:.3f}" for score in (best, same, any_shapes)), judged]


def _orders(record: Record) -> list[str]:
    """Intervals, then latencies, in microseconds."""
    figures, shifted = record.values["figures"], record.values["shifted"]

    def of(method: str, name: str) -> str:
        return f"{1e6 * figures[method][name][0]:.0f}" if figures.get(method) else "does not pack"

    whole, bound = ((f"{1e6 * shifted['latency'][key]:.0f}" for key in ("value", "bound")) if "latency" in shifted
                    else ("does not fit", ""))
    return [record.case, of("anneal", "interval"), of("row-major", "interval"), whole, of("anneal", "latency"),
            of("anneal", "layer_by_layer"), whole, bound]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
