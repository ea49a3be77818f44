"""Real candidates that are wrong, crash, hang, eat memory or do not compile: each is a record, and none is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.errors import PolyschedError
from polysched.measure.field import Verdict
from polysched.measure.paired import MeasureOptions
from polysched.measure.processes.isolation import Limits
from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_file
from polysched.search import building
from polysched.search.building import Candidate, LocalBuilder, Wanted
from polysched.search.database import Database
from polysched.search.tuning import Budget, tune
from tests.search.programs import OPTIONS

TWICE = """\
#include <stdlib.h>
#include <string.h>
void twice(int n, double a[n], double b[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * b[i];
#pragma endscop
}
"""
LOOP = "a[i] = 2 * b[i];"
PLANTED = {
    4: (TWICE.replace("2 * b", "3 * b"), Verdict.WRONG),
    5: (TWICE.replace(LOOP, LOOP + " __builtin_trap();"), Verdict.CRASHED),
    6: (TWICE.replace(LOOP, LOOP + " while (*(volatile double *)a != 1e300) ;"), Verdict.HUNG),
    7: (TWICE.replace(LOOP, LOOP + " for (;;) { char *p = malloc(1 << 24); if (!p) abort(); memset(p, 1, 1 << 24); }"),
        Verdict.MEMORY),
    8: (TWICE.replace(LOOP, "a[i] = nothing;"), Verdict.NO_CODE)}


class Planting(LocalBuilder):
    """Makes faulty C of some recipes."""

    def build(self, wanted: Sequence[Wanted]) -> Sequence[Candidate | PolyschedError]:
        made = super().build(wanted)
        return [replace(c, text=PLANTED[c.proposal.recipe.tile][0], code=f"planted {c.proposal.recipe.tile}")
                if isinstance(c, Candidate) and c.proposal.recipe.tile in PLANTED else c for c in made]


def test_faulty_candidates_are_records_and_never_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "LIMITS", replace(building.LIMITS, hung_seconds=1.5))
    path = tmp_path / "twice.c"
    path.write_text(TWICE)
    scop = from_c_file(str(path))
    space = [*(Recipe(tile=edge) for edge in PLANTED), Recipe(flags=("-O2",)), Recipe(flags=("-funroll-loops",))]

    def search(resume: bool):
        judged = []
        found = tune(scop, space=lambda choose, dependences: space[choose.one_of("recipe", range(len(space)))],
                     strategy="grid", sizes={"n": 200}, budget=Budget(trials=len(space)), options=OPTIONS, threads=1,
                     measure=MeasureOptions(flags=("-O1",), limits=Limits(seconds=20, memory_bytes=1 << 28)),
                     builder=Planting(scop, OPTIONS), database=tmp_path / "tuned.db", resume=resume,
                     on_trial=lambda trial, count: judged.append(trial))
        return found, judged

    found, judged = search(resume=False)
    verdicts = {trial.recipe: trial.verdict for trial in judged}
    assert verdicts == {r: PLANTED[r.tile][1] if r.tile in PLANTED else Verdict.TIMED for r in space}
    assert found.recipe.tile == "auto"
    with Database(tmp_path / "tuned.db", read_only=True) as database:
        ((key, _),) = database.tasks()
        trials = database.trials(key)
        kept = {t.recipe: t.verdict for t in trials if t.phase == "search"}
        assert {recipe: kept[recipe] for recipe in space} == verdicts
        assert database.winners()[0].recipe.tile == "auto"
    again, _ = search(resume=True)
    assert again.repeated == sum(t.is_settled for t in trials) >= 1 + len(PLANTED)
    assert again.recipe == found.recipe
