"""Programs over ranks: equal results, exact messages, processor time.  See README.md.

    python experiments/mpi/run.py
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polysched.distribute import Distributed, Partition
from polysched.errors import IllegalScheduleError, UsageError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.measure.paired import MeasureOptions, Subject
from polysched.measure.processes.isolation import Limits
from polysched.measure.ranks import run_on_ranks
from polysched.pipeline.whole_files.distributed import distribute_file
from polysched.scop.points import fix_parameters, points_of

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
RANKS = (1, 2, 4)


def cases(settings: Settings) -> list[Case]:
    """Every kernel on every number of ranks, then on two ranks with time tiles."""
    found = []
    for name, own in settings.config["kernel"].items():
        given = {"kernel": name, "loop": own["loop"], "partition": own.get("partition", "block"), "sizes": own["sizes"]}
        found += [Case(name=f"{name}_{ranks}", parameters={**given, "ranks": ranks}) for ranks in RANKS]
        found.append(Case(name=f"{name}_tiles", parameters={
            **given, "ranks": 2, "time_tile": settings.config["time_tile"]}))
    return found


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Distribute, run on ranks, compare bit for bit, and count the messages' sets."""
    given = case.parameters
    kind, ranks, tile = given["partition"], given["ranks"], given.get("time_tile", 1)
    report("distributing")
    try:
        made = distribute_file(KERNELS / f"{given['kernel']}.c", given["loop"], time_tile=tile, partition=Partition(
            kind=kind, ranks=None if kind == "block" else ranks))
    except (IllegalScheduleError, UsageError) as error:
        if tile == 1:
            raise
        return {"refused": error.problem}
    subject = Subject(scops=tuple(r.scop for r in made.regions), transformed_text=made.text)
    report("running")
    options = MeasureOptions(threads=1, limits=Limits(seconds=600))
    found = run_on_ranks(subject, ranks, given["sizes"], options=options, repeats=settings.config["repeats"])
    report("counting the sets")
    (region,) = made.regions
    return {**found.to_json(), "loops": len(region.steps), "exact_bytes": exact_bytes(region, given["sizes"], ranks)}


def exact_bytes(region: Distributed, sizes: dict[str, int], ranks: int) -> int:
    """The bytes of all messages, counted in their sets."""
    axis = fix_parameters(region.axis_set, sizes)
    both_ends = int(axis.dim_min_val(0).to_python()), int(axis.dim_max_val(0).to_python())
    partition = region.partition
    steps = points_of(fix_parameters(region.step_set, sizes)) if region.steps else [()]
    total = 0
    for message in region.messages:
        width = region.scop.array(message.array).dtype.bytes
        for sender in range(ranks):
            for receiver in set(range(ranks)) - {sender}:
                known = {**sizes, **partition.values(partition.own_names, sender, ranks, both_ends),
                         **partition.values(partition.other_names, receiver, ranks, both_ends)}
                for step in steps:
                    here = {**known, **{f"polysched_step{at}": value for at, value in enumerate(step)}}
                    total += width * int(fix_parameters(message.elements, here).count_val().to_python())
    return total


def table(records: Sequence[Record]) -> str:
    plain = [r for r in records if "time_tile" not in r.parameters]
    tiled = [r for r in records if "time_tile" in r.parameters]
    return "\n\n".join(text for text, own in ((ranks_table(plain), plain), (tiles_table(tiled, plain), tiled)) if own)


def ranks_table(records: Sequence[Record]) -> str:
    """Kernels on ranks that exchange behind every step."""
    first = {r.parameters["kernel"]: r for r in records if r.parameters["ranks"] == 1}
    rows = []
    for record in records:
        values, given = record.values, record.parameters
        alone = first.get(given["kernel"])
        exact, sent = values["exact_bytes"], values["step_bytes"]
        rows.append([given["kernel"].replace("_", " "), given["partition"], given["ranks"], values["loops"],
                     "wrong" if values["wrong"] else "equal", f"{values['cpu_seconds']:.3f}",
                     "" if alone is None else f"{values['cpu_seconds'] / alone.values['cpu_seconds']:.2f}",
                     f"{values['cpu_seconds'] / values['sequential_cpu_seconds']:.2f}",
                     f"{values['step_messages']:.0f}", f"{sent:.0f}", f"{sent / exact:.2f}" if exact else "none",
                     f"{values['gathered_bytes']:.0f}"])
    return markdown_table(["kernel", "partition", "ranks", "loops of steps", "results", "CPU s in all", "of one rank",
                           "of the original", "messages", "bytes", "bytes / exact set", "gathered bytes"], rows)


def tiles_table(records: Sequence[Record], plain: Sequence[Record]) -> str:
    """Two ranks with time tiles, beside the same two that exchange behind every step."""
    each = {r.parameters["kernel"]: r.values for r in plain if r.parameters["ranks"] == 2}
    rows = []
    for record in records:
        values, name = record.values, record.parameters["kernel"]
        if "refused" in values:
            rows.append([name.replace("_", " "), "", "", "", "", "", values["refused"]])
            continue
        other = each.get(name)
        exact, sent = values["exact_bytes"], values["step_bytes"]
        rows.append([name.replace("_", " "), "wrong" if values["wrong"] else "equal", f"{values['step_messages']:.0f}",
                     *(f"{values[key] / other[key]:.3f}" if other and other[key] else "" for key in (
                         "step_messages", "step_bytes", "cpu_seconds")),
                     f"sends {sent / exact:.2f} of the exact set" if exact else "sends nothing"])
    return markdown_table(["time tiles on two ranks", "results", "messages", "of those of each step", "bytes, the same",
                           "CPU s, the same", "what else"], rows)


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
