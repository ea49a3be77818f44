"""Regions that take too long to read: a refusal that says where, and `--autodetect` goes on with the others."""

import logging
from pathlib import Path

import islpy as isl
import pytest

from polysched.errors import BudgetExceededError
from polysched.scop.c_frontend import frontend
from polysched.scop.c_frontend.frontend import all_from_c_file, all_from_c_text, from_c_text

OPERATIONS = 20_000   # a plain loop needs a tenth of it

COSTLY = """
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
        int x = (3 * i + 5 * j) % 7 + (i + 2 * j) % 11;
        int y = (i > j ? i : j) % 13 - (7 * i + j) / 5;
        if ((x > y ? x - y : y - x) % 17 > 3 || x % 5 == 2)
            a[x % 23] += 1;
    }
"""
PLAIN = """
for (int i = 0; i < n; i++)
    a[i] = 0;
"""


@pytest.fixture(autouse=True)
def _few_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontend, "READING_OPERATIONS", OPERATIONS)


def test_the_refusal_says_where_and_what_to_try() -> None:
    text = f"void f(int n, int *a) {{\n#pragma scop{COSTLY}#pragma endscop\n}}\n"
    with pytest.raises(BudgetExceededError) as refused:
        from_c_text(text, path="costly.c")
    error = refused.value
    assert error.problem == f"reading the region takes more than {OPERATIONS} isl operations or 10 s, " \
                            "which were spent here"
    assert str(error.where) in ("costly.c:5", "costly.c:6", "costly.c:7")
    assert error.witness is not None
    assert any(word in error.witness for word in ("int x", "int y", "if ("))
    assert error.hint is not None
    assert "smaller" in error.hint
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0, "isl works again"
    assert not isl.Set("{ [i] : 0 <= i < 3 }").is_empty()


def test_other_loops_of_the_file_are_found(caplog: pytest.LogCaptureFixture) -> None:
    text = f"void f(int n, int *a) {{{COSTLY}}}\nvoid g(int n, int *a) {{{PLAIN}}}\n"
    with caplog.at_level(logging.WARNING):
        (found,) = all_from_c_text(text, path="both.c", autodetect=True)
    assert found.name == "g"
    (told,) = (r.getMessage() for r in caplog.records)
    assert told.startswith("both.c:2: the `for` loop stays as it is: ")
    assert "reading the region takes more than" in told


def test_a_smaller_region_is_looked_for_inside(caplog: pytest.LogCaptureFixture) -> None:
    text = f"void f(int n, int m, int *a) {{ for (int k = 0; k < m; k++) {{{PLAIN}{COSTLY}}} }}\n"
    with caplog.at_level(logging.WARNING):
        (found,) = all_from_c_text(text, path="inside.c", autodetect=True)
    assert [s.depth for s in found.statements] == [1]
    whole, part = (r.getMessage() for r in caplog.records)
    assert whole.startswith("inside.c:1: the `for` loop stays around loops that are transformed: ")
    assert "the `for` loop stays as it is: " in part
    assert "reading the region takes more than" in part


def test_where_nothing_is_found_the_refusal_is_the_answer() -> None:
    with pytest.raises(BudgetExceededError, match="reading the region takes more than"):
        all_from_c_text(f"void f(int n, int *a) {{{COSTLY}}}\n", autodetect=True)


def test_a_region_that_nothing_is_left_for_is_not_blamed(tmp_path: Path) -> None:
    path = tmp_path / "late.c"
    path.write_text(f"void f(int n, int *a) {{\n#pragma scop{COSTLY}#pragma endscop\n}}\n")
    with pytest.raises(BudgetExceededError, match="the time that one file may take was spent before this region"):
        all_from_c_file(path, left=lambda: 0.0)
