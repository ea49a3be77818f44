"""Texts run by the host's compiler: their own bytes and what is printed of them; what crashes is refused."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import SourceSyntaxError
from polysched.tensorize.description.host_execution import executed, program_c, run_on_host
from polysched.tensorize.description.reading import parse

SUMS = ("void sums(int n, int32_t Y[n], const int16_t X[n][3], int32_t s) { for (int i = 0; i < n; i++) "
        "for (int k = 0; k < 3; k++) Y[i] += X[i][k] * s; }")


def test_both_programs_compute_every_row_of_the_operands() -> None:
    semantics, chooser = parse(SUMS), np.random.default_rng(4)
    given = {"Y": chooser.integers(-(1 << 31), 1 << 31, (5, 4)).astype(np.int32),
             "X": chooser.integers(-(1 << 15), 1 << 15, (5, 4, 3)).astype(np.int16),
             "s": chooser.integers(-(1 << 31), 1 << 31, 5).astype(np.int32)}
    found = run_on_host(semantics, given, {"n": 4})
    wanted = given["Y"] + given["X"].astype(np.int64).sum(axis=2) * given["s"][:, None].astype(np.int64)
    for reading in (found.text, found.printed):
        assert list(reading) == ["Y"], "only what is written comes back"
        np.testing.assert_array_equal(reading["Y"], wanted.astype(np.int32))
        assert reading["Y"].flags.c_contiguous


def test_the_program_has_the_users_bytes() -> None:
    semantics = parse(SUMS)
    given = {"Y": np.zeros((1, 4), np.int32), "X": np.zeros((1, 4, 3), np.int16), "s": np.zeros(1, np.int32)}
    assert SUMS in program_c(semantics, given, {"n": 4})


@pytest.mark.parametrize(("body", "why", "hint"), [
    ("for (;;) getchar();", "does not end within 0.5 s", "describe a smaller unit"),
    ("abort();", "crashes", "it may divide by zero, or leave an array"), ("return 3;", "crashes", "it may divide"),
    ("return undeclared;", "the compiler refuses the text of a thing", "")])
def test_what_does_not_run_is_refused_in_words(body: str, why: str, hint: str) -> None:
    text = f"#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {{ {body} }}\n"
    with pytest.raises(SourceSyntaxError, match=why) as found:
        executed("mine", text, ("text",), b"", limit_seconds=0.5, what="a thing")
    assert hint in (found.value.hint or "")
    assert found.value.where == "mine"


def test_every_way_is_a_process_of_its_own() -> None:
    text = ("#include <stdio.h>\nint main(int argc, char **argv) { static int n; int c = getchar(); n++; "
            "printf(\"%s %d %c\", argv[1], n, c); return 0; }\n")
    assert executed("mine", text, ("a", "b"), b"xy") == [b"a 1 x", b"b 1 x"]
