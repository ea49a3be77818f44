"""Does the projected cost model rank tile sizes as the machine does?

For every kernel and every tile in a grid (and the model's own pick) the emitted code is verified, run on one
thread and timed; the model predicts the same nests without running them.  Reported per kernel: the rank
correlation (Spearman) of predicted and measured time, and how much slower the model's pick is than the best
measured tile.

    python experiments/tile_model/run.py [--results results.json] [--plot plot.svg] [--pairs 3] [KERNEL ...]

Times are CPU seconds of the running thread, so other load on the machine disturbs them little.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, splice
from polysched.errors import PolyschedError
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.scheduling import pluto
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_file
from polysched.target import host
from polysched.tiling import TiledSchedule, TilingOptions, tile
from polysched.tiling.cost_models import Projected, SpeedOfLight

KERNELS = Path(__file__).parents[2] / "tests/kernels"
SIZES: dict[str, dict[str, int]] = {
    "mm2": {"m": 500, "n": 500, "k": 500, "l": 500},
    "trmm": {"m": 600, "n": 600},
    "symm": {"m": 500, "n": 500},
    "syrk": {"n": 500, "m": 500},
    "lu": {"n": 600},
    "seidel_2d": {"sweeps": 40, "n": 1000},
    "jacobi_2d": {"steps": 50, "m": 1200, "n": 1200},
}
GRID: tuple[tuple[int, ...], ...] = (
    (8, 8, 8), (16, 16, 16), (32, 32, 32), (64, 64, 64), (128, 128, 128), (16, 32, 256), (32, 256, 32), (256, 32, 32),
    (8, 64, 512))


@dataclass(frozen=True)
class Candidate:
    """One tile of one kernel: predicted seconds, and the measured ones of every repeat."""

    edges: tuple[int, ...] | str
    predicted_seconds: float
    measured_seconds: tuple[float, ...]
    verified: bool

    @property
    def seconds(self) -> float:
        return statistics.median(self.measured_seconds)


def main(arguments: Sequence[str]) -> int:
    """Run the experiment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", default=list(SIZES))
    parser.add_argument("--results", default="results.json")
    parser.add_argument("--plot", default="plot.svg")
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args(arguments)
    found: dict[str, list[Candidate]] = {}
    for kernel in options.kernels:
        found[kernel] = measure_kernel(kernel, options.pairs)
        print(summary(kernel, found[kernel]), flush=True)
        write(Path(options.results), found)
        Path(options.plot).write_text(plot(found))
    return 0


def measure_kernel(kernel: str, pairs: int) -> list[Candidate]:
    """Every tile of the grid, and the model's pick under the name `auto`."""
    scop = from_c_file(KERNELS / f"{kernel}.c")
    schedule = pluto(analyse(scop))
    candidates = []
    for edges in ("auto", *GRID):
        try:
            candidates.append(measure(schedule, edges, SIZES[kernel], pairs))
        except PolyschedError as error:
            print(f"{kernel} {edges}: {error.problem}", file=sys.stderr)
    return candidates


def measure(schedule: Schedule, edges: tuple[int, ...] | str, sizes: Mapping[str, int], pairs: int) -> Candidate:
    """Tile, emit, verify and time one candidate on one thread."""
    scop = schedule.scop
    tiled = tile(schedule, TilingOptions(sizes=edges, parallel=False, parameters=sizes))
    assert scop.source is not None
    text = splice(scop.source.text, [emit(tiled, options=EmitOptions(openmp=False, vector_bits=host().vector_bits))])
    measured = compare_and_time(Subject(scops=(scop,), transformed_text=text), sizes,
                                options=MeasureOptions(threads=1, pairs=pairs, budget_seconds=30))
    if measured.timing is None:
        raise PolyschedError(f"no time: {measured.failure or 'not verified'}")
    return Candidate(edges=edges, predicted_seconds=predict(tiled), verified=measured.verified,
                     measured_seconds=tuple(s.thread_cpu_seconds for s in measured.timing.transformed))


def predict(tiled: TiledSchedule) -> float:
    """Projected seconds of all tiled bands; untiled ones cost the same for every candidate."""
    model = Projected(target=host())
    return sum(model.seconds(band.plan) for band in tiled.bands if band.plan is not None)


