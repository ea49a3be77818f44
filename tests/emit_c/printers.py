"""The printer of a program's region, for tests that print nodes of the loop IR alone."""

from __future__ import annotations

from typing import Any

from polysched.emit_c import EmitOptions
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.loops import Block, RegisterTile
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.pass_context import pass_context, with_bodies
from polysched.emit_c.region import Place, RegionPrinter
from polysched.emit_c.vector_code.tile_code import TileCode
from polysched.tiling import TilingOptions, tile
from tests.schedules import original_of

HEAD = ("void f(int n, int m, float A[restrict n][m], float B[restrict n][m], double x[restrict n],\n"
        "       float y[restrict n], int at[restrict n], signed char c[restrict n])\n{\n#pragma scop\n")
TAIL = "\n#pragma endscop\n}\n"


def printer_of(body: str, head: str = HEAD, **options: Any) -> RegionPrinter:
    """What prints the statements `S0`, `S1`, ... of a program, as nodes of the loop IR call them."""
    tiled = tile(original_of(head + body + TAIL), TilingOptions(
        sizes="off", parallel=False, simd=False))
    given = {"vector_bits": 128, "vector_registers": 16, "comments": False} | options
    context = pass_context(tiled, EmitOptions(**given), own_memory=True)
    return with_bodies(context, Block(())).code


def facts_of(printer: RegionPrinter) -> Facts:
    return Facts(context=printer.scop.context)


def printed(printer: RegionPrinter, loops: str) -> str:
    """The C of loops, given as text of the loop IR."""
    return "\n".join(printer.lines(parse_loops(loops), Place((), facts_of(printer))))


def tile_code(printer: RegionPrinter, loops: str) -> TileCode:
    """What prints one register tile."""
    tile = parse_loops(loops)
    assert isinstance(tile, RegisterTile)
    return printer._tile_code(tile, facts_of(printer))
