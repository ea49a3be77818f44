"""Pragmas of parallel loops: one team, balanced, and only for enough iterations."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from polysched.emit_c import emit
from polysched.emit_c.c_source import EmitOptions
from polysched.emit_c.loop_ir.index import Linear, constant, extreme, remainder, variable
from polysched.emit_c.loop_ir.loops import Block, For, Let, Node, StatementInstance
from polysched.emit_c.scalar_code.openmp import work_varies
from polysched.scheduling.marks import LoopMark, Role
from polysched.scop import from_c_text
from tests.emit_c.marked_trees import marked

TEXT = """void f(int n, float A[n][n]) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = {low}; j < n; j++)
      A[i][j] = 1.0f;
#pragma endscop
}}
"""
TILE = LoopMark(role=Role.TILE, parallel=True)
POINT = LoopMark(role=Role.POINT)


@pytest.mark.parametrize(("low", "loops", "pragma"), [
    ("0", (("floor(i/8)", TILE), ("i", POINT), ("j", LoopMark(member=1))), "#pragma omp parallel for\n"),
    ("0", (("floor(i/8)", replace(TILE, least_iterations=2)), ("i", POINT), ("j", LoopMark(member=1))),
     "if ((n - 1) / 8 + 1 >= 2) {\n  #pragma omp parallel for schedule(dynamic)\n"),
    ("i", (("floor(i/8)", TILE), ("i", POINT), ("j", LoopMark(member=1))),
     "#pragma omp parallel for schedule(dynamic)\n"),
    ("i", (("i", LoopMark(parallel=True)), ("j", LoopMark(member=1))),
     "#pragma omp parallel for schedule(dynamic, 8)\n"),
    ("i", (("floor(i/8)", TILE), ("floor(j/8)", LoopMark(role=Role.TILE, member=1)), ("i", POINT), ("j", POINT)),
     "#pragma omp parallel for schedule(dynamic)\n"),
    ("0", (("i", LoopMark(parallel=True, least_iterations=64)), ("j", LoopMark(member=1))),
     "if (n >= 64) {\n  #pragma omp parallel for\n"),
    ("0", (("i", LoopMark(parallel=True)), ("j", LoopMark(member=1, parallel=True, simd=True))),
     "#pragma omp parallel for\n"),
    ("0", (("j", LoopMark(member=1)), ("i", LoopMark(parallel=True, simd=True, least_iterations=8))),
     "  if (n >= 8) {\n    #pragma omp parallel for simd\n"),
])
def test_parallel_loop(low: str, loops: tuple[tuple[str, LoopMark], ...], pragma: str) -> None:
    text = emit(marked(from_c_text(TEXT.format(low=low)), loops)).text
    assert pragma in text, text
    assert text.count("parallel for") == 1


def test_the_iterations_of_rows_of_aligned_vectors_count() -> None:
    text = TEXT.replace("A[n][n]", "A[n][2000]").replace("j < n", "j < 2000").format(low="0")
    loops = (("i", LoopMark(parallel=True, least_work=16384)), ("j", LoopMark(member=1, simd=True)))
    emitted = emit(marked(from_c_text(text), loops), options=EmitOptions(vector_bits=512)).text
    assert "% 64" in emitted    # rows begin with a vector that ends behind the next boundary
    assert "if ((double)n * 1984 >= 16384) {\n" in emitted, emitted


GROWING = """void f(int n, float A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      A[i][j] = 2.0f * A[i][j];
#pragma endscop
}
"""


@pytest.mark.parametrize(("first", "head"), [
    ("floor(j/8)", "for (long TILE = (n - 1) / 8; TILE >= 0; TILE--)"),
    ("floor(i/8)", "for (long TILE = 0; TILE <= (n - 1) / 8; TILE++)"),
])
def test_threads_begin_with_the_tiles_that_take_longest(first: str, head: str) -> None:
    """The columns of an upper triangle grow, its rows shrink."""
    other = "floor(i/8)" if "j" in first else "floor(j/8)"
    tiles = ((first, replace(TILE, growing="j" in first)), (other, LoopMark(role=Role.TILE, member=1)))
    tiled = marked(from_c_text(GROWING), (*tiles, ("i", POINT), ("j", POINT)))
    parallel = re.sub(r"\w+_tile", "TILE", emit(tiled).text)
    assert f"#pragma omp parallel for schedule(dynamic)\n{head} {{" in parallel, parallel
    assert "--" not in emit(tiled, options=EmitOptions(openmp=False)).text, "one thread takes them in order"


OUTER, J, N = variable("i"), variable("j"), variable("n")
BODY = StatementInstance("S", (OUTER, J))


def row(lower: Linear, upper: Linear) -> For:
    return For("j", lower, upper, 1, BODY, POINT)


@pytest.mark.parametrize(("inside", "varies"), [
    (row(constant(0), N), False),
    (row(OUTER, N), True),
    (Let("first", OUTER + 1, row(variable("first"), N)), True),
    (Let("first", OUTER + 1, Let("end", variable("first") + 8, row(variable("first"), variable("end")))), False),
    (Let("end", extreme("min", [OUTER + 8, N]), row(OUTER, variable("end"))), False),
    (row(constant(0), extreme("min", [OUTER, N - 2])), True),
    (Let("end", extreme("min", [OUTER, N - 2]), row(constant(0), variable("end"))), True),
    (row(extreme("max", [OUTER * 8, constant(1)]), extreme("min", [OUTER * 8 + 8, N])), False),
    (Let("end", extreme("min", [OUTER * 8 + 8, N]), row(variable("end") - remainder(variable("end") - OUTER * 8, 4),
                                                    variable("end"))), False),
    (Let("first", N - 8, row(variable("first"), N)), False),
    (Block((Let("first", OUTER, row(variable("first"), N)),
            Let("first", constant(0), row(variable("first"), N)))), True),
    (Block((Let("first", constant(0), row(variable("first"), N)), Let("first", OUTER, BODY))), False),
])
def test_work_varies_with_bounds_under_names_too(inside: Node, varies: bool) -> None:
    """One iteration of the loop over `i`: rows of a triangle behind a name, and names of one row that the next has."""
    outer = For("i", constant(0), N, 1, inside, LoopMark(parallel=True))
    assert work_varies(outer) is varies
