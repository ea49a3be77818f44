"""What an expression of a block program may be."""

from __future__ import annotations

import pytest

import polysched.scop.block_frontend.language as bl
from polysched.errors import UnsupportedScopError
from tests.scop.block_frontend.reading import run

HEAD = "def f(x, out, B=4):\n    n = x.shape[0]\n    p = bl.program_id(0, n)\n"


def made(text: str, tmp_path, monkeypatch):
    """The function of a text, in a file, so that its source can be read."""
    import importlib
    (tmp_path / "programs.py").write_text(f"import polysched.scop.block_frontend.language as bl\n{HEAD}    {text}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    import sys
    sys.modules.pop("programs", None)
    return importlib.import_module("programs").f


@pytest.mark.parametrize(("text", "words"), [
    ("y = x + 1", "x is an array"),
    ("y = bl.load(x)", "x is an array"),
    ("y = bl.load(bl.block(p, (n,), (p,), (B,)))", "a block is one of an array that is an argument"),
    ("y = bl.load(bl.block(out, (n, n), (p,), (B,)))", "one entry per dimension"),
    ("y = bl.load(bl.block(out, (n,), (p,), (n,)))", "known before the program runs"),
    ("y = bl.load(bl.block(out, (n,), (p,), (B,)), mask=p)", "this is no condition"),
    ("y = bl.load(bl.block(out, (n,), (p,), (B,)), mask=bl.load(bl.block(out, (n,), (p,), (B,))) > 0)",
     "a mask of a load depends on lanes"),
    ("y = bl.load(bl.block(out, (n,), (p,), (B,)), where=0)", "load has no argument where"),
    ("y = bl.sum(bl.arange(0, B), 0)", "taken of numbers from arrays"),
    ("y = bl.sum(bl.zeros((B,)), 1)", "has no axis 1"),
    ("y = bl.dot(bl.zeros((B, 2)), bl.zeros((B, 2)))", "dot of tiles of the shapes"),
    ("y = bl.arange(0, B) + bl.arange(0, 3)", "do not fit"),
    ("y = (p < 2) + 1", "a condition is no number"),
    ("y = bl.zeros((B,))[0]", "no such expression"),
    ("y = bl.zeros((B,))[:, None, :]", "no such subscript"),
    ("y = bl.zeros((0,))", "at least 1"),
    ("y = print(p)", "only the words of its language"),
    ("y = unknown", "nothing is known of unknown"),
    ("y = bl.program_id(3, n)", "up to three axes"),
    ("y = bl.program_id(0, n + 1)", "each with one number of programs"),
    ("y = 1 < p < 2", "no such expression"),
    ("m = x.shape[0]", "sizes stand at the start"),
    ("y = bl.arange(3, 3)", "a range without elements"),
    ("y = p ** 2", "no such operator")])
def test_refusals(text: str, words: str, tmp_path, monkeypatch) -> None:
    with pytest.raises(UnsupportedScopError, match=words):
        run(made(text, tmp_path, monkeypatch))


def test_a_refusal_points_at_the_program(tmp_path, monkeypatch) -> None:
    with pytest.raises(UnsupportedScopError) as refused:
        run(made("y = bl.zeros((0,))", tmp_path, monkeypatch))
    assert "programs.py:5:19" in str(refused.value)


def test_the_words_are_those_of_the_language() -> None:
    assert bl.inf == float("inf")
