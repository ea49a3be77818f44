"""MODULE:EXPRESSION, and the sizes of models."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from polysched.cli.shown.programs import check_sizes, is_named, named_scop
from polysched.errors import UsageError

MODULE = """\
from polysched.scop.expression import build, compute, placeholder
A = placeholder("A", (6,))
twice = compute((6,), lambda i: 2 * A[i], name="B")
whole = build([twice], name="whole")
number = 3

def scaled(rows, columns=5):
    x = placeholder("X", (rows, columns))
    return compute((rows, columns), lambda i, j: x[i, j] + 1, name="Y")
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "given_programs.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "given_programs", raising=False)


def test_files_are_no_expressions():
    assert [is_named(w) for w in ("a.c", "m.onnx", "-", "m:f", "C:/a.c")] == [False, False, False, True, False]


def test_expressions_scops_and_functions_become_scops():
    for name in ("twice", "whole"):
        scop, left = named_scop(f"given_programs:{name}", {"n": 3})
        assert (scop.name, left) == (name, {"n": 3})
    scop, left = named_scop("given_programs:scaled", {"rows": 4, "n": 3})
    assert (scop.array("Y").c_extents, left) == (("4", "5"), {"n": 3})


@pytest.mark.parametrize(("what", "message"), [
    ("given_programs:scaled", "needs a value of rows"), ("given_programs:number", "is a int"),
    ("given_programs:none", "has no 'none'"), ("no_such_module:x", "cannot be imported")])
def test_what_is_none_is_refused(what, message):
    with pytest.raises(UsageError, match=message):
        named_scop(what, {})


@pytest.mark.parametrize(("text", "line", "problem"), [
    ("x = 1\ny = x / 0\n", 2, "fails with ZeroDivisionError"), ("x = 1\n\ny = (\n", 3, "fails with SyntaxError")])
def test_a_module_that_fails_is_refused_with_its_line(tmp_path, text, line, problem):
    (tmp_path / "failing_program.py").write_text(text)
    with pytest.raises(UsageError, match=problem) as refused:
        named_scop("failing_program:y", {})
    assert refused.value.where.endswith(f"failing_program.py:{line}")


def test_no_module_is_refused_without_a_place():
    with pytest.raises(UsageError, match="'' fails with ValueError") as refused:
        named_scop(":y", {})
    assert not refused.value.where


@pytest.mark.parametrize(("given", "closed", "problem", "hint"), [
    ({"batch": 1, "N": 3}, False, "the model has no size 'N'", "its sizes: batch, length"),
    ({"batch": 1}, True, "these sizes are open: length", "--size length=1")])
def test_sizes_of_a_model(given, closed, problem, hint):
    graph = SimpleNamespace(symbols=("batch", "length"))
    with pytest.raises(UsageError, match=problem) as refused:
        check_sizes(graph, given, closed=closed, hint="--size {0}=1")
    assert refused.value.hint == hint
    check_sizes(graph, {"batch": 1}, closed=False, hint="")
    check_sizes(graph, {"batch": 1, "length": 2}, closed=True, hint="")
