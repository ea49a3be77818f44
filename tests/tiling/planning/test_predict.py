"""Predictions for trees made by hand are those of the planner's models for the same loops."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.scheduling import steps
from polysched.scheduling.primitives import Distribute, Interchange, Parallel, Skew, SplitAt, Step, Tile, Unroll
from polysched.scheduling.schedule import Schedule
from polysched.scop.c_frontend.frontend import from_c_text
from polysched.target import host
from polysched.tiling import TilingOptions, tile
from polysched.tiling.footprints.traffic import Level, traffic_bytes
from polysched.tiling.planning.predict import predict

PRODUCT = """\
void product(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
TWO = """\
void two(int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i][j] = 1.0;
            B[i][j] = 2.0;
        }
#pragma endscop
}
"""
TWO_BUFFERS = """\
void heat(int steps, int n, double a[2][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            a[(t + 1) % 2][i] = 0.33 * (a[t % 2][i - 1] + a[t % 2][i] + a[t % 2][i + 1]);
#pragma endscop
}
"""


TRIANGLE = """
void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def schedule(text: str, *done: Step) -> Schedule:
    scop = from_c_text(text)
    return steps.apply(Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original"), *done)


def structure(*done: Step) -> tuple[Level, ...]:
    changed = schedule(PRODUCT, *done)
    prediction = predict(changed.dependences, changed.tree, target=host())
    assert prediction.unknown == ()
    return prediction.nests[0].structure


def levels(*pairs: tuple[int, int]) -> tuple[Level, ...]:
    return tuple(Level(loop, step) for loop, step in pairs)


@pytest.mark.parametrize(("done", "expected"), [
    ((), levels((0, 1), (1, 1), (2, 1))),
    ((Tile(loops=("i", "j"), sizes=(8, 5)),), levels((0, 8), (1, 5), (0, 1), (1, 1), (2, 1))),
    ((Tile(loops=("i", "j"), sizes=(8, 8)), Tile(loops=(2, 3), sizes=(2, 4))),
     levels((0, 8), (1, 8), (0, 2), (1, 4), (0, 1), (1, 1), (2, 1))),
    ((Tile(loops=("i", "j"), sizes=(1, 5)),), levels((0, 1), (1, 5), (0, 1), (1, 1), (2, 1))),
    ((Unroll(loop="k", factor=4),), levels((0, 1), (1, 1), (2, 4), (2, 1))),
    ((Skew(loop="j", by="i", factor=1), Tile(loops=("i", "j"), sizes=(4, 6))),
     levels((0, 4), (1, 6), (0, 1), (1, 1), (2, 1))),
])
def test_tile_loops_are_recognised_with_their_sizes(done, expected):
    assert structure(*done) == expected


def test_traffic_is_that_of_the_model_for_the_planned_tiles():
    sizes = (32, 48, 64)
    original = schedule(PRODUCT)
    by_hand = schedule(PRODUCT, Tile(loops=("i", "j", "k"), sizes=sizes))
    prediction = predict(by_hand.dependences, by_hand.tree, target=host(), parameters={"n": 500})
    plan = tile(Schedule(dependences=original.dependences, tree=permutable(original), algorithm="original"),
                TilingOptions(sizes=sizes, register=False, parallel=False, parameters={"n": 500})).bands[0].plan
    assert plan is not None
    points = tuple(Level(loop, 1) for loop in range(3))
    for cache, moved in zip(host().caches, prediction.traffic, strict=True):
        expected = traffic_bytes(plan.nest, (*levels((0, 32), (1, 48), (2, 64)), *points), cache.size_bytes,
                                 cache.line_bytes, in_box=False)
        assert moved == sum(expected)


def permutable(original: Schedule):
    """The product's three loops as one band."""
    import islpy as isl
    values = isl.MultiUnionPwAff.read_from_str(
        isl.DEFAULT_CONTEXT, "[n] -> [{ S0[i, j, k] -> [(i)] }, { S0[i, j, k] -> [(j)] }, { S0[i, j, k] -> [(k)] }]")
    node = isl.Schedule.from_domain(original.scop.domain).insert_partial_schedule(values).get_root().child(0)
    return node.band_set_permutable(1).get_schedule()


def test_unit_stride_inside_is_predicted_to_be_faster_than_a_column():
    before, after = schedule(PRODUCT), schedule(PRODUCT, Interchange(outer="j", inner="k"))
    seconds = [predict(s.dependences, s.tree, target=host(), parameters={"n": 1000}).seconds for s in (before, after)]
    assert seconds[1] < seconds[0]


@pytest.mark.parametrize(("n", "edge", "times"), [
    (1000, None, 1), (1000, 4, 1),        # two rows of 8 kB stay in the first cache
    (100_000, None, 64), (100_000, 4, 16), (100_000, 16, 4),
])
def test_two_buffers_in_turn_move_as_often_as_blocks_of_time_steps(n, edge, times):
    tiles = () if edge is None else (Tile(loops=("t", "i"), sizes=(edge, edge)),)
    made = schedule(TWO_BUFFERS, Skew(loop="i", by="t", factor=1), *tiles)
    prediction = predict(made.dependences, made.tree, target=host(), parameters={"n": n, "steps": 64})
    assert prediction.traffic[0] == pytest.approx(times * 2 * 2 * n * 8, rel=0.05)   # two rows, in and out


def test_every_leaf_counts_and_marks_alone_change_nothing():
    fused, distributed = schedule(TWO), schedule(TWO, Distribute(loop="j"))
    for made, count in ((fused, 1), (distributed, 2)):   # statements of one innermost loop are one nest
        prediction = predict(made.dependences, made.tree, target=host(), parameters={"n": 300})
        assert len(prediction.nests) == count
        assert prediction.traffic == tuple(map(sum, zip(*(n.traffic for n in prediction.nests), strict=True)))
    marked = steps.apply(fused, Parallel(loop="i"))
    assert predict(marked.dependences, marked.tree, target=host()).traffic == \
        predict(fused.dependences, fused.tree, target=host()).traffic


def test_skewed_tile_loops_are_said_to_be_unknown():
    made = schedule(PRODUCT, Tile(loops=("i", "j"), sizes=(8, 8)), Skew(loop=1, by=0, factor=1))
    prediction = predict(made.dependences, made.tree, target=host())
    assert prediction.seconds is None
    assert prediction.traffic is None
    assert prediction.unknown == ("S0: the model knows no loop that enumerates tiles of several loops (tile loop 1)",)


def test_parts_of_a_triangle_have_the_instances_that_they_have_at_this_size():
    """Below the size at which it is cut, the second part has none."""
    made = schedule(TRIANGLE, SplitAt(loop="i", at=320))
    prediction = predict(made.dependences, made.tree, target=host(), parameters={"n": 350})
    counted = [nest.nest.instances * nest.nest.density for nest in prediction.nests]
    expected = [sum((349 - k) * max(0, end - max(first, k + 1)) for k in range(350))
                for first, end in ((0, 320), (320, 350))]
    assert counted == pytest.approx(expected, rel=0.03)
