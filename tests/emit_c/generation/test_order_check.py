"""Loops that run a statement ahead of what it depends on are found out, and others are taken."""

from dataclasses import replace
from pathlib import Path

import pytest

from polysched.dependence import analyse
from polysched.emit_c import scan
from polysched.emit_c.generation.ast_build import build_ast
from polysched.emit_c.generation.ast_reader import read_ast
from polysched.emit_c.generation.order_check import keeps_order
from polysched.emit_c.loop_ir.loops import Block
from polysched.emit_c.loop_ir.traversal import map_children
from polysched.errors import NoLoopsError
from polysched.pipeline import scanned_with_fallbacks
from polysched.scheduling import original
from polysched.scheduling.pluto_scheduler import feautrier
from polysched.scop import from_c_file, from_c_text
from polysched.tiling import TilingOptions, tile

MISPLACED = Path(__file__).parents[2] / "end_to_end" / "regressions" / "strides_of_two_loops.c"
EVERY_THIRD = """
void every_third(int n, double A[restrict n], double B[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i += 3) {
    A[i] = 1.0;
    B[i] = 2 * A[i];
  }
#pragma endscop
}
"""


def turned(node):
    """The loops with every sequence of theirs backwards."""
    node = map_children(node, turned)
    return replace(node, children=node.children[::-1]) if isinstance(node, Block) else node


@pytest.mark.parametrize("step", [1, 3])
def test_statements_that_change_places_are_found_out(step):
    scop = from_c_text(EVERY_THIRD.replace("i += 3", f"i += {step}"))
    tree = original(analyse(scop)).tree
    loops = read_ast(build_ast(tree, context=scop.context, max_operations=10**7).root)
    assert keeps_order(loops, tree, analyse(scop))
    assert keeps_order(turned(loops), tree, analyse(scop)) == (step == 1)   # without strides nobody looks


def test_loops_that_isl_misplaces_are_not_taken():
    dependences = analyse(from_c_file(MISPLACED))
    tiled = tile(feautrier(dependences), TilingOptions(sizes="off"))
    misplaced = read_ast(build_ast(tiled.tree, context=dependences.scop.context, max_operations=10**7).root)
    assert not keeps_order(misplaced, tiled.tree, dependences)
    with pytest.raises(NoLoopsError, match="ahead of what they depend on"):
        scan(tiled)
    used, scanned = scanned_with_fallbacks(tiled)
    assert keeps_order(scanned.loops, used.tree, dependences)
    assert "ahead of what they depend on" in scanned.fallbacks[0]
