"""Copies of operands in the schedule tree: which loop has them, what the C makes of them, and what they hold."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polysched.emit_c import EmitOptions, emit
from polysched.emit_c.generation.ast_build import PLACEHOLDER
from polysched.emit_c.generation.ast_reader import read_ast
from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.loop_ir.loops import Node, Packed
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.scheduling.marks import Copy, LoopMark
from polysched.scop.body import Load
from polysched.scop.body import walk as walk_expression
from polysched.scop.scop import Access
from polysched.target.target import Target
from polysched.tiling import TiledSchedule, TilingOptions, tile
from polysched.tiling.copy_statements import with_copy_statements
from polysched.tiling.rewriting.copies import copies_of
from tests.schedules import pluto_of

TARGET = Target(vector_bits=128, vector_registers=16, cores=2)
KERNELS = Path(__file__).parents[2] / "kernels"
PRODUCT = ("float C[n][m], float A[n][l], float B[l][m]",
           "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++) "
           "C[i][j] += A[i][k] * B[k][j];")
PROGRAMS = {
    "product": PRODUCT,
    "second operand transposed": (PRODUCT[0].replace("B[l][m]", "B[m][l]"), PRODUCT[1].replace("B[k][j]", "B[j][k]")),
    "symmetric product": ("double C[n][n], double A[n][l]",
                          "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < l; k++) "
                          "C[i][j] += A[i][k] * A[j][k];"),
    "elimination": ("double A[n][n]",
                    "for (int k = 0; k < n; k++) for (int i = k + 1; i < n; i++) { A[i][k] /= A[k][k]; "
                    "for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j]; }"),
    "convolution": ("float Y[n][l][m], float X[4][l + 2][m + 2], float W[n][4][3][3]",
                    "for (int o = 0; o < n; o++) for (int i = 0; i < l; i++) for (int j = 0; j < m; j++) "
                    "for (int c = 0; c < 4; c++) for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++) "
                    "Y[o][i][j] += X[c][i + r][j + s] * W[o][c][r][s];"),
}

SIZES = ((5, 7, 3), (9, 17, 10), (18, 50, 9))


def tiled(name: str, **options: object) -> TiledSchedule:
    heads, body = PROGRAMS[name]
    text = f"void f(int n, int m, int l, {heads}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    given = {"target": TARGET, "sizes": "auto" if name == "convolution" else (16, 48, 8), **options}
    return tile(pluto_of(text), TilingOptions(**given))


def test_the_text_of_a_mark_says_everything() -> None:
    copy = Copy(array="a b:c,d", in_lanes=True, extents=(3, 256, 32), references=("S0_r1", "S0_r2"))
    mark = LoopMark(band=2, member=1, strip=256, growing=True, copies=(copy, replace(copy, in_lanes=False)))
    assert LoopMark.from_text(mark.to_text()) == mark


def test_an_operand_is_copied_around_the_loop_that_leaves_it_alone() -> None:
    rows, lanes = sorted(copies_of(tiled("product").tree), key=lambda found: found[1].array)
    # around the blocks of columns stand the rows of one block of A, around those of rows the panels of B
    assert rows[1] == Copy(array="A", in_lanes=False, extents=(6, 8), references=("S0_r1",))
    assert lanes[1] == Copy(array="B", in_lanes=True, extents=(6, 8, 8), references=("S0_r2",))
    assert (rows[0].member, lanes[0].member) == (1, 0)
    assert not rows[0].parallel
    assert not lanes[0].parallel


@pytest.mark.parametrize("packed", [(), ("A",), ("B",)])
def test_only_named_arrays_are_copied(packed: tuple[str, ...]) -> None:
    assert {copy.array for _, copy in copies_of(tiled("product", packed=packed).tree)} == set(packed)


def test_a_tree_without_a_copy_makes_no_buffer() -> None:
    made = tiled("product")
    options = EmitOptions(vector_bits=128)
    assert {a for buffer in emit(made, options=options).packed for a in buffer.arrays} == {"A", "B"}
    marks = [mark for mark, copy in copies_of(made.tree) if copy.array == "B"]
    text = made.tree.to_str()
    for mark in marks:
        text = text.replace(mark.to_text(), replace(mark, copies=()).to_text())
    fewer = replace(made, tree=isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text))
    assert {a for buffer in emit(fewer, options=options).packed for a in buffer.arrays} == {"A"}


@pytest.mark.parametrize("kernel", ["gemm", "mm2", "syrk", "symm", "cholesky", "trmm"])
def test_every_buffer_is_a_copy_of_the_tree(kernel: str) -> None:
    made = tile(pluto_of((KERNELS / f"{kernel}.c").read_text()), TilingOptions(target=TARGET))
    source = emit(made, options=EmitOptions(vector_bits=128))
    planned = [copy for _, copy in copies_of(made.tree)]
    panels = [node.panel for node in walk_nodes(source.loops) if isinstance(node, Packed)]
    assert panels
    for panel in panels:
        read = {e.reference for e in walk_expression(panel.value) if isinstance(e, Load)}
        assert any(copy.in_lanes == panel.in_lanes and read & set(copy.references) for copy in planned), panel


@pytest.mark.parametrize(("name", "sizes"), [(name, sizes) for name in PROGRAMS for sizes in SIZES])
def test_copy_statements_hold_what_blocks_read_and_stay_right(name: str, sizes: tuple[int, int, int]) -> None:
    """Run as loops: a block finds all that it reads in the copies that were made last, and nothing writes it there."""
    made = tiled(name)
    scop = made.schedule.scop
    placed = [copy for _, copy in copies_of(made.tree)]
    assert placed
    parameters = {p.name: dict(zip("nml", sizes, strict=True))[p.name] for p in scop.parameters}
    order = run_loops(loops_of(with_copy_statements(made), scop.context), parameters)
    reads = {(s.name, a.reference): element_of(a, parameters) for s in scop.statements for a in s.accesses
             if any(a.reference in copy.references for copy in placed)}
    writes = {(s.name, a.array): element_of(a, parameters) for s in scop.statements for a in s.writes}
    held: dict[str, set[tuple[int, ...]]] = {}
    found = 0
    for (before, _), (statement, at) in itertools.pairwise([("", ()), *order]):
        if statement.startswith("copy_"):
            held[statement] = (held[statement] if before == statement else set()) | {at}
            continue
        for (reader, reference), element in reads.items():
            # an elimination reads some of what it writes, and these from the array
            array = scop.statement(reader).access(reference).array
            is_held = reader == statement and any(
                element(at) in elements for copy, elements in held.items() if copy.split("_")[1] == array)
            assert is_held or reader != statement or name == "elimination", f"{statement}{at}"
            found += is_held
        for (writer, array), element in writes.items():
            for copy, elements in held.items():
                if writer == statement and copy.split("_")[1] == array:
                    elements.discard(element(at))   # it is stale from here on
    assert found or (name == "elimination" and sizes == SIZES[0])
    without = [instance for instance in order if not instance[0].startswith("copy_")]
    assert without == run_loops(loops_of(made.tree, scop.context), parameters)


def loops_of(tree: isl.Schedule, context: isl.Set) -> Node:
    names = isl.IdList.alloc(isl.DEFAULT_CONTEXT, 32)
    for depth in range(32):
        names = names.add(isl.Id(f"{PLACEHOLDER}{depth}", isl.DEFAULT_CONTEXT))
    return read_ast(isl.AstBuild.from_context(context).set_iterators(names).node_from_schedule(tree))


def element_of(access: Access, parameters: dict[str, int]) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """The element that an instance touches; all accesses here are affine."""
    relation = access.relation
    for index in range(relation.dim(isl.dim_type.param)):
        value = isl.Val.int_from_si(isl.DEFAULT_CONTEXT, parameters[relation.get_dim_name(isl.dim_type.param, index)])
        relation = relation.fix_val(isl.dim_type.param, index, value)
    function = isl.PwMultiAff.from_map(relation)
    rows = []
    for dim in range(relation.dim(isl.dim_type.out)):
        ((_, row),) = function.get_at(dim).get_pieces()
        rows.append((row.get_constant_val().to_python(), [row.get_coefficient_val(isl.dim_type.in_, i).to_python()
                                                          for i in range(relation.dim(isl.dim_type.in_))]))
    return lambda at: tuple(start + sum(c * x for c, x in zip(row, at, strict=True)) for start, row in rows)
