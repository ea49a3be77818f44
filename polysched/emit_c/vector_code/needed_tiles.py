"""A register tile that is entered only where one of its points has something to do.

    for (j) { A[i][j] += B[i][j] where taken[i]; }  ->  if (taken[i]) for (j) A[i][j] += B[i][j] where taken[i];

A condition on data around loops is a mask of the lanes, and a tile of masked lanes still reads what they would
compute with.  Where the condition seldom holds, most tiles have nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.loops import RegisterTile, StatementInstance
from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.register_tiles.tile_accesses import Point, points
from polysched.emit_c.scalar_code.early_exit import tests_of
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter

MOST_TESTS = LIMITS.most_tests_of_a_tile


def tile_tests(tile: RegisterTile, printer_at: Callable[[StatementInstance, Point], ExpressionPrinter]
               ) -> tuple[str, ...]:
    """The C texts of tests of which one has to hold for a tile to do anything; none where it always may.

    Parameters
    ----------
    printer_at : prints the expressions of a statement instance at a point.
    """
    moved = frozenset({*(loop.variable for loop in tile.loops), *(e.variable for e in tile.edges if e.simd)})
    inside = {t.array for t in tile.private}
    found: list[str] = []
    for point in () if tile.within else points([edge for edge in tile.edges if not edge.simd], 1):
        for instance in instances(tile.body):
            tests = tests_of(printer_at(instance, point), moved, inside)
            if not tests:
                return ()
            found.append(tests[0])
    needed = tuple(dict.fromkeys(found))
    return needed if len(needed) <= MOST_TESTS else ()
