"""Loops run the iterations that C runs: narrow and unsigned counters, steps that no counter holds, bounds that wrap."""

from pathlib import Path

import pytest

from polysched.scop import from_c_text
from tests.scop.c_frontend.differences import HEAD, OUTSIDE, SAME, check, outcomes

NARROW = [
    "for (unsigned char i = 0; i < n; i++) { A[i & 63] += i; if (i == 60) break; }",
    "for (char i = 100; i > 0; i += 9) A[i & 63] += i;",
    "for (unsigned char i = 250; i > 5; i += 1) A[i & 31] += i;",
    "for (unsigned char i = 250; i != 5; i += 1) A[i & 31] += i;",
    "for (unsigned char i = c; i >= 1; i--) A[i & 31] += i;",
    "for (short i = n; i > 0; i -= 3) A[i] = i;",
    "for (unsigned char i = n; i < 60; i += 1) A[i] += i;",
    "for (_Bool b = 0; b < 1; b++) A[b] += 5;",
    "for (int i = 0; i < c - 1; i++) A[i & 63] += i;",
    "for (unsigned char i = 0; i < c - 1; i++) A[i & 63] += i;",
]
STEPS = [
    "for (int i = 0; i < 4; i += 4294967297L) A[i] = i;",
    "for (int i = 0; i < 4; i = i + 4294967297) A[i + 3] = i;",
    "for (int i = 10; i > 0 && i < 30; i += 4294967295u) A[i] = i;",
    "for (int i = 10; i > 0 && i < 30; i += -1u) A[i] = i;",
    "for (short i = -3; i < 4; i = i + 65537) A[i + 3] = i;",
    "for (unsigned char i = 0; i < 30; i += 257) A[i] += i;",
    "for (unsigned i = 30; i < 31; i += -1) A[i] += i;",
    "for (int i = -3; i < 4; i += 1u) A[i + 3] = i;",
    "for (int i = 0; i < 30; i += sizeof(int)) A[i] += i;",
    "for (int i = 0; i < 30; i -= -4) A[i] += i;",
    "for (int i = 0; i < 30; i = 4 + i) A[i] += i;",
    "for (int i = 0; i < 10; i += 1.5) A[i + 3] = i;",
]
BOUNDS = [
    "for (int i = 2.7; i < 10; i += 1) A[i] += i;",
    "for (int i = 0; i < 5.5; i += 1) A[i] += i;",
    "for (int i = 0; i < X[2] + 4; i += 1) A[i] += i;",
    "for (int i = 0; i < 10 && A[i] < 40; i++) A[i] += i;",
    "for (int i = 0; i * i < n; i++) A[i] += i;",
    "for (int i = 0; !(i >= n); i++) A[i] += i;",
    "for (int i = n; i < 20 || i < m; i += 2) A[i + 8] += i;",
    "for (int i = 0, e = n; i < e; ++i) A[i] += i;",
    "for (int i = 0; i < l; i++) A[i] += i;",
    "for (int i = 0; i + 1 < u; i++) A[i] += i;",
]


@pytest.mark.parametrize("programs", [NARROW, STEPS, BOUNDS], ids=["narrow", "steps", "bounds"])
def test_the_same_iterations_run(programs: list[str], tmp_path: Path) -> None:
    check(programs, tmp_path, sizes=({"n": 5, "m": 3, "u": 4, "c": 200, "l": 6}, {"n": -2, "u": 0, "c": 1, "l": -1}))


def test_a_bound_that_wraps_around_is_outside_of_what_is_assumed(tmp_path: Path) -> None:
    programs = ["for (int i = 0; i < u - 1; i++) { A[i & 15] = i; if (i == 20) break; }",
                "for (unsigned i = 0; i < u - 1; i++) { if (i == 20) break; A[i] = 1; }",
                "for (unsigned i = 0; i <= u - 1; i++) { A[i] = i; if (i == 10) break; }",
                "for (int i = 0; i < (int)u - 1; i++) A[i] = i;"]
    found = outcomes(programs, tmp_path, sizes=({"u": 0}, {"u": 1}, {"u": 4}))
    assert [found[p] for p in programs] == [[OUTSIDE, SAME, SAME]] * 3 + [[SAME] * 3]


@pytest.mark.parametrize("step", ["i += 4294967297L", "i += 4294967295u", "i -= 2147483648", "i += 0", "i += n - n"])
def test_a_step_that_the_counter_cannot_hold_leaves_the_loop_whole(step: str) -> None:
    loop = f"for (int i = 9; i > 2 && i < 20; {step}) A[i] = 0;"
    scop = from_c_text(f"void f({HEAD}) {{\n#pragma scop\n{loop}\n#pragma endscop\n}}")
    assert "is kept whole: the loop's step is " in scop.notes[0]
    assert scop.statements[0].depth == 0


@pytest.mark.parametrize("head", ["for (int i = 9; i < 40; i += step)", "for (int i = 40; i > 2; i = i - step)"])
def test_a_step_that_the_loop_changes_is_not_what_it_was_before(head: str, tmp_path: Path) -> None:
    changing = f"int step = 1; {head} {{ A[i] = i; step = 1 + (i & 3); }}"
    check([changing, f"int step = 3; {head} A[i] = i;"], tmp_path, sizes=({"n": 5},))
    scop = from_c_text(f"void f({HEAD}) {{\n#pragma scop\n{changing}\n#pragma endscop\n}}")
    assert any("is kept whole: the loop's step is not a constant" in note for note in scop.notes)
