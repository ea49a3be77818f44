"""Where loops are cut into tiles: every instance is in one, and nothing is cut that may not be."""

from dataclasses import replace
from itertools import count

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Linear, extreme, variable
from polysched.emit_c.loop_ir.loops import Block, For, Local, Node, StatementInstance
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_c.nests.tile_boundaries import with_boundaries
from polysched.scheduling.marks import LoopMark, Role

LEAF = StatementInstance("S0", (variable("i"),))


def loop(name: str, body: Node, role: Role = Role.LOOP, *, simd: bool = False) -> For:
    return For(variable=name, lower=Linear(), upper=variable("n"), step=1, body=body,
               mark=LoopMark(role=role, simd=simd))


def cut(node: Node, *, whole: bool = False, leaves: str = "") -> Node:
    numbers = count()
    return with_boundaries(node, whole=whole, fresh=lambda wish: f"{wish}{next(numbers)}",
                           leaves=lambda found: found.variable == leaves)


def yielding(node: Node) -> list[str]:
    return [n.variable for n in walk_nodes(node) if isinstance(n, For) and n.yields]


def test_the_innermost_loop_between_tiles_yields() -> None:
    points = loop("i", loop("j", LEAF), Role.POINT)
    assert yielding(cut(loop("t", loop("it", loop("jt", points, Role.TILE), Role.TILE)))) == ["jt"]


def test_what_stands_beside_tiles_is_a_tile_of_its_own() -> None:
    beside = Block((LEAF, loop("jt", loop("j", LEAF), Role.TILE), loop("k", loop("l", LEAF))))
    assert yielding(cut(loop("it", beside, Role.TILE))) == ["polysched_once0", "jt", "polysched_once1"]


def test_an_outermost_loop_around_others_yields_and_a_plain_one_is_cut_into_strips() -> None:
    found = cut(Block((loop("i", loop("j", LEAF), simd=True), loop("k", LEAF, simd=True))))
    assert yielding(found) == ["i", "polysched_strip0"]
    assert isinstance(found, Block)
    assert not found.children[0].mark.simd     # no pragma stands before what `goto` leaves
    strips = found.children[1]
    assert not strips.mark.simd
    assert (strips.step, strips.body.variable, strips.body.mark.simd) == (LIMITS.strip_iterations, "k", True)
    assert (strips.body.lower, strips.body.upper) == (variable("polysched_strip0"), extreme(
        "min", (variable("polysched_strip0") + LIMITS.strip_iterations, variable("n"))))


def test_a_short_loop_and_one_that_data_ends_are_one_tile() -> None:
    short = replace(loop("k", LEAF), upper=Linear(constant=LIMITS.strip_iterations))
    assert yielding(cut(short)) == ["polysched_once0"]
    assert yielding(cut(replace(short, upper=short.upper + 1))) == ["polysched_strip0"]
    assert yielding(cut(loop("k", LEAF), leaves="k")) == ["polysched_once0"]
    assert yielding(cut(replace(loop("k", LEAF), behind=2))) == ["polysched_once0"]


def test_what_keeps_values_is_one_tile() -> None:
    tiles = loop("it", loop("i", LEAF), Role.TILE)
    assert yielding(cut(tiles, whole=True)) == ["polysched_once0"]
    assert yielding(cut(Local((), tiles))) == ["polysched_once0"]
    assert yielding(cut(loop("k", tiles), leaves="k")) == ["polysched_once0"]
