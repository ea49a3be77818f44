"""Loops that leave out, repeat or add instances are found out."""

from pathlib import Path

import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit
from polysched.emit_c.generation import scan_check
from polysched.emit_c.generation.ast_build import build_ast
from polysched.emit_c.generation.ast_reader import read_ast
from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.generation.scan_check import visits_every_instance
from polysched.emit_c.loop_ir.index import constant
from polysched.emit_c.loop_ir.loops import For, StatementInstance
from polysched.errors import NoLoopsError
from polysched.pipeline import scanned_with_fallbacks
from polysched.pipeline.way import lowered_with_fallbacks
from polysched.scheduling import original, pluto
from polysched.scop import from_c_file, from_c_text
from polysched.tiling import TilingOptions, tile

STRIDED = Path(__file__).parents[2] / "end_to_end" / "regressions" / "strided_tiles.c"
EVERY_THIRD = """
void every_third(int n, double A[n]) {
#pragma scop
  for (int i = 0; i < n; i += 3)
    A[i] = 1.0;
#pragma endscop
}
"""


def loops_of(scop, sizes="off"):
    tiled = tile(original(analyse(scop)), TilingOptions(sizes=sizes))
    return read_ast(build_ast(tiled.tree, context=scop.context, max_operations=10**7).root)


def test_run_loops_gives_instances_in_order():
    loops = loops_of(from_c_text(EVERY_THIRD))
    assert list(run_loops(loops, {"n": 8})) == [("S0", (0,)), ("S0", (3,)), ("S0", (6,))]


def test_run_loops_follows_conditions_extremes_and_quotients():
    inner = "if (i % 2 == 0 || i > n - 3) for (int j = i; j >= 0; j -= 2) A[j] = 1.0;"
    found = run_loops(loops_of(from_c_text(EVERY_THIRD.replace("A[i] = 1.0;", inner)), sizes=2), {"n": 10})
    assert sorted(found) == [("S0", (i, j)) for i in (0, 3, 6, 9) if i % 2 == 0 or i > 7
                             for j in range(i % 2, i + 1, 2)]


def test_run_loops_takes_nests_deeper_than_python_does():
    node = StatementInstance("S", (constant(7),))
    for depth in range(30):
        node = For(f"c{depth}", constant(0), constant(1 + (depth in (3, 20))), 1, node)
    assert run_loops(node, {}) == [("S", (7,))] * 4


def test_right_loops_pass():
    scop = from_c_text(EVERY_THIRD)
    assert visits_every_instance(loops_of(scop), scop)
    assert visits_every_instance(loops_of(scop, sizes=(4,)), scop)


@pytest.mark.parametrize("change", [{"lower": constant(3)}, {"step": 6}, {"step": 1}])
def test_wrong_loops_are_found(change):
    scop = from_c_text(EVERY_THIRD)
    loops = loops_of(scop)
    assert isinstance(loops, For)
    values = {name: getattr(loops, name) for name in ("variable", "lower", "upper", "step", "body", "mark", "depth")}
    assert not visits_every_instance(For(**{**values, **change}), scop)


def test_tiles_that_isl_cannot_scan_are_given_up_and_reported():
    scop = from_c_file(STRIDED)
    tiled = tile(pluto(analyse(scop)), TilingOptions(sizes=(2, 3)))
    used, scanned = scanned_with_fallbacks(tiled)
    assert visits_every_instance(scanned.loops, scop)
    if used is tiled:  # an isl whose generator is right
        assert scanned.fallbacks == ()
    else:
        assert scanned.fallbacks[0].startswith("the tiles were given up: isl's loops did not visit every instance")
        with pytest.raises(NoLoopsError, match="did not visit every instance"):
            emit(tiled)
    assert lowered_with_fallbacks(tiled, EmitOptions()).fallbacks == scanned.fallbacks


def test_what_was_not_checked_is_said_with_its_place(caplog, monkeypatch):
    scop = from_c_text(EVERY_THIRD)
    loops = loops_of(scop)
    monkeypatch.setattr(scan_check, "CHECK_OPERATIONS", 1)
    with caplog.at_level("WARNING"):
        assert visits_every_instance(loops, scop)
    assert caplog.messages[0].startswith(f"{scop.source.path}:5: whether the new loops run every iteration of this "
                                         "statement exactly once was not checked: the proof took isl too long")
