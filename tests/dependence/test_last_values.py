"""Arrays of the caller that iterations use as a temporary: which get copies, and what is left in them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from polysched.dependence.analysis import analyse
from polysched.dependence.expansion import expand_temporaries
from polysched.dependence.last_values import kept_storage, with_last_values
from polysched.dependence.same_values import check_same_values
from polysched.errors import IllegalScheduleError
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute


def _region(body: str) -> str:
    return f"""
void f(int n, int m, double A[restrict n][n], double B[restrict n][n], double t[restrict n], double *restrict s)
{{
#pragma scop
  {body}
#pragma endscop
}}
"""


ROWS = """for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) t[j] = A[i][j] + 1;
    for (int j = 0; j < n; j++) B[i][j] = t[n - 1 - j] * 2;
  }"""
PRIVATE = {
    "rows": (ROWS, ("i",)),
    "a triangle: elements have different last iterations": (ROWS.replace("j < n", "j < n - i").replace(
        "n - 1 - j", "n - i - 1 - j"), ("i",)),
    "parts of the iterations": (ROWS.replace("int i = 0; i < n", "int i = 1; i < n - 1"), ("i",)),
    "nothing is executed": (ROWS.replace("int i = 0; i < n", "int i = n; i < n"), None),
    "a scalar": ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { *s = A[i][j] * 3; B[i][j] = *s + *s; }",
                 ("i", "j")),
    "every second iteration": (ROWS.replace("j < n; j++) t[j] =", "j < n; j++) if ((i + j) % 2 == 0) t[j] =").replace(
        "j < n; j++) B[i][j] = t[n - 1 - j]", "j < n; j++) if ((i + j) % 2 == 0) B[i][j] = t[j]"), ("i",)),
    "accumulated": ("""for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      t[j] = 0;
      for (int k = 0; k < n; k++) t[j] += A[i][k] * A[k][j];
      B[i][j] = t[j];
    }""", ("i",)),
    "within a loop that is ordered": (f"for (int k = 0; k < m; k++) {ROWS.replace('A[i]', 'B[i]')}", ("i",)),
}
SEVERAL = {   # each orders the iterations by its storage, and none of them would do alone
    "an array and a scalar": """for (int i = 0; i < n; i++) {
    *s = 0;
    for (int j = 0; j < n; j++) { t[j] = A[i][j] * 2; *s += t[j]; }
    for (int j = 0; j < n; j++) B[i][j] = t[j] / *s;
  }""",
}
SHARED = {
    "of two only one can have copies": SEVERAL["an array and a scalar"].replace("*s = 0;", ""),
    "read before it is written": ROWS.replace("t[j] = A[i][j] + 1", "{ t[j] = t[j] + A[i][j]; }"),
    "a value of the iteration before": ROWS.replace("j < n; j++) t", "j < n && j > i; j++) t"),
    "written under a condition on values": ROWS.replace("t[j] = A[i][j] + 1", "if (A[i][j] > 0) t[j] = 1"),
    "an element per iteration": ROWS.replace("t[j]", "t[i]").replace("t[n - 1 - j]", "t[i]"),
    "another array orders the iterations": ROWS.replace("A[i][j]", "B[i - 1][j]").replace("int i = 0", "int i = 1"),
    "counting down": ROWS.replace("int i = 0; i < n; i++", "int i = n - 1; i >= 0; i--"),
    "used behind the loop": ROWS + " for (int j = 0; j < n; j++) A[0][j] = t[j];",
}


@pytest.mark.parametrize("case", PRIVATE)
def test_iterations_work_in_a_copy(case: str) -> None:
    body, loops = PRIVATE[case]
    expansion = expand_temporaries(analyse(from_c_text(_region(body))))
    assert [copied.loops for copied in expansion.last_values] == ([] if loops is None else [loops])


@pytest.mark.parametrize("case", SEVERAL)
def test_several_arrays_get_copies_together(case: str) -> None:
    expansion = expand_temporaries(analyse(from_c_text(_region(SEVERAL[case]))))
    assert {copied.array: copied.loops for copied in expansion.last_values} == {"t": ("i",), "s": ("i",)}


@pytest.mark.parametrize("case", SHARED)
def test_left_alone(case: str) -> None:
    dependences = analyse(from_c_text(_region(SHARED[case])))
    after, copied = with_last_values(dependences)
    assert after is dependences
    assert copied == ()


@pytest.mark.parametrize("case", [*PRIVATE, *SEVERAL, *SHARED])
def test_the_caller_finds_the_same_values(case: str) -> None:
    scop = from_c_text(_region({**SHARED, **SEVERAL, **{name: body for name, (body, _) in PRIVATE.items()}}[case]))
    expanded = expand_temporaries(analyse(scop)).dependences.scop
    for n, m in itertools.product((1, 2, 5), (0, 2, 7)):
        results = []
        for program in (scop, expanded):
            random = np.random.default_rng(7)
            arrays = {a.name: random.random((1 if a.name == "s" else n,) * len(a.extents)) for a in scop.arrays}
            execute(program, {p.name: {"n": n, "m": m}[p.name] for p in scop.parameters}, arrays)
            results.append(arrays)
        for name, value in results[0].items():
            np.testing.assert_array_equal(results[1][name], value, err_msg=f"{name} with n = {n}, m = {m}")


COPIED = """for (int i = 0; i < n; i++) {
    double u[n];
    for (int j = 0; j < n; j++) u[j] = A[i][j] + 1;
    for (int j = 0; j < n; j++) B[i][j] = u[n - 1 - j] * 2;
    if (i == n - 1) for (int j = 0; j < n; j++) t[j] = u[j];
  }"""


@pytest.mark.parametrize(("old", "new", "message"), [
    ("n - 1)", "n - 1)", None),
    ("n - 1)", "0)", "another value after the region"),
    ("j++) t[j]", "j += 2) t[j]", "another value after the region"),
    ("t[j] = u[j]", "t[j] = u[n - 1 - j]", "another value after the region"),
    ("t[j] = u[j]", "t[j] = -u[j]", "is no copy"),
])
def test_the_check_of_copies(old: str, new: str, message: str | None) -> None:
    """It knows nothing of how last writers are found: here the copies are written by hand."""
    before, after = (analyse(from_c_text(_region(body))) for body in (ROWS, COPIED.replace(old, new)))
    if message is None:
        check_same_values(before, after)
        return
    with pytest.raises(IllegalScheduleError, match=message):
        check_same_values(before, after)


USES = "iterations use what earlier ones left in it"
REASONS = {
    "read before it is written": USES,
    "counting down": "the loop counts down",
    "another array orders the iterations": None,
    "an element per iteration": None,
}


@pytest.mark.parametrize("case", [*REASONS, *PRIVATE])
def test_why_an_array_has_one_storage(case: str) -> None:
    body = SHARED[case] if case in SHARED else PRIVATE[case][0]
    reason = REASONS.get(case)
    told = [line for line in kept_storage(analyse(from_c_text(_region(body)))) if line.startswith("array t:")]
    assert told == ([] if reason is None else [
        f"array t: it alone keeps iterations of i from running in parallel; they get no copies of it, since {reason}"])
