"""The tests of pet through our C front end, and what both say about them; see README.md.

    python experiments/pet/run.py --pet-root DIR
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.errors import PolyschedError, UnsupportedScopError, UsageError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import counted_bars
from polysched.experiment.tables import markdown_table
from polysched.scop import all_from_c_file
from polysched.scop.scop import Scop

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IMPURE = re.compile(r"`(\w+)` may have side effects")
# Kinds of refusals, by their message.
REASONS = (
    ("goto", r"`goto`|a label"),
    ("a call for its effect", r"must have side effects"),
    ("a function that the file does not declare", r"has no prototype"),
    ("an endless loop", r"`?for \(; ; \)"),
    ("no statement that can be found", r"no function with statements"),
    ("a pointer to a variable", r"address of"),
)
EQUAL, PARTLY, NAMES, SHAPES, ELEMENTS = ("equal", "equal where data decides nothing", "other names", "other shapes",
                                          "other elements")
UNANSWERED, REFUSED = "without an answer of pet", "refused"


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--pet-root", metavar="DIR", default=os.environ.get("PET_ROOT"),
                       type=lambda text: str(Path(text).resolve()),
                       help="folder of pet's sources (default: $PET_ROOT)")


def cases(settings: Settings) -> list[Case]:
    """One per C file of pet's tests."""
    root = settings.options["pet_root"]
    tests = Path(root or "") / "tests"
    if root is None or not tests.is_dir():
        raise UsageError("the folder of pet's sources is needed", where="--pet-root",
                         witness=None if root is None else f"{root} has no folder tests",
                         hint="git clone https://repo.or.cz/pet.git, and pass its folder")
    return [Case(name=str(path.relative_to(tests))) for path in sorted(tests.rglob("*.c"))]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Read one file, with the functions that it calls and does not define declared to be pure."""
    path = Path(settings.options["pet_root"]) / "tests" / case.name
    values: dict[str, Any] = {"detected": "#pragma scop" not in path.read_text(), "answered": False}
    pure: list[str] = []
    try:
        scop = _read(path, pure, detected=values["detected"])
    except PolyschedError as refusal:
        return values | {"outcome": REFUSED, "pure": pure, "reason": _reason(str(refusal)),
                         "message": f"{refusal.problem} ({refusal.witness})"}
    values |= {"outcome": "read", "pure": pure, "statements": len(scop.statements),
               "notes": [note.split(": ", 1)[1] for note in scop.notes]}
    answer = path.with_suffix(".scop")
    return values | (_compared(scop, answer) if answer.exists() else {})


def _read(path: Path, pure: list[str], *, detected: bool) -> Scop:
    """The first region; each function that is refused as impure is declared pure, and the file read again."""
    while True:
        try:
            return all_from_c_file(path, pure=tuple(pure), autodetect=detected)[0]
        except UnsupportedScopError as refusal:
            name = IMPURE.search(str(refusal))
            if name is None or name[1] in pure:
                raise
            pure.append(name[1])


def _reason(message: str) -> str:
    return next((kind for kind, pattern in REASONS if re.search(pattern, message)), "other")


def _compared(scop: Scop, answer: Path) -> dict[str, Any]:
    import answers
    pet, context = answers.of_pet(answer)
    found, unknown = answers.differences(pet, answers.of_ours(scop), context.intersect(scop.context))
    kind = PARTLY if unknown else EQUAL
    if found:
        kind = (ELEMENTS if any(": elements" in f for f in found) else
                SHAPES if any(f.endswith("shapes") for f in found) else NAMES)
    return {"answered": True, "comparison": kind, "differences": found, "decided_by_data": unknown}


def table(records: Sequence[Record]) -> str:
    """The counts, and every file that is refused or not equal."""
    read = [r for r in records if r.values["outcome"] == "read"]
    refused = [r for r in records if r.values["outcome"] == REFUSED]
    counts = Counter(r.values.get("comparison", UNANSWERED) for r in read)
    reasons = Counter(r.values["reason"] for r in refused)
    rows = [["files", len(records)], ["read", len(read)], *([f"- {k}", n] for k, n in counts.most_common()),
            ["refused", len(refused)], *([f"- {k}", n] for k, n in reasons.most_common())]
    details = [[r.case, r.values["message"]] for r in refused]
    different = [[r.case, "; ".join(r.values["differences"])] for r in read if r.values.get("differences")]
    return "\n".join([markdown_table(["", "count"], rows), "", markdown_table(["refused", "why"], details), "",
                      markdown_table(["differs from pet", "in"], different)])


def plot(records: Sequence[Record]) -> Figure:
    """Of the files whose region is marked and of the others, how many are read, and agree with pet's answer."""
    order = dict.fromkeys((EQUAL, PARTLY, NAMES, SHAPES, ELEMENTS, UNANSWERED, REFUSED), 0)
    rows = {"marked by pragmas": Counter(order), "found without": Counter(order)}
    for record in records:
        values = record.values
        kind = REFUSED if values["outcome"] == REFUSED else values.get("comparison", UNANSWERED)
        rows["found without" if values["detected"] else "marked by pragmas"][kind] += 1
    return counted_bars(rows, xlabel="files of pet's tests")


def verdict(records: Sequence[Record]) -> str:
    """An exception is a defect; a refusal or a difference is a finding."""
    failed = [r.case for r in records if not r.done]
    return f"files that broke the front end: {', '.join(failed)}" if failed else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        local_options=("pet_root",), verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
