"""MODULE:EXPRESSION."""

from __future__ import annotations

import sys

import pytest

from polysched.cli.shown.programs import is_named, named_scop
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
