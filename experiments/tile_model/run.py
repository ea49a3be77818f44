"""Does the projected cost model rank tile sizes as the machine does?  See README.md.

    python experiments/tile_model/run.py [--only KERNEL ...]

All tiles of a grid and the model's own pick are compiled, verified against the untransformed code and timed on
one thread in turn, in rounds; the model predicts the same nests without running them.  Times are processor seconds
of the running thread, so that other load on the machine disturbs them little.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, splice
from polysched.experiment import Case, Contender, Experiment, Program, Record, Report, Rules, Settings, run_contest
from polysched.experiment.c_function import command
from polysched.experiment.plots import COLOURS, new_figure
from polysched.experiment.standings import VariantTimes
from polysched.experiment.tables import markdown_table
from polysched.measure.building import compile_shared
from polysched.measure.call_interface import Slot, wrapper
from polysched.measure.problem_size import choose_size
from polysched.measure.slots import make_slots
from polysched.scheduling import pluto
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_file
from polysched.scop.scop import SourceRegion
from polysched.target import find_compiler, host
from polysched.tiling import TiledSchedule, TilingOptions, tile
from polysched.tiling.cost_models import Projected, SpeedOfLight

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
PICK, REFERENCE = "auto", "as written"
Edges = tuple[int, ...] | str


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"sizes": sizes}) for name, sizes in settings.config["kernels"].items()]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Every tile of the grid, and the model's pick; a candidate without a verified time says why."""
    file, sizes = KERNELS / f"{case.name}.c", case.parameters["sizes"]
    schedule = pluto(analyse(from_c_file(file)))
    report("tiling")
    tiles = {edges: tile(schedule, TilingOptions(sizes=edges, parallel=False, parameters=sizes))
             for edges in (PICK, *map(tuple, settings.config["grid"]))}
    with tempfile.TemporaryDirectory(prefix="polysched-tiles-") as name:
        kernel = Kernel(schedule=schedule, slots=arguments(schedule, sizes), folder=Path(name))
        made = [Contender(name=REFERENCE, make=kernel.as_written)]
        made += [Contender(name=name_of(edges), make=partial(kernel.tiled, name_of(edges), tiled))
                 for edges, tiled in tiles.items()]
        rules = Rules(reference=REFERENCE, ours=tuple(c.name for c in made), budget_seconds=settings.budget_seconds,
                      most_rounds=settings.config["rounds"])
        standings = run_contest(made, rules, Path(name), report)
    times = {v.name: v for v in standings.variants}
    light = SpeedOfLight(target=host())
    return {"sizes": sizes, "vector_bits": host().vector_bits,
            "candidates": [candidate(edges, tiled, times[name_of(edges)]) for edges, tiled in tiles.items()],
            "speed_of_light_seconds": sum(light.seconds(b.plan) for b in tiles[PICK].bands if b.plan is not None)}


def name_of(edges: Edges) -> str:
    return edges if isinstance(edges, str) else " x ".join(map(str, edges))


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernel:
    """The function of one file, to be compiled in many versions."""

    schedule: Schedule
    slots: tuple[Slot, ...]
    folder: Path

    @property
    def source(self) -> SourceRegion:
        source = self.schedule.scop.source
        assert source is not None
        return source

    def as_written(self) -> Program:
        return self.compiled("original", self.source.text)

    def tiled(self, name: str, tiled: TiledSchedule) -> Program:
        """Emitted for one thread."""
        emitted = emit(tiled, options=EmitOptions(openmp=False, vector_bits=host().vector_bits))
        return self.compiled(f"tiles_{name.replace(' ', '')}", splice(self.source.text, [emitted]))

    def compiled(self, name: str, text: str) -> Program:
        assert self.source.signature is not None
        file = self.folder / f"{name}_text.c"
        file.write_text(text)
        binary = compile_shared(wrapper(file, self.source.signature.name, self.slots), name=name, folder=self.folder,
                                compiler=find_compiler(None), what=name)
        return Program(command=command(binary.path, self.slots, self.folder, name))


