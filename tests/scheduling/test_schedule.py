"""Schedules as text: written and read back, imported from isl's notation, refused when they do not fit."""

import json

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import Schedule, original, pluto, steps
from polysched.scheduling.primitives import ComputeAt, Interchange
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_text

PRODUCT = """void product(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma scop
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}"""


def product() -> Schedule:
    return pluto(analyse(from_c_text(PRODUCT)))


def test_round_trip_with_steps() -> None:
    schedule = steps.apply(product(), Interchange(outer="j", inner="k"))
    again = Schedule.from_text(schedule.to_text(), schedule.dependences)
    assert again.tree.plain_is_equal(schedule.tree)
    assert (again.algorithm, again.steps, again.report.rungs) == ("pluto", schedule.steps, schedule.report.rungs)
    assert again.to_text() == schedule.to_text()


def test_a_bare_isl_tree_is_imported() -> None:
    schedule = product()
    imported = Schedule.from_text(str(schedule.tree), schedule.dependences)
    assert imported.algorithm == "imported"
    assert imported.tree.plain_is_equal(schedule.tree)


def test_refusals() -> None:
    schedule = product()
    stored = json.loads(schedule.to_text())
    backward = schedule.tree.to_str().replace("-> [(k)]", "-> [(-k)]")
    with pytest.raises(IllegalScheduleError, match="the stored schedule breaks the flow dependence"):
        Schedule.from_text(backward, schedule.dependences)
    for text, message in (("{ domain: ", "cannot be read"),
                          (json.dumps({**stored, "format": "other"}), "no stored schedule"),
                          (json.dumps({"format": stored["format"]}), "incomplete"),
                          (json.dumps({**stored, "tree": 5}), "tree is no text"),
                          (json.dumps({**stored, "steps": 3}), "steps is no list"),
                          (json.dumps({**stored, "steps": [3]}), "a stored step is a JSON object"),
                          ('{ domain: "{ Other[i] : 0 <= i < 4 }" }', "lacks an instance")):
        with pytest.raises(UsageError, match=message):
            Schedule.from_text(text, schedule.dependences)


PREFIX_SUMS = PRODUCT.replace("C[i][j] += A[i][k] * B[k][j]", "C[i][j] = C[i][j] * A[i][k]")


@pytest.mark.parametrize(("tree", "message"), [
    ('schedule: "[{S0[i, j, k] -> [(k)]}, {S0[i, j, k] -> [(i)]}]", coincident: [1, 1], child: '
     '{ schedule: "[{S0[i, j, k] -> [(j)]}]" }', "loop 0 of a band is called coincident and carries"),
    ('schedule: "[{S0[i, j, k] -> [(i + k)]}, {S0[i, j, k] -> [(i - k)]}]", permutable: 1, child: '
     '{ schedule: "[{S0[i, j, k] -> [(j)]}]" }', "loop 1 of a band called permutable runs backward"),
    ('mark: "polysched role=loop parallel=1", child: { schedule: "[{S0[i, j, k] -> [(k)]}]", child: '
     '{ schedule: "[{S0[i, j, k] -> [(i)]}, {S0[i, j, k] -> [(j)]}]" } }', "loop marked parallel carries"),
])
def test_an_imported_tree_cannot_promise_what_is_not_so(tree: str, message: str) -> None:
    """The order of each is legal; OpenMP or tiles over such loops would not be."""
    dependences = analyse(from_c_text(PREFIX_SUMS))
    domain = "[n] -> { S0[i, j, k] : 0 <= i < n and 0 <= j < n and 0 <= k < n }"
    text = f'{{ domain: "{domain}", child: {{ {tree} }} }}'
    with pytest.raises(IllegalScheduleError, match=message) as refused:
        Schedule.from_text(text, dependences)
    assert "must run before" in (refused.value.witness or "")


@pytest.mark.parametrize("mark", ["polysched role=loop register=1", "polysched role=other", "polysched parallel"])
def test_marks_that_no_schedule_has(mark: str) -> None:
    schedule = product()
    text = str(schedule.tree).replace("child: {", f'child: {{ mark: "{mark}", child: {{', 1) + " }"
    with pytest.raises(UsageError, match="mark"):
        Schedule.from_text(text, schedule.dependences)


def test_text_for_people() -> None:
    assert tree_text(product().tree) == ("band permutable\n"
                                         "  parallel    S0: i\n"
                                         "  parallel    S0: j\n"
                                         "  sequential  S0: k\n")
    marked = isl.Schedule('{ domain: "{ S[i] : 0 <= i < 4 }", child: { mark: "m", child: { schedule: '
                          '"[{ S[i] -> [(i)] }]" } } }')
    assert tree_text(marked) == "mark m\n  band\n    sequential  S: i\n"


def test_a_schedule_of_a_changed_program_says_how_to_get_there() -> None:
    text = """void f(int n, double A[n + 2], double B[n + 2])
{
#pragma scop
    double t[100];
    for (int i = 0; i < n + 2; i++) t[i] = A[i] * A[i];
    for (int i = 0; i < n; i++) B[i] = t[i] + t[i + 2];
#pragma endscop
}"""
    start = original(analyse(from_c_text(text)))
    changed = steps.apply(start, ComputeAt(producer="S0", loop=1))
    with pytest.raises(UsageError, match="not a schedule of this program") as caught:
        Schedule.from_text(changed.to_text(), start.dependences)
    assert "steps.replay" in (caught.value.hint or "")
    stored = Schedule.from_text(changed.to_text(), changed.dependences)
    assert str(steps.replay(start, stored.steps).tree) == str(changed.tree) == str(stored.tree)
