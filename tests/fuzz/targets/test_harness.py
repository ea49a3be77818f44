"""The C program that compares: it says which element is wrong, and which got its old value back."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.fuzz.targets.harness import harness
from polysched.fuzz.targets.programs import ARRAYS, target_program
from polysched.target import find_compiler

TYPES = {name: "unsigned char" if name == "m" else "float" for name in ARRAYS}
PROGRAM = replace(target_program(0), types=TYPES, text=(
    "void f(int n, int t, float A[n + 10][n + 10], float B[n + 10][n + 10], float C[n + 10][n + 10], float x[n + 10], "
    "float y[n + 10], float z[n + 10], float r[2], unsigned char m[n + 10]) "
    "{ for (int i = 0; i < n; i++) x[i] = y[i] + 1; }\n"))



@pytest.mark.parametrize(("other", "said"), [
    ("x[i] = y[i] + 1;", ""), ("x[i] = y[i] + (i == 2);", "wrong: x[0], n 5, t 2, q 0"),
    ("x[i] = y[i] + 1; A[0][3] = 1;", "wrong: A[3], n 5, t 2, q 0"),
    ("x[i] = y[i] + 1; const float old = z[0]; own_hook(); z[0] = old;", "an old value: z[0], n 5, t 2, q 0")])
def test_what_it_says(other: str, said: str, tmp_path: Path) -> None:
    text = harness(PROGRAM, PROGRAM.text.replace("x[i] = y[i] + 1;", other), 3)
    (tmp_path / "g.c").write_text(text)
    done = find_compiler(None).run(["-O0", "g.c", "-o", "g"], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([tmp_path / "g", "5", "2", "0", "9", "1", "0"], capture_output=True, text=True, check=False)
    assert (ran.stdout.strip(), ran.returncode) == (said, int(bool(said)))


def test_an_old_value_that_the_original_writes_is_right(tmp_path: Path) -> None:
    program = replace(PROGRAM, text=PROGRAM.text.replace("+ 1; }", "+ 1; z[0] = z[0]; }"))
    back = "+ 1; const float old = z[0]; own_hook(); z[0] = old; }"
    (tmp_path / "g.c").write_text(harness(program, PROGRAM.text.replace("+ 1; }", back), 3))
    assert find_compiler(None).run(["-O0", "g.c", "-o", "g"], folder=tmp_path).returncode == 0
    assert subprocess.run([tmp_path / "g", "5", "2", "0"], capture_output=True, text=True, check=False).stdout == ""