def rank_correlation(candidates: Sequence[Candidate]) -> float:
    """Spearman's rho of predicted and measured seconds."""
    def ranks(values: Sequence[float]) -> list[float]:
        order = sorted(values)
        return [statistics.mean(i for i, other in enumerate(order) if other == value) for value in values]
    return statistics.correlation(ranks([c.predicted_seconds for c in candidates]),
                                  ranks([c.seconds for c in candidates]))


def loss(candidates: Sequence[Candidate]) -> float:
    """How much slower the model's pick is than the best measured tile; 0 when it is the best."""
    pick = next(c for c in candidates if c.edges == "auto")
    return pick.seconds / min(c.seconds for c in candidates) - 1


def summary(kernel: str, candidates: Sequence[Candidate]) -> str:
    """One line of the table."""
    best = min(candidates, key=lambda c: c.seconds)
    return (f"{kernel:12} {len(candidates)} tiles, rank correlation {rank_correlation(candidates):+.2f}, "
            f"the model's pick loses {loss(candidates):.0%} to the best ({best.edges})")


def write(path: Path, found: Mapping[str, Sequence[Candidate]]) -> None:
    """Every repeat, with the machine beside it."""
    target = host()
    path.write_text(json.dumps({
        "format": 1, "machine": target.name, "vector_bits": target.vector_bits,
        "caches": [asdict(c) for c in target.caches], "sizes": {k: SIZES[k] for k in found},
        "kernels": {kernel: {"rank_correlation": rank_correlation(c), "loss": loss(c),
                             "speed_of_light_seconds": light(kernel), "candidates": [asdict(x) for x in c]}
                    for kernel, c in found.items()}}, indent=1) + "\n")


def light(kernel: str) -> float:
    """What no tile can beat."""
    tiled = tile(pluto(analyse(from_c_file(KERNELS / f"{kernel}.c"))),
                 TilingOptions(sizes=32, parallel=False, parameters=SIZES[kernel]))
    model = SpeedOfLight(target=host())
    return sum(model.seconds(band.plan) for band in tiled.bands if band.plan is not None)


def plot(found: Mapping[str, Sequence[Candidate]]) -> str:
    """Measured against predicted seconds, both over the kernel's best, on logarithmic axes."""
    import math
    side, margin, decades = 480, 50, 2.0
    colours = ("#1b6ca8", "#c0392b", "#27803b", "#8e44ad", "#b9770e", "#117a8b", "#5d6d7e")

    def at(value: float) -> float:
        return margin + (side - 2 * margin) * min(1.0, max(0.0, math.log10(value) / decades))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{side + 140}" height="{side}" font-family="sans-serif" '
             f'font-size="12"><rect width="100%" height="100%" fill="white"/>']
    for tick in (1, 2, 5, 10, 20, 50, 100):
        x = at(tick)
        parts += [f'<line x1="{x:.0f}" y1="{margin}" x2="{x:.0f}" y2="{side - margin}" stroke="#ddd"/>',
                  f'<line x1="{margin}" y1="{side - x:.0f}" x2="{side - margin}" y2="{side - x:.0f}" stroke="#ddd"/>',
                  f'<text x="{x:.0f}" y="{side - margin + 16}" text-anchor="middle">{tick}</text>',
                  f'<text x="{margin - 6}" y="{side - x + 4:.0f}" text-anchor="end">{tick}</text>']
    for number, (kernel, candidates) in enumerate(found.items()):
        colour = colours[number % len(colours)]
        least = min(c.predicted_seconds for c in candidates), min(c.seconds for c in candidates)
        parts.append(f'<text x="{side - margin + 12}" y="{margin + 18 * number}" fill="{colour}">{kernel}</text>')
        for c in candidates:
            x, y = at(c.predicted_seconds / least[0]), side - at(c.seconds / least[1])
            shape = (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.7"/>'
                     if c.edges != "auto" else
                     f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="none" stroke="{colour}" '
                     f'stroke-width="2"/>')
            parts.append(shape)
    parts += [f'<text x="{side / 2}" y="{side - 10}" text-anchor="middle">predicted, times the least</text>',
              f'<text x="14" y="{side / 2}" text-anchor="middle" transform="rotate(-90 14 {side / 2})">measured, times '
              'the least</text></svg>']
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
