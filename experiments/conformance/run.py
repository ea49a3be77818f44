"""Four readings of every shipped description, the real instruction where this machine can execute it; see README.md.

    python experiments/conformance/run.py [--trials 20000] [--intrinsics FILE.py]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import counted_bars
from polysched.experiment.tables import markdown_table
from polysched.tensorize import INTRINSICS, load_intrinsics
from polysched.tensorize.conformance.conformance import Verdict, conformance
from polysched.tensorize.description.agreement import ODD_SIZES, agree
from polysched.tensorize.description.field_proof import same_function
from polysched.tensorize.description.intrinsic import Intrinsic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOST_TRIALS = 128         # per kind of operands
EMULATED_STEPS = 6_000    # assignments in Python, which bounds its executions


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--trials", type=int, default=20000, metavar="N", help="random inputs each (default: 20000)")
    group.add_argument("--intrinsics", metavar="FILE.py", action="append", default=[],
                       type=lambda path: str(Path(path).resolve()),
                       help="the descriptions in this file instead of the shipped ones")


def described(settings: Settings) -> dict[str, Intrinsic]:
    """The descriptions by name, of the user's files or those that are shipped."""
    own: dict[str, Intrinsic] = {}
    for path in settings.options["intrinsics"]:
        own |= load_intrinsics(path)
    return own or INTRINSICS


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name) for name in described(settings)]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Run all four readings on random and corner inputs; also whether the matcher's view of it is the same function."""
    intrinsic = described(settings)[case.name]
    result = conformance(intrinsic, trials=settings.options["trials"])
    read = agree(intrinsic.semantics, trials=HOST_TRIALS, steps=EMULATED_STEPS)
    sizes = dict(zip(intrinsic.parsed.sizes, ODD_SIZES, strict=False))
    return {"isa": intrinsic.isa.name, "verdict": result.verdict.value, "how": result.how, "trials": result.trials,
            "mismatches": result.mismatches, "reason": result.reason, "host": read.host, "emulator": read.emulator,
            "contraction": read.contraction, "difference": read.difference,
            "matcher_sees_the_same_function": same_function(intrinsic.parsed, intrinsic.contraction, sizes=sizes)}


def table(records: Sequence[Record]) -> str:
    """One row per instruction: executions of each reading against the host's, and why there is no fourth."""
    rows = [[r.case, r.values["isa"], r.values.get("host", ""), r.values.get("emulator", ""),
             r.values.get("contraction", ""), r.values["trials"], r.values["how"], r.values["verdict"],
             r.values["mismatches"], "yes" if same(r) else "no",
             r.values.get("difference", "") or r.values["reason"]] for r in records]
    counts = {v.value: sum(r.values["verdict"] == v.value for r in records) for v in Verdict}
    heads = ["instruction", "ISA", "host text", "Python emulator", "contraction", "instruction", "how", "verdict",
             "mismatches", "readings agree", "why not"]
    return "\n".join([markdown_table(heads, rows), "", ", ".join(f"{n} {v}" for v, n in counts.items())])


def same(record: Record) -> bool:
    """Whether the readings of the text agree, and the matcher sees the same function."""
    return bool(record.values["matcher_sees_the_same_function"]) and not record.values.get("difference", "")


def plot(records: Sequence[Record]) -> Figure:
    """Per instruction set, how many descriptions conform, and where they were executed."""
    rows: dict[str, Counter[str]] = {}
    for record in records:
        values = record.values
        rows.setdefault(values["isa"], Counter())[", ".join(filter(None, (values["verdict"], values["how"])))] += 1
    return counted_bars(rows, xlabel="descriptions of instructions")


def verdict(records: Sequence[Record]) -> str:
    wrong = [r.case for r in records if r.done and (r.values["verdict"] == Verdict.DIFFERS.value
                                                    or not same(r))]
    return f"another function than described: {', '.join(wrong)}" if wrong else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
