"""What stands between two places of the text is what the preprocessed text has there: macros hide no loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.pipeline import PipelineOptions, transform_file
from polysched.scop.c_frontend.detection.macro_marks import MacroMarks
from polysched.scop.c_frontend.parse import parse
from polysched.scop.c_frontend.text.preprocess import SourceFile, preprocess
from polysched.scop.c_frontend.text.text_scan import Scanner
from polysched.target import find_compiler

HEAD = """
#define TWICE for (int r = 0; r < 2; r++)
#define EACH(i) for (int i = 0; i < n; i++)
#define ALSO ; x[0] = 5
#define OPEN {
#define CLOSE }
#define SIZE n
#define ADD(a, b) a + b
void f(int n, double *x) {
"""


def is_whole(line: str, part: str) -> bool:
    """Whether a part of a line becomes exactly the first statement of the function."""
    text = f"{HEAD}{line}\n}}\n"
    source = SourceFile(path="in.c", text=text, compiler=find_compiler(), on_disk=False)
    preprocessed = preprocess(source)
    items = parse(source, preprocessed).ext[-1].body.block_items
    start = text.index(line) + line.index(part)
    return MacroMarks(source, preprocessed, Scanner(text)).are_all_of((start, start + len(part)), items, 0, 1)


@pytest.mark.parametrize(("line", "part"), [
    ("for (int i = 0; i < n; i++) x[i] = 1;", "for (int i = 0; i < n; i++) x[i] = 1;"),
    ("for (int i = 0; i < SIZE; i++) x[i] = ADD(1, i);", "for (int i = 0; i < SIZE; i++) x[i] = ADD(1, i);"),
    ("for (int i = 0; i < n; i++) { x[i] = 1; } x[0] = 2;", "for (int i = 0; i < n; i++) { x[i] = 1; }"),
    ("TWICE for (int i = 0; i < n; i++) x[i] += 1;", "TWICE for (int i = 0; i < n; i++) x[i] += 1;"),
    ("EACH(i) x[i] = 1;", "EACH(i) x[i] = 1;")])
def test_whole(line: str, part: str) -> None:
    assert is_whole(line, part)


@pytest.mark.parametrize(("line", "part"), [
    ("TWICE for (int i = 0; i < n; i++) x[i] += 1;", "for (int i = 0; i < n; i++) x[i] += 1;"),
    ("for (int i = 0; i < n; i++) x[i] = 1 ALSO;", "for (int i = 0; i < n; i++) x[i] = 1 ALSO;"),
    ("for (int i = 0; i < n; i++) OPEN x[i] = 1; x[0] = i; CLOSE", "for (int i = 0; i < n; i++) OPEN x[i] = 1;"),
    ("if (n > 3) for (int i = 0; i < n; i++) x[i] += 1;", "for (int i = 0; i < n; i++) x[i] += 1;"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[j] += 1;", "for (int j = 0; j < n; j++) x[j] += 1;"),
    ("for (int i = 0; i < n; i++) x[i] = 1; x[0] = 2;", "for (int i = 0; i < n; i++) x[i] = 1; x[0] = 2;")])
def test_more_or_less_than_the_statement(line: str, part: str) -> None:
    assert not is_whole(line, part)


def test_a_loop_that_a_macro_repeats_is_left_as_it_is(tmp_path: Path) -> None:
    body = ("TWICE for (int i = 0; i < n; i++) x[i] += 1;\n"
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += x[n + j];\n"
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += x[n + j] ALSO;\n")
    (tmp_path / "in.c").write_text(f"{HEAD}{body}}}\n")
    made = transform_file(tmp_path / "in.c", PipelineOptions(autodetect=True, portable=False)).text
    assert "TWICE for (int i = 0; i < n; i++) x[i] += 1;\n" in made
    assert "x[i] += x[n + j] ALSO;" in made
    assert "x[i] += x[n + j];" not in made
