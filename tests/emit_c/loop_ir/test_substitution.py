"""Values in the place of variables: what runs is what ran with the variable at that value."""

from __future__ import annotations

import pytest

from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.loop_ir.index import variable
from polysched.emit_c.loop_ir.loops import Local, RegisterTile, Temporary
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.substitution import substitute_node

NEST = """for i in range(floord(v, 2), min(n, v + 3)):
    if any(i >= v, rem(i + v, 3) == 0):
        with let(j, 2*v - i):
            S(i, j, v)
    else:
        T(product(v, i))
"""


@pytest.mark.parametrize("value", [variable("w") * 3 + 1, variable("w") - variable("n"), variable("w")])
def test_the_same_instances_run_with_the_value_put_in(value) -> None:
    loops = parse_loops(NEST)
    put_in = substitute_node(loops, {"v": value})
    for w in range(-2, 4):
        given = {"w": w, "n": 5}
        at = value.constant + sum(factor * given[atom.name] for atom, factor in value.terms)
        assert run_loops(put_in, given) == run_loops(loops, {"n": 5, "v": at})


def test_register_tiles_are_changed_in_loops_edges_and_body() -> None:
    tile = parse_loops("with register_tile(loops=(loop(k, v, v + n),), edges=(edge(i, v, 4),)):\n    S(i + v, k)\n")
    assert substitute_node(tile, {"v": variable("w") + 1}) == parse_loops(
        "with register_tile(loops=(loop(k, w + 1, w + n + 1),), edges=(edge(i, w + 1, 4),)):\n    S(i + w + 1, k)\n")


def test_what_is_placed_behind_substitutions_is_refused() -> None:
    body = parse_loops("S(i)")
    for node in (Local((Temporary("x", "x"),), body), parse_loops(
            "with packed(Panel(name='p', statement='S', value=Load(reference='r', dtype=dtype('float64')), subscripts="
            "(), extents=(), loops=(), in_lanes=False), S(i)):\n    S(i)\n")):
        with pytest.raises(ValueError, match="when all substitutions are done"):
            substitute_node(node, {})
    assert substitute_node(RegisterTile((), (), body), {}) == RegisterTile((), (), body)
