"""Diamond tiles: legal, and with a whole row of tiles that start at once."""

from collections import Counter

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.scheduling import SchedulerOptions, pluto
from polysched.scheduling.tree.loop_tree import from_isl, multi_union_pw_aff
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters, points_of
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.shapes.diamond import diamond_faces, shifted
from polysched.tiling.shapes.wavefront import rows_at_one_time
from polysched.tiling.tree.loops import Loop
from polysched.tiling.tree.position import Position
from tests.tiling import kernels
from tests.tiling.test_tile_bands import LoopMark, assert_legal, plain, scheduled, shape

TWO_STEPS = from_c_text("""void f(int steps, int n, float a[n], float b[n]) {
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
        for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i] + b[i + 1];
    }
#pragma endscop
}""")


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


@pytest.mark.parametrize("edges", [(1, 16), (16, 1), (1, 1), (2, 3)])
def test_tiles_of_one_step_are_no_diamonds(edges):
    """A diamond holds several steps of time: without a loop over them inside the tile they would run out of order."""
    assert_legal(tile(scheduled(TWO_STEPS), plain(sizes=edges, diamond=True)))


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


TWO_CORES = Target(vector_bits=256, vector_registers=16, cores=2, caches=(
    CacheLevel(level=1, size_bytes=32 << 10), CacheLevel(level=2, size_bytes=1 << 20)))
ROLLING = """
void f(double A[2][4000]) {
#pragma scop
  for (int t = 0; t < 1000; t++)
    for (int i = 1; i < 3999; i++)
      A[(t + 1) % 2][i] = A[t % 2][i - 1] + A[t % 2][i + 1];
#pragma endscop
}
"""


def scheduled_rolling(**options):
    return pluto(analyse(from_c_text(ROLLING)), options=SchedulerOptions(**options))


def test_faces_as_loops_are_tiled_even_where_the_cache_holds_everything():
    """Bands of [t - i, t + i]: without tiles nothing runs on threads, nor in lanes."""
    tiled = tile(scheduled_rolling(concurrent_start=1), TilingOptions(target=TWO_CORES))
    assert_legal(tiled)
    assert tiled.bands[0].wavefront
    assert shape(tiled)[-1].endswith("s"), "rows inside a tile go through space, in lanes"


@pytest.mark.parametrize(("start", "lanes", "expected"), [
    (1, False, ["point0", "point1"]), (0, True, ["point0", "point1s"])])
def test_points_keep_their_loops_where_a_row_is_independent_or_nobody_wants_lanes(start, lanes, expected):
    tiled = tile(scheduled_rolling(concurrent_start=start), TilingOptions(target=TWO_CORES, simd=lanes))
    assert shape(tiled)[-2:] == expected


@pytest.mark.parametrize(("functions", "dependences", "changes"), [
    (("i - j", "i + j"), "{ S[i, j] -> S[i + 1, j + 1]; S[i, j] -> S[i + 1, j - 1] }", True),
    (("i - j", "i + j"), "{ S[i, j] -> S[i + 1, j + 1] }", False),    # rows along i - j are independent
    (("i", "j"), "{ S[i, j] -> S[i + 1, j]; S[i, j] -> S[i, j + 1] }", False),    # new rows would be anti-diagonals
])
def test_points_of_faces_change_where_rows_go_through_space(functions, dependences, changes):
    loops = tuple(Loop(function=isl.UnionPwAff(f"{{ S[i, j] -> [({name})] }}"), mark=LoopMark(member=k))
                  for k, name in enumerate(functions))
    position = Position(domain=isl.UnionSet("{ S[i, j] : 0 <= i, j < 9 }"), dependences=isl.UnionMap(dependences))
    assert (rows_at_one_time(position, loops) is not loops) == changes


@pytest.mark.parametrize(("functions", "time"), [
    (("2t - i", "2t + i"), "t"), (("2t - i", "2t + i + 3"), "t"), (("2t - i", "4 + 2t + i"), "1 + t")])
def test_rows_of_points_go_by_time_itself_and_not_by_its_multiples(functions, time):
    """Loops over 2 t, in steps of two, made every bound and subscript a division."""
    loops = tuple(Loop(function=isl.UnionPwAff(f"{{ S[t, i] -> [({name})] }}"), mark=LoopMark(member=k))
                  for k, name in enumerate(functions))
    position = Position(domain=isl.UnionSet("{ S[t, i] : 0 <= t, i < 9 }"), dependences=isl.UnionMap(
        "{ S[t, i] -> S[t + 1, i + 2]; S[t, i] -> S[t + 1, i - 2] }"))
    found = rows_at_one_time(position, loops)[0].function
    assert found.plain_is_equal(isl.UnionPwAff(f"{{ S[t, i] -> [({time})] }}")), found
