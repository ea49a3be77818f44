"""Predicted beside simulated traffic of tiled convolutions, for sampled tiles and the model's pick; see README.md.

    python experiments/reproduced/convolution_tiles/run.py
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polysched.dependence import analyse
from polysched.errors import UsageError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.candidates import spearman
from polysched.experiment.claims import Claim, at_least, at_most
from polysched.experiment.tables import markdown_table
from polysched.measure.programs.cache_simulation import predicted_bytes, simulate
from polysched.scheduling import Schedule, pluto
from polysched.scop import from_c_text
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.explain import explanations

HEADINGS = ("layer", "k x h x w x c", "level", "rank correlation", "predicted / simulated", "pick, KiB", "best, KiB",
            "pick / best", "least bytes / best")
PICK = "auto"
LEAST_BYTES = "least bytes"
CORRELATED = 0.8
NEAR_THE_BEST = 1.10
FLOAT_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One convolution of one image: `out` channels of `edge` x `edge` elements from `into` channels."""

    out: int
    edge: int
    into: int
    kernel: int
    stride: int

    @property
    def products(self) -> int:
        return self.out * self.edge**2 * self.into * self.kernel**2

    @property
    def data_bytes(self) -> int:
        """Of the arrays that `text` declares."""
        image = self.stride * self.edge + self.kernel
        return FLOAT_BYTES * (self.out * self.edge**2 + self.out * self.into * self.kernel**2 + self.into * image**2)

    @property
    def sizes(self) -> dict[str, int]:
        return {"k": self.out, "h": self.edge, "w": self.edge, "c": self.into}

    def cut(self, most_products: int) -> Layer:
        """The layer with its largest extent halved until few enough products are left."""
        own = self
        while own.products > most_products:
            name = max(("out", "edge", "into"), key=lambda n: getattr(own, n))
            own = replace(own, **{name: -(-getattr(own, name) // 2)})
        return own

    @property
    def text(self) -> str:
        """C of it; every image has its padding, and the extents of the kernel are numbers."""
        r, s = self.kernel, self.stride
        return f"""
void layer(int k, int h, int w, int c, float Y[k][h][w], float W[k][c][{r}][{r}], float X[c][{s}*h + {r}][{s}*w + {r}])
{{
#pragma scop
    for (int o = 0; o < k; o++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++)
                for (int a = 0; a < c; a++)
                    for (int u = 0; u < {r}; u++)
                        for (int v = 0; v < {r}; v++)
                            Y[o][i][j] += W[o][a][u][v] * X[a][{s}*i + u][{s}*j + v];
#pragma endscop
}}
"""


def cases(settings: Settings) -> list[Case]:
    """The layers; then each layer with the tile that the search takes if time is no matter."""
    layers = settings.config["layers"].items()
    return [*(Case(name=name, parameters={"layer": numbers}) for name, numbers in layers),
            *(Case(name=f"{name}_bytes", parameters={"layer": numbers, "tiles": LEAST_BYTES})
              for name, numbers in layers)]


def machine(caches: tuple[CacheLevel, ...], tiles: str) -> Target:
    """The scalar machine with these caches; for least bytes one for which the search counts lines and nothing else.

    Its loops start at once, no sum waits, and tiles may fill a cache, simulated without sets, to the last byte.
    """
    own = replace(Target(vector_bits=0), caches=caches)
    if tiles != LEAST_BYTES:
        return own
    return replace(own, costs=replace(own.costs, row_cycles=0, usable_share=1.0),
                   ports=replace(own.ports, fma_latency_cycles=0))


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Bytes into each cache, by the models and by simulation, for every tile."""
    config = settings.config
    out, edge, into, kernel, stride = case.parameters["layer"]
    layer = Layer(out=out, edge=edge, into=into, kernel=kernel, stride=stride).cut(config["most_products"])
    caches = tuple(CacheLevel(level=at, size_bytes=size, ways=ways)
                   for at, (size, ways) in enumerate(config["caches"], 1))
    pick = case.parameters.get("tiles", PICK)
    target = machine(caches, pick)
    schedule = pluto(analyse(from_c_text(layer.text), reductions="reassociate"))
    options = TilingOptions(target=target, parameters=layer.sizes, register=False, parallel=False)
    samples = [] if pick == LEAST_BYTES else sampled(
        band_extents(schedule, layer), config["samples"], f"{config['seed']} {case.name}")
    rows = []
    for number, (edges, order) in enumerate([(pick, ()), *samples]):
        report(f"tile {number + 1} of {1 + len(samples)}")
        tiled = tile(schedule, replace(options, sizes="auto" if edges == LEAST_BYTES else edges, order=order))
        said = predicted_bytes(explanations(tiled, target), schedule.scop, layer.sizes)
        levels = simulate(tiled, layer.sizes, caches).levels
        rows.append({"edges": edges, "order": order, "predicted": [said.get(level.level) for level in levels],
                     "simulated": [level.bytes_without_sets for level in levels],
                     "with_sets": [level.bytes_moved for level in levels]})
    return {"sizes": layer.sizes, "data_bytes": layer.data_bytes, "capacities": [c.size_bytes for c in caches],
            "tiles": rows}


def band_extents(schedule: Schedule, layer: Layer) -> list[int]:
    """The extents of the loops of the only band, outermost first; a kernel of one element has no loops of its own."""
    own = {"o": layer.out, "i": layer.edge, "j": layer.edge, "a": layer.into, "u": layer.kernel, "v": layer.kernel}
    tiled = tile(schedule, TilingOptions(sizes=1, register=False, parallel=False, parameters=layer.sizes))
    names = [list(band.plan.nest.loops) for band in explanations(tiled, Target(vector_bits=0)) if band.plan is not None]
    if len(names) != 1 or {name for name, extent in own.items() if extent > 1} - {*names[0]} or {*names[0]} - {*own}:
        raise UsageError("the loops of a convolution form one band", witness=str(names))
    return [own[name] for name in names[0]]


def sampled(extents: Sequence[int], count: int, seed: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Edges and orders of tiles: powers of two up to the extents or the extents, and any order of the tile loops."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        edges = tuple(draw.choice([2**e for e in range(extent.bit_length()) if 2**e < extent] + [extent])
                      for extent in extents)
        found.append((edges, tuple(draw.sample(range(len(extents)), len(extents)))))
    return found


def compared(records: Sequence[Record]) -> Iterator[tuple[Record, int, list[dict[str, Any]]]]:
    """Layers, levels and tiles, where the layer does not fit into the level's cache."""
    for record in (r for r in records if r.done):
        for at, capacity in enumerate(record.values["capacities"]):
            tiles = [t for t in record.values["tiles"] if t["predicted"][at] is not None and t["edges"] != LEAST_BYTES]
            if record.values["data_bytes"] > capacity and len(tiles) > 1:
                yield record, at, tiles


def correlation(tiles: Sequence[dict[str, Any]], at: int) -> float | None:
    """Of ranks, among the samples."""
    own = [t for t in tiles if t["edges"] != PICK]
    return spearman([t["predicted"][at] for t in own], [t["simulated"][at] for t in own])


def distance(tiles: Sequence[dict[str, Any]], at: int) -> float:
    """What the pick moves over what the best of all tiles moves."""
    pick = next(t for t in tiles if t["edges"] == PICK)
    return float(pick["simulated"][at] / max(1, min(t["simulated"][at] for t in tiles)))


def medians(records: Sequence[Record]) -> dict[int, float]:
    """The median of the rank correlations per level, over the layers."""
    found: dict[int, list[float]] = {}
    for _, at, tiles in compared(records):
        if (rho := correlation(tiles, at)) is not None:
            found.setdefault(at + 1, []).append(rho)
    return {level: statistics.median(values) for level, values in sorted(found.items())}


def mean_distance(records: Sequence[Record]) -> float:
    """Geometric, at the last level of caches, for which the tiles are made."""
    own = [(record, at, tiles) for record, at, tiles in compared(records)
           if at == len(record.values["capacities"]) - 1]
    return statistics.geometric_mean([distance(tiles, at) for _, at, tiles in own] or [1.0])


def least_bytes(records: Sequence[Record], record: Record, at: int) -> float | None:
    """What the tile of least bytes of a layer moves over what the best of all its tiles moves; None if not measured."""
    own = next((t["simulated"][at] for r in records if r.done and r.case == f"{record.case}_bytes"
                for t in r.values["tiles"]), None)
    return None if own is None else own / max(1, min(own, *(t["simulated"][at] for t in record.values["tiles"])))


def table(records: Sequence[Record]) -> str:
    rows = []
    for record, at, tiles in compared(records):
        least = least_bytes(records, record, at)
        rho = correlation(tiles, at)
        ratio = statistics.median(t["predicted"][at] / max(1, t["simulated"][at]) for t in tiles)
        pick = next(t for t in tiles if t["edges"] == PICK)
        rows.append([record.case, " x ".join(map(str, record.values["sizes"].values())), f"L{at + 1}",
                     "-" if rho is None else f"{rho:+.2f}", f"{ratio:.2f}", f"{pick['simulated'][at] / 1024:.0f}",
                     f"{min(t['simulated'][at] for t in tiles) / 1024:.0f}", f"{distance(tiles, at):.2f}",
                     "-" if least is None else f"{least:.2f}"])
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or f"reproduced: {_summary(records)}"])


def _summary(records: Sequence[Record]) -> str:
    said = ", ".join(f"{rho:+.2f} at L{level}" for level, rho in medians(records).items()) or "none"
    least = [found for record, at, _ in compared(records) if at == len(record.values["capacities"]) - 1
             and (found := least_bytes(records, record, at)) is not None]
    bytes_alone = f", asked for least bytes {statistics.geometric_mean(least):.2f} times" if least else ""
    return (f"median rank correlation {said}; the pick moves {mean_distance(records):.2f} times what the best tile "
            f"moves into the last cache{bytes_alone}")


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    found = medians(records)
    good = found and min(found.values()) >= CORRELATED and mean_distance(records) <= NEAR_THE_BEST
    return "" if good else f"not reproduced: {_summary(records)}"


def claims(records: Sequence[Record]) -> list[Claim]:
    """What the criterion asks; of these quantities no published value could be looked up."""
    rows = []
    for level, rho in medians(records).items():
        asked, holds = at_least(CORRELATED, rho)
        rows.append(Claim(what=f"rank correlation of predicted and simulated bytes, L{level}, median", ours=rho,
                          published=None, asked=asked, holds=holds))
    found = mean_distance(records)
    asked, holds = at_most(NEAR_THE_BEST, found)
    return [*rows, Claim(what="bytes of the pick / bytes of the best tile, mean", ours=found, published=None,
                         asked=asked, holds=holds,
                         source="the figures of the paper's validation could not be looked up; its artifact holds no "
                                "measured volumes")]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
