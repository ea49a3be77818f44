"""Copies of operands as statements of the tree: each element once, in front of what reads it."""

from __future__ import annotations

from typing import Any

import islpy as isl

from polysched.scheduling.marks import LoopMark
from polysched.target import Target
from polysched.tiling import TiledSchedule, TilingOptions, tile
from polysched.tiling.copy_statements import with_copy_statements
from tests.schedules import pluto_of

MACHINE = Target(vector_bits=256, vector_registers=16, cores=2)
TEXT = """void f(float C[96][96], float A[96][96], float B[96][96]) {
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 96; j++)
      for (int k = 0; k < 96; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def tiled(sizes: Any, text: str = TEXT) -> TiledSchedule:
    return tile(pluto_of(text), TilingOptions(target=MACHINE, sizes=sizes))


def names(tree: isl.Schedule) -> set[str]:
    """The statements of a tree, those below extension nodes included."""
    return {word.split("[")[0].strip() for word in str(tree).replace("{", " ").replace(";", " ").split()
            if word.startswith(("S0[", "copy_"))}


def test_operands_that_are_copied_are_statements() -> None:
    made = tiled((48, 48, 48))
    copied = {copy.array for node in str(made.tree).split('"') if "copies=" in node
              for copy in _copies(node)}
    assert copied
    assert {name for name in names(with_copy_statements(made)) if name.startswith("copy_")} == {
        f"copy_{array}" for array in copied}


def _copies(text: str) -> tuple:
    mark = LoopMark.from_text(text)
    return mark.copies if mark is not None else ()


def test_without_copies_the_tree_is_the_same() -> None:
    made = tiled("off", TEXT.replace("+= A[i][k] * B[k][j]", "= A[i][j]"))
    assert with_copy_statements(made).plain_is_equal(made.tree)


def test_the_instances_of_the_program_stay() -> None:
    made = tiled((48, 48, 48))
    assert with_copy_statements(made).get_domain().is_equal(made.schedule.scop.domain)
