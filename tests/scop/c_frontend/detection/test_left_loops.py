"""Loops that `--autodetect` leaves as written: one line each with file, line and reason."""

import logging

import pytest

from polysched.scop import all_from_c_text

FOUND = "for (int i = 0; i < n; i++) a[i] = 1;"


def told(caplog: pytest.LogCaptureFixture, body: str) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        all_from_c_text(f"int printf(const char *, ...);\nvoid f(int n, int *a) {{\n{body}\n}}\n", path="in.c",
                        autodetect=True)
    return [record.getMessage() for record in caplog.records]


def test_nothing_is_said_where_every_loop_is_in_a_region(caplog: pytest.LogCaptureFixture) -> None:
    assert told(caplog, FOUND) == []


@pytest.mark.parametrize(("loop", "reason"), [
    ("for (int i = 0; i < n; i++) printf(\"x\");", "a call whose result is not used"),
    ("while (a[0] < n) a[0] = 2 * a[0] + 1;", "does not count with one integer"),
    ("do a[0] = 2 * a[0] + 1; while (a[0] < n);", "does not count with one integer"),
    ("for (int i = 0; i < n; i = 2 * i + 1) a[i] = 0;", "the loop's step is not a constant"),
])
def test_a_loop_beside_a_region_is_told_with_its_reason(
        caplog: pytest.LogCaptureFixture, loop: str, reason: str) -> None:
    (line,) = told(caplog, f"{FOUND}\n{loop}")
    assert line.startswith(f"in.c:4: the `{loop.split(' ')[0]}` loop stays as it is: ")
    assert reason in line
    assert "\n" not in line


def test_a_nest_is_told_once_with_the_reason_of_its_innermost_loop(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = told(caplog, f"{FOUND}\nfor (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    printf(\"x\");")
    assert line == ("in.c:4: the `for` loop stays as it is: line 6: a call whose result is not used must have side "
                    "effects (`printf(\"x\")`)")


def test_a_loop_around_regions_is_told_too(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = told(caplog, f"for (int t = 0; t < n; t++) {{\n  printf(\"x\");\n  {FOUND}\n}}")
    assert line.startswith("in.c:3: the `for` loop stays around loops that are transformed: line 4: a "
                           "call whose result is not used")


def test_every_loop_is_told_where_nothing_is_found(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Exception, match="nothing in the file can be represented"):
        told(caplog, "for (int i = 0; i < n; i++) printf(\"x\");\nwhile (a[0]) a[0] /= 2;")
    assert [record.getMessage().split(":")[1] for record in caplog.records] == ["3", "4"]


def test_a_block_that_a_macro_writes_as_a_loop_is_none(caplog: pytest.LogCaptureFixture) -> None:
    assert told(caplog, f"{FOUND}\n#define CHECK(x) do {{ printf(\"%d\", x); }} while (0)\nCHECK(n);\n") == []
    (line,) = told(caplog, f"{FOUND}\n#define ALL(x) do {{ while (x) printf(\"x\"); }} while (0)\nALL(a[0]);\n")
    assert line.startswith("in.c:5: the `while` loop stays as it is: ")


def test_a_label_in_front_of_a_loop_is_named(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = told(caplog, f"{FOUND}\nif (n > 7) goto out;\nn = n / 2;\nout:\n{FOUND}")
    assert line == "in.c:7: the `for` loop stays as it is: a label stands in front of the loop"
