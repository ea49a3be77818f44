"""How near to its bound is a placement on a mesh, and how far from simple ones?  See README.md.

    python experiments/mesh/run.py
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import PlacementError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.mesh import (
    ManyOperators,
    MeshTarget,
    Message,
    Operator,
    OperatorGraph,
    PlaceOptions,
    place,
    place_many,
    verify,
)

METHODS = ("row-major", "greedy", "anneal", "exact")
ITEM = 4   # bytes of a float


def cases(settings: Settings) -> list[Case]:
    """The graphs, and the sizes of those with very many operators."""
    return [Case(name=name, parameters={"graph": name}) for name in GRAPHS] + [
        Case(name=f"layered_{count}", parameters={"many": count}) for count in settings.config["many"]]


def product(name: str, m: int, n: int, k: int, *, weights: bool = True) -> Operator:
    """A matrix product `m x k` by `k x n`, the right operand in place or not."""
    return Operator(name=name, work=2.0 * m * n * k, extents=(m, n), weights=ITEM * k * n if weights else 0,
                    result=ITEM * m * n)


def encoder() -> OperatorGraph:
    """One layer of BERT base: 128 words, 768 features, 12 heads, 3072 inside (Devlin et al., 2019)."""
    words, width, heads, inner = 128, 768, 12, 3072
    narrow = width // heads
    operators = [product(name, words, width, width) for name in ("query", "key", "value", "output")]
    operators += [product(f"scores{h}", words, words, narrow, weights=False) for h in range(heads)]
    operators += [product(f"context{h}", words, narrow, words, weights=False) for h in range(heads)]
    operators += [product("widen", words, inner, width), product("narrow", words, width, inner)]
    head, whole = ITEM * words * narrow, ITEM * words * width
    messages = [Message(source="output", sink="widen", bytes=whole, cut="rows"),
                Message(source="widen", sink="narrow", bytes=ITEM * words * inner, cut="rows"),
                Message(source="output", sink="narrow", bytes=whole)]
    for h in range(heads):
        messages += [Message(source="query", sink=f"scores{h}", bytes=head, cut="rows"),
                     Message(source="key", sink=f"scores{h}", bytes=head, cut="columns"),
                     Message(source=f"scores{h}", sink=f"context{h}", bytes=ITEM * words * words, cut="rows"),
                     Message(source="value", sink=f"context{h}", bytes=head, cut="columns"),
                     Message(source=f"context{h}", sink="output", bytes=head, cut="rows")]
    return OperatorGraph(name="encoder", operators=tuple(operators), messages=tuple(messages))


def inception() -> OperatorGraph:
    """Block 3a of GoogLeNet on 28 x 28 points as products of unfolded images (Szegedy et al., 2015, table 1)."""
    points, given = 28 * 28, 192
    sizes = {"one": (given, 64), "three_reduced": (given, 96), "three": (96 * 9, 128), "five_reduced": (given, 16),
             "five": (16 * 25, 32), "pooled": (given, 32)}
    operators = [Operator(name="given", work=points * given, extents=(points, given), result=ITEM * points * given)]
    operators += [product(name, points, n, k) for name, (k, n) in sizes.items()]
    operators.append(Operator(name="joined", work=points * 256, extents=(points, 256), result=ITEM * points * 256))
    whole = ITEM * points
    messages = [Message(source="given", sink=name, bytes=whole * given, cut="rows")
                for name in ("one", "three_reduced", "five_reduced", "pooled")]
    messages += [Message(source=f"{name}_reduced", sink=name, bytes=whole * sizes[f"{name}_reduced"][1], cut="rows")
                 for name in ("three", "five")]
    messages += [Message(source=name, sink="joined", bytes=whole * sizes[name][1])
                 for name in ("one", "three", "five", "pooled")]
    return OperatorGraph(name="inception", operators=tuple(operators), messages=tuple(messages))


def single_cores() -> OperatorGraph:
    """Forty operators of one core each, with 58 messages."""
    draw = random.Random(1)
    operators = tuple(Operator(name=f"o{n}", work=1e6) for n in range(40))
    pairs = [(draw.randrange(max(0, n - 6), n), n) for n in range(1, 40)]
    while len(pairs) < 58:
        sink = draw.randrange(2, 40)
        pair = draw.randrange(max(0, sink - 6), sink), sink
        pairs += [pair] if pair not in pairs else []
    return OperatorGraph(name="single_cores", operators=operators, messages=tuple(
        Message(source=f"o{s}", sink=f"o{t}", bytes=1000 * draw.randint(1, 64)) for s, t in pairs))


GRAPHS = {"encoder": encoder, "inception": inception, "single_cores": single_cores}


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
        placed = {m: place_many(layered(count), target, method=m).figures["hop_bytes"] for m in ("order", "partition")}
        return {"hop_bytes": {m: f.value for m, f in placed.items()}, "bound": placed["order"].bound}
    rows, columns = settings.config["mesh"]
    target, graph = MeshTarget(rows=rows, columns=columns, memory=4 << 20), GRAPHS[case.parameters["graph"]]()
    shapes = place(graph, target, PlaceOptions(method="greedy")).shapes
    found: dict[str, Any] = {}
    for method in METHODS:
        report(method)
        try:
            placement = place(graph, target, PlaceOptions(method=method, shapes=shapes))
        except PlacementError:
            found[method] = None
            continue
        verify(placement)
        found[method] = {name: [f.value, f.bound] for name, f in placement.figures.items()}
    return {"operators": len(graph.operators), "messages": len(graph.messages), "figures": found}


def table(records: Sequence[Record]) -> str:
    rows = []
    for record in [r for r in records if "graph" in r.parameters]:
        figures = record.values["figures"]
        bound = max(f["score"][1] for f in figures.values() if f)
        for method, its in figures.items():
            if its is None:
                rows.append([record.case, method, *["does not pack"] * 5])
                continue
            score = its["score"][0]
            rows.append([record.case, method, f"{score / figures['greedy']['score'][0]:.2f}", f"{score / bound:.2f}",
                         f"{its['hop_bytes'][0] / max(f['hop_bytes'][1] for f in figures.values() if f):.2f}",
                         f"{its['interval'][0] / its['interval'][1]:.2f}", f"{1e6 * its['latency'][0]:.0f}"])
    large = [r for r in records if "many" in r.parameters]
    hops = [r.values["hop_bytes"] for r in large]
    many = [[r.case, f"{h['partition'] / h['order']:.2f}", f"{h['partition'] / r.values['bound']:.1f}"]
            for r, h in zip(large, hops, strict=True)]
    return "\n\n".join([
        markdown_table(["graph", "method", "score / greedy", "score / bound", "byte hops / bound", "interval / bound",
                        "latency us"], rows),
        markdown_table(["operators", "byte hops / order", "byte hops / bound"], many)])


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
