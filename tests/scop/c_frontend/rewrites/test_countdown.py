"""`i-- > 0` counts down as a plain loop does, whatever the type, and nobody sees where the counter ends."""

from pathlib import Path

import pytest

from polysched.scop import from_c_text
from tests.scop.c_frontend.differences import HEAD, check

PROGRAMS = [
    "for (unsigned i = u; i-- > 0; ) A[i] = i;",
    "for (int i = n; i-- > 0; ) A[i] = i;",
    "for (int i = n; i-- > 0; ) for (unsigned char j = i; j-- > 0; ) A[j] += i - j;",
    "for (unsigned i = u; i--; ) A[i] = i;",
    "for (unsigned i = u; i-- != 0u; ) { if (i == 3) continue; A[i] = i; }",
    "for (unsigned i = u; i-- > 0; ) { if (i == 3) break; A[i] = i; }",
    "for (unsigned i = u; i-- > 0; ) { for (int i = 0; i < 3; i++) A[i] += i; B[i] = 2; }",
    "unsigned i; for (i = u; i-- > 0; ) A[i] = i; B[0] = i;",
    "for (int i = n; i-- > 0; ) { A[i + 1] = i; if (i > 4) i--; }",
]


def test_the_same_iterations_run_down(tmp_path: Path) -> None:
    check(PROGRAMS[:6], tmp_path, sizes=({"n": 7, "u": 9}, {"n": -3, "u": 0}, {"n": 1, "u": 1}))


@pytest.mark.parametrize("program", PROGRAMS[:6])
def test_they_are_loops_of_the_schedule(program: str) -> None:
    scop = from_c_text(f"void f({HEAD}) {{\n#pragma scop\n{program}\n#pragma endscop\n}}")
    assert not scop.notes
    assert scop.statements[0].depth >= 1


def test_counters_that_somebody_sees_or_changes_are_left(tmp_path: Path) -> None:
    check([], tmp_path, refused=PROGRAMS[6:])