def arguments(schedule: Schedule, sizes: Mapping[str, int]) -> tuple[Slot, ...]:
    scop = schedule.scop
    assert scop.source is not None
    assert scop.source.signature is not None
    return make_slots((scop,), scop.source.signature, choose_size((scop,), sizes), given=sizes,
                      is_global=lambda name: False)


def candidate(edges: Edges, tiled: TiledSchedule, times: VariantTimes) -> dict[str, Any]:
    """What the report and the table read: one tile, predicted and measured."""
    if not times.timed:
        return {"edges": edges, "problem": times.problem}
    samples = [sample for taken in times.rounds.values() for sample in taken]
    return {"edges": edges, "tiles": [list(b.sizes) for b in tiled.bands], "predicted_seconds": predict(tiled),
            "measured_seconds": [s.thread_cpu_seconds for s in samples],
            "wall_seconds": [s.wall_seconds for s in samples], "verified": True}


def predict(tiled: TiledSchedule) -> float:
    """Projected seconds of all tiled bands; untiled ones cost the same for every candidate."""
    model = Projected(target=host())
    return sum(model.seconds(band.plan) for band in tiled.bands if band.plan is not None)


def timed(record: Record) -> list[dict[str, Any]]:
    return [c for c in record.values["candidates"] if c.get("verified")]


def seconds(c: Mapping[str, Any]) -> float:
    return statistics.median(c["measured_seconds"])


def rank_correlation(candidates: Sequence[Mapping[str, Any]]) -> float:
    """Spearman's rho of predicted and measured seconds."""
    def ranks(values: Sequence[float]) -> list[float]:
        order = sorted(values)
        return [statistics.mean(i for i, other in enumerate(order) if other == value) for value in values]
    return statistics.correlation(ranks([c["predicted_seconds"] for c in candidates]),
                                  ranks([seconds(c) for c in candidates]))


def loss(candidates: Sequence[Mapping[str, Any]]) -> float | None:
    """How much slower the model's pick is than the best measured tile; 0 when it is the best."""
    pick = next((c for c in candidates if c["edges"] == PICK), None)
    return None if pick is None else seconds(pick) / min(seconds(c) for c in candidates) - 1


def table(records: Sequence[Record]) -> str:
    rows = []
    for record in records:
        candidates = timed(record)
        lost, best = loss(candidates), min(candidates, key=seconds)
        rows.append([record.case, len(candidates), f"{rank_correlation(candidates):+.2f}",
                     "-" if lost is None else f"{lost:.0%}", best["edges"],
                     f"{max(map(seconds, candidates)) / seconds(best):.1f}"])
    failed = [f"- {r.case} {c['edges']}: {c['problem']}" for r in records for c in r.values["candidates"]
              if "problem" in c]
    return "\n".join([markdown_table(["kernel", "candidates", "rank correlation", "loss of the model's pick", "best",
                                      "worst over best"], rows), *(["", *failed] if failed else [])])


def plot(records: Sequence[Record]) -> Figure:
    """Measured against predicted seconds, both over the kernel's least; the model's pick is a square."""
    figure, axes = new_figure(width=6.5, height=5)
    for number, record in enumerate(records):
        candidates, colour = timed(record), COLOURS[number % len(COLOURS)]
        least = min(c["predicted_seconds"] for c in candidates), min(map(seconds, candidates))
        for c in candidates:
            x, y = c["predicted_seconds"] / least[0], seconds(c) / least[1]
            if c["edges"] == PICK:
                axes.plot([x], [y], "s", markersize=10, fillstyle="none", color=colour, label=record.case)
            else:
                axes.plot([x], [y], "o", markersize=5, alpha=0.7, color=colour)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("predicted, times the least")
    axes.set_ylabel("measured, times the least")
    axes.legend(fontsize="small")
    return figure


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
