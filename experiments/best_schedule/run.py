"""Does `--scheduler best` rank schedules as the machine does?  See README.md.

    polysched bench best_schedule

Every candidate of `best` that is a schedule of its own is tiled, emitted, compiled, verified against the code as
written and timed in turn, in rounds; the model predicts the same programs without running them.  On one thread times
are processor seconds, so that other load on the machine disturbs them little; on several they are wall time.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from polysched.dependence import analyse
from polysched.dependence.expansion import expand_temporaries
from polysched.emit_c import EmitOptions, emit, splice
from polysched.experiment import Case, Contender, Experiment, Program, Record, Report, Rules, Settings, run_contest
from polysched.experiment.c_function import command
from polysched.experiment.standings import VariantTimes
from polysched.experiment.tables import markdown_table
from polysched.measure.building import compile_shared
from polysched.measure.call_interface import Slot, wrapper
from polysched.measure.problem_size import choose_size
from polysched.measure.slots import make_slots
from polysched.scop import from_c_file
from polysched.scop.scop import Scop
from polysched.target import find_compiler, host
from polysched.tiling import TiledSchedule, TilingOptions
from polysched.tiling.best_schedule import Tried, candidates_of, winner_of

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
REFERENCE = "the C file"
TIE = 0.05
"""Candidates closer than this to the best one count as equal to it."""


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"sizes": sizes}) for name, sizes in settings.config["kernels"].items()]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Every different schedule among the candidates, predicted and measured."""
    file, sizes, threads = KERNELS / f"{case.name}.c", case.parameters["sizes"], settings.threads[0]
    scop = from_c_file(file)
    report("scheduling and tiling every candidate")
    target = replace(host(), cores=threads)
    tried = candidates_of(expand_temporaries(analyse(scop)).dependences,
                          tiling=TilingOptions(target=target, parallel=threads > 1, parameters=sizes))
    distinct = [t for t in tried if t.tiled is not None]
    with tempfile.TemporaryDirectory(prefix="polysched-best-") as name:
        kernel = Kernel(scop=scop, slots=arguments(scop, sizes), folder=Path(name), openmp=threads > 1)
        made = [Contender(name=REFERENCE, make=kernel.as_written, threads=threads)]
        made += [Contender(name=t.candidate.name, make=partial(kernel.transformed, f"candidate_{k}", t.tiled),
                           threads=threads) for k, t in enumerate(distinct) if t.tiled is not None]
        rules = Rules(reference=REFERENCE, ours=tuple(c.name for c in made), budget_seconds=settings.budget_seconds,
                      most_rounds=settings.config["rounds"])
        standings = run_contest(made, rules, Path(name), report)
    times = {v.name: v for v in standings.variants}
    return {"sizes": sizes, "threads": threads, "pick": winner_of(tried).candidate.name,
            "candidates": [candidate(t, times.get(t.candidate.name), wall=threads > 1) for t in tried]}


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernel:
    """The function of one file, to be compiled in many versions."""

    scop: Scop
    slots: tuple[Slot, ...]
    folder: Path
    openmp: bool

    def as_written(self) -> Program:
        assert self.scop.source is not None
        return self.compiled("original", self.scop.source.text)

    def transformed(self, name: str, tiled: TiledSchedule) -> Program:
        assert self.scop.source is not None
        emitted = emit(tiled, options=EmitOptions(openmp=self.openmp, vector_bits=host().vector_bits))
        return self.compiled(name, splice(self.scop.source.text, [emitted]))

    def compiled(self, name: str, text: str) -> Program:
        assert self.scop.source is not None
        assert self.scop.source.signature is not None
        file = self.folder / f"{name}_text.c"
        file.write_text(text)
        binary = compile_shared(wrapper(file, self.scop.source.signature.name, self.slots), name=name,
                                folder=self.folder, compiler=find_compiler(None), openmp=self.openmp, what=name)
        return Program(command=command(binary.path, self.slots, self.folder, name))


def arguments(scop: Scop, sizes: Mapping[str, int]) -> tuple[Slot, ...]:
    assert scop.source is not None
    assert scop.source.signature is not None
    return make_slots((scop,), scop.source.signature, choose_size((scop,), sizes), given=sizes,
                      is_global=lambda name: False)


def candidate(tried: Tried, times: VariantTimes | None, *, wall: bool) -> dict[str, Any]:
    """What the report and the table read: one candidate, predicted and measured."""
    found = {"name": tried.candidate.name, "predicted_seconds": tried.candidate.predicted_seconds,
             "note": tried.candidate.note}
    if times is None or not times.timed:
        return found | ({} if times is None else {"problem": times.problem})
    samples = [sample for taken in times.rounds.values() for sample in taken]
    return found | {"measured_seconds": [s.wall_seconds if wall else s.thread_cpu_seconds for s in samples],
                    "verified": True}


def compared(record: Record) -> list[dict[str, Any]]:
    """The candidates that are both predicted and measured."""
    return [c for c in record.values["candidates"] if c.get("verified") and c["predicted_seconds"] is not None]


def seconds(c: Mapping[str, Any]) -> float:
    return statistics.median(c["measured_seconds"])


def rank_correlation(candidates: Sequence[Mapping[str, Any]]) -> float | None:
    """Spearman's rho of predicted and measured seconds; None where one of them is the same for all."""
    def ranks(values: Sequence[float]) -> list[float]:
        order = sorted(values)
        return [statistics.mean(i for i, other in enumerate(order) if other == value) for value in values]
    predicted = ranks([c["predicted_seconds"] for c in candidates])
    measured = ranks([seconds(c) for c in candidates])
    if len(set(predicted)) < 2 or len(set(measured)) < 2:
        return None
    return statistics.correlation(predicted, measured)


def loss(record: Record) -> float | None:
    """How much slower the pick is than the best measured candidate; 0 when it is the best."""
    timed = [c for c in record.values["candidates"] if c.get("verified")]
    pick = next((c for c in timed if c["name"] == record.values["pick"]), None)
    return None if pick is None else seconds(pick) / min(map(seconds, timed)) - 1


def table(records: Sequence[Record]) -> str:
    rows, losses = [], []
    for record in records:
        both, lost = compared(record), loss(record)
        timed = [c for c in record.values["candidates"] if c.get("verified")]
        if lost is None or not timed:
            rows.append([record.case, len(timed), "-", record.values["pick"], "-", "-", "-"])
            continue
        losses.append(lost)
        best = min(timed, key=seconds)
        rho = rank_correlation(both) if len(both) > 2 else None
        rows.append([record.case, len(timed), "-" if rho is None else f"{rho:+.2f}", record.values["pick"],
                     f"{lost:.0%}", best["name"], f"{max(map(seconds, timed)) / seconds(best):.1f}"])
    failed = [f"- {r.case}, {c['name']}: {c['problem']}" for r in records for c in r.values["candidates"]
              if "problem" in c]
    text = markdown_table(["kernel", "schedules", "rank correlation", "pick of `best`", "its loss", "best measured",
                           "worst over best"], rows)
    if losses:
        near = sum(lost <= TIE for lost in losses)
        text += (f"\n\nThe pick is within {TIE:.0%} of the best measured schedule for {near} of {len(losses)} kernels; "
                 f"median loss {statistics.median(losses):.0%}, largest {max(losses):.0%}.")
    return "\n".join([text, *(["", *failed] if failed else [])])


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
