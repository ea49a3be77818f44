"""Block programs as read: constants, names, what is written."""

from __future__ import annotations

import pytest

import polysched.scop.block_frontend.language as bl
from polysched.errors import UnsupportedScopError, UsageError
from polysched.scop.block_frontend import read_block_program
from polysched.scop.block_frontend.block_source import WORDS


def program(x, out, B=4):
    n = x.shape[0]
    at = bl.block(out, (n,), (bl.program_id(0, n),), (B,))
    bl.store(at, bl.load(bl.block(x, (n,), (0,), (B,))))


def test_arrays_that_are_written() -> None:
    found = read_block_program(program, {})
    assert found.stored == {"out"}
    assert found.constants == {"B": 4}
    assert found.arguments == ("x", "out")


def test_words_come_from_the_language_alone() -> None:
    assert {"load", "store", "dot", "program_id"} <= WORDS
    assert not {"Any", "UsageError", "inf"} & WORDS


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "4"])
def test_edges_are_integers_above_0(value: object) -> None:
    with pytest.raises(UsageError, match="no edge of a block"):
        read_block_program(program, {"B": value})


def several(x, *more):
    bl.store(x, more)


def test_arguments_are_plain() -> None:
    with pytest.raises(UnsupportedScopError, match="plain arguments"):
        read_block_program(several, {})
