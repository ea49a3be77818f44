"""Diamond tiles: legal, and with a whole row of tiles that start at once."""

from collections import Counter

import islpy as isl
import pytest

from polysched.scheduling.loop_tree import from_isl, multi_union_pw_aff
from polysched.scop.points import fix_parameters, points_of
from polysched.tiling import tile
from polysched.tiling.diamond import diamond_faces, shifted
from polysched.tiling.loops import Loop
from polysched.tiling.position import Position
from tests.tiling import kernels
from tests.tiling.test_tile_bands import LoopMark, assert_legal, plain, scheduled, shape


def tiles_per_wavefront(tiled, parameters):
    """How many tiles of the first two tile loops each wavefront has, from the first wavefront on."""
    outer = from_isl(tiled.tree).root
    functions = multi_union_pw_aff((outer.members[0], outer.child.members[0]))
    places = isl.UnionMap.from_multi_union_pw_aff(functions).intersect_domain(tiled.tree.get_domain()).range()
    counted = Counter(w for w, _ in points_of(fix_parameters(isl.Set.from_union_set(places), parameters)))
    return [counted[w] for w in sorted(counted)]


def test_all_tiles_of_a_row_start_at_once():
    schedule = scheduled(kernels.jacobi())
    parameters = {"N": 66, "T": 32}
    boxes = tile(schedule, plain(sizes=8))
    diamonds = tile(schedule, plain(sizes=8, diamond=True))
    for tiled in (boxes, diamonds):
        assert_legal(tiled)
        assert tiled.bands[0].wavefront
    assert tiles_per_wavefront(boxes, parameters)[0] == 1
    rows = tiles_per_wavefront(diamonds, parameters)
    assert min(rows[1:-1]) >= 66 // 8 - 1


def test_rows_inside_a_diamond_are_vector_loops():
    tiled = tile(scheduled(kernels.jacobi()), plain(sizes=(4, 8, 16), diamond=True))
    assert shape(tiled) == ["wavefront1", "tile0p", "tile2", "point0", "point1", "point2s", "point2s"]


def test_a_sweep_in_place_cannot_start_at_once():
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=8, diamond=True))
    assert_legal(tiled)
    assert shape(tiled)[:2] == ["wavefront0", "tile1p"]


def position_and_loops(kernel):
    schedule = scheduled(kernel)
    tree = from_isl(schedule.tree)
    loops = tuple(Loop(function=member, mark=LoopMark(member=i)) for i, member in enumerate(tree.root.members))
    return Position(domain=tree.domain, dependences=schedule.dependences.validity), loops


def test_the_second_face_mirrors_the_first_with_a_shift_per_statement():
    position, loops = position_and_loops(kernels.jacobi())
    space, mirror = diamond_faces(position, loops)
    assert space.mark.member == 1
    total = isl.UnionMap.from_union_pw_aff(space.function.add(mirror.function)).intersect_domain(position.domain)
    assert total.is_subset(isl.UnionMap("[N, T] -> { P[t, i, j] -> [4t]; Q[t, i, j] -> [4t + 2] }"))


@pytest.mark.parametrize(("functions", "possible"), [
    ("{ S[i] -> [(i)] }", True),
    ("{ S[i] -> [(-i)] }", False),
])
def test_a_function_is_shifted_only_where_that_helps(functions, possible):
    position = Position(domain=isl.UnionSet("{ S[i] : 0 <= i < 9 }"),
                        dependences=isl.UnionMap("{ S[i] -> S[i + 1] : 0 <= i < 8 }"))
    function = isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, functions)
    assert (shifted(position, function) is not None) == possible
