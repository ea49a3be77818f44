"""Each primitive on a small program: the loops it makes, the order it gives, and what it refuses."""

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.errors import BudgetExceededError, IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import (
    STEPS,
    Distribute,
    Fuse,
    Interchange,
    Parallel,
    Peel,
    Reorder,
    Reverse,
    Scale,
    Shift,
    Skew,
    SplitAt,
    StripMine,
    Tile,
    Unroll,
    UnrollAndJam,
    Vectorize,
)
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import from_isl, to_isl
from polysched.scop.points import instances_in_order
from tests.scop_builder import build_scop


def test_a_shifted_statement_has_one_expression():
    scop = build_scop([("S0", "{ S0[i] : 0 <= i < N and i mod 3 = 0 }", ["{ S0[i] -> A[i] }"], ["{ S0[i] -> A[i] }"])],
                      "{ S0[i] -> [i] }")
    shifted = steps.apply(as_written(scop), Shift(loop=0, statement="S0", amount=2))
    member = from_isl(shifted.tree).root.members[0]
    assert [p.n_piece() for p in (member.get_pw_aff_list().get_at(k) for k in range(member.n_pw_aff()))] == [1]


def as_written(scop):
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def product():
    """C[i][j] += A[i][k] * B[k][j]."""
    return as_written(build_scop(
        [("S0", "{ S0[i, j, k] : 0 <= i < N and 0 <= j < N and 0 <= k < N }",
          ["{ S0[i, j, k] -> C[i, j] }", "{ S0[i, j, k] -> A[i, k] }", "{ S0[i, j, k] -> B[k, j] }"],
          ["{ S0[i, j, k] -> C[i, j] }"])], "{ S0[i, j, k] -> [i, j, k] }"))


def stencil():
    """A[i] = A[i - 1] + A[i + 1], over time."""
    return as_written(build_scop(
        [("S0", "{ S0[t, i] : 0 <= t < N and 1 <= i < N }",
          ["{ S0[t, i] -> A[i - 1] }", "{ S0[t, i] -> A[i + 1] }"], ["{ S0[t, i] -> A[i] }"])],
        "{ S0[t, i] -> [t, i] }"))


def two_loops():
    """for i: B[i] = A[i]; for j: C[j] = B[j + 1]."""
    return as_written(build_scop(
        [("S0", "{ S0[i] : 0 <= i <= N }", ["{ S0[i] -> A[i] }"], ["{ S0[i] -> B[i] }"]),
         ("S1", "{ S1[j] : 0 <= j < N }", ["{ S1[j] -> B[j + 1] }"], ["{ S1[j] -> C[j] }"])],
        "{ S0[i] -> [0, i]; S1[j] -> [1, j] }"))


def split_two_loops():
    """The same with the sequence as a sequence node, as front ends make it."""
    schedule = two_loops()
    text = ('{ domain: "[N] -> { S0[i] : 0 <= i <= N; S1[j] : 0 <= j < N }", child: { sequence: [ '
            '{ filter: "{ S0[i] }", child: { schedule: "[{ S0[i] -> [(i)] }]" } }, '
            '{ filter: "{ S1[j] }", child: { schedule: "[{ S1[j] -> [(j)] }]" } } ] } }')
    return Schedule(dependences=schedule.dependences, algorithm="original",
                    tree=isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text))


def names(schedule):
    return [loop.name for loop in steps.loops(steps.loop_tree(schedule.tree))]


def order(schedule, size=4):
    scop = schedule.scop
    statement_names = [s.name for s in scop.statements]
    return [(name, tuple(point)) for name, point in
            instances_in_order(scop.domain, schedule.tree, {"N": size}, statement_names)]


def test_tree_text_round_trip():
    schedule = split_two_loops()
    again = to_isl(from_isl(schedule.tree))
    assert again.get_map().is_equal(schedule.tree.get_map())


def test_tile():
    tiled = steps.apply(product(), Tile(loops=("i", "j"), sizes=(2, 3)))
    assert names(tiled) == ["i_tile", "j_tile", "i", "j", "k"]
    points = order(tiled)
    assert len(points) == 64
    assert [p for _, p in points[:24:4]] == [(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0)]


def test_sizes_belong_to_the_loops_as_they_are_named():
    assert steps.apply(product(), Tile(loops=("j", "i"), sizes=(8, 4))).tree.plain_is_equal(
        steps.apply(product(), Tile(loops=("i", "j"), sizes=(4, 8))).tree)


@pytest.mark.parametrize(("kind", "values", "field"), [
    (Tile, {"loops": ("i",), "sizes": (2.5,)}, "sizes"),
    (Tile, {"loops": "ij", "sizes": (2, 2)}, "loops"),
    (Reverse, {"loop": None}, "loop"),
    (Reverse, {"loop": True}, "loop"),
    (Skew, {"loop": "j", "by": "i", "factor": 1.5}, "factor"),
    (Scale, {"loop": "i", "factor": 1 << 40}, "factor"),
    (Peel, {"loop": "i", "count": "1"}, "count"),
])
def test_values_of_another_type_are_refused(kind: type[Step], values: dict[str, object], field: str):
    with pytest.raises(UsageError, match=f"step {kind.NAME}: {field} cannot be"):
        kind(**values)


def test_a_list_stands_for_a_tuple():
    assert Tile(loops=["i"], sizes=[4]) == Tile(loops=("i",), sizes=(4,))
    with pytest.raises(UsageError, match="no loop was named"):
        steps.apply(product(), Reorder(order=()))


def test_tile_refuses_a_stencil_that_is_not_skewed():
    with pytest.raises(IllegalScheduleError, match="step tile breaks the") as caught:
        steps.apply(stencil(), Tile(loops=("t", "i"), sizes=(2, 2)))
    assert "must run before" in caught.value.witness


def test_skew_makes_a_stencil_tileable():
    tiled = steps.apply(stencil(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 2)))
    assert names(tiled) == ["t_tile", "i_tile", "t", "i"]


def test_skew_wants_an_outer_loop():
    with pytest.raises(UsageError, match="loop 'i' is not around loop 't'"):
        steps.apply(stencil(), Skew(loop="t", by="i", factor=1))


def test_interchange_and_reorder():
    swapped = steps.apply(product(), Interchange(outer="i", inner="k"))
    assert names(swapped) == ["k", "j", "i"]
    assert names(steps.apply(product(), Reorder(order=("k", "i", "j")))) == ["k", "i", "j"]
    assert order(swapped)[1] == ("S0", (1, 0, 0))


def test_interchange_is_refused_with_a_pair():
    with pytest.raises(IllegalScheduleError) as caught:
        steps.apply(stencil(), Interchange(outer="t", inner="i"))
    assert "S0[" in caught.value.witness
    assert "N = " in caught.value.witness


def test_reverse():
    turned = steps.apply(product(), Reverse(loop="i"))
    assert order(turned)[0] == ("S0", (3, 0, 0))
    with pytest.raises(IllegalScheduleError, match="step reverse"):
        steps.apply(product(), Reverse(loop="k"))


def test_fuse_needs_alignment():
    with pytest.raises(IllegalScheduleError, match="step fuse breaks the flow dependence S0_w1 -> S1_r0 on B"):
        steps.apply(split_two_loops(), Fuse(first="i", second="j"))
    shifted = steps.apply(split_two_loops(), Shift(loop="j", statement="S1", amount=1), Fuse(first=0, second=1))
    assert names(shifted) == ["i"]
    assert order(shifted, 2) == [("S0", (0,)), ("S0", (1,)), ("S1", (0,)), ("S0", (2,)), ("S1", (1,))]


def test_fuse_refuses_loops_that_are_not_neighbours():
    with pytest.raises(UsageError, match="are not neighbours"):
        steps.apply(product(), Fuse(first="i", second="j"))


def test_distribute_undoes_fuse():
    fused = steps.apply(split_two_loops(), Shift(loop="j", statement="S1", amount="1"), Fuse(first=0, second=1))
    apart = steps.apply(fused, Distribute(loop="i"))
    assert names(apart) == ["i", "j"]
    with pytest.raises(UsageError, match="no sequence directly inside"):
        steps.apply(apart, Distribute(loop="i"))


def test_shift_by_a_parameter():
    late = steps.apply(split_two_loops(), Shift(loop="j", statement="S1", amount="N - 1"))
    assert order(late, 3) == order(split_two_loops(), 3)
    with pytest.raises(UsageError, match="no affine expression over the parameters"):
        steps.apply(split_two_loops(), Shift(loop="j", statement="S1", amount="N*N"))
    with pytest.raises(UsageError, match="does not contain S0"):
        steps.apply(split_two_loops(), Shift(loop="j", statement="S0", amount=1))


def test_scale_keeps_the_order():
    assert order(steps.apply(product(), Scale(loop="j", factor=2))) == order(product())
    with pytest.raises(UsageError, match="at least 1"):
        steps.apply(product(), Scale(loop="j", factor=0))


@pytest.mark.parametrize("step", [
    StripMine(loop="j", size=3), SplitAt(loop="j", at="N - 2"), SplitAt(loop="k", at=1), Peel(loop="k"),
    Peel(loop="j", count=2, where="last"), Unroll(loop="k", factor=2)], ids=lambda s: s.NAME)
def test_steps_that_keep_the_order(step):
    before = product()
    after = steps.apply(before, step)
    assert order(after) == order(before)
    assert after.tree.to_str() != before.tree.to_str()


def test_peel_takes_out_the_first_iteration_of_every_outer_one():
    peeled = steps.apply(product(), Peel(loop="k"))
    assert names(peeled) == ["i", "j", "k", "k"]
    with pytest.raises(UsageError, match="first or last"):
        steps.apply(product(), Peel(loop="k", where="middle"))


def test_unroll_and_jam():
    jammed = steps.apply(product(), UnrollAndJam(loop="i", factor=2))
    assert names(jammed) == ["i_tile", "j", "k", "i"]
    assert [p for _, p in order(jammed)[:3]] == [(0, 0, 0), (1, 0, 0), (0, 0, 1)]
    with pytest.raises(UsageError, match="no loop directly inside"):
        steps.apply(product(), UnrollAndJam(loop="k", factor=2))
    with pytest.raises(UsageError, match="at least 2"):
        steps.apply(product(), Unroll(loop="k", factor=1))


def test_parallel():
    assert "parallel=1" in steps.apply(product(), Parallel(loop="i")).tree.to_str()
    with pytest.raises(IllegalScheduleError, match="step parallel: the loop marked parallel carries the") as caught:
        steps.apply(product(), Parallel(loop="k"))
    assert "different iterations" in caught.value.witness


def test_a_loop_that_loses_its_independence_is_refused():
    ready = steps.apply(stencil(), Skew(loop="i", by="t", factor=2), Interchange(outer="t", inner="i"))
    parallel = steps.apply(ready, Parallel(loop="t"))
    with pytest.raises(IllegalScheduleError, match="step interchange"):
        steps.apply(parallel, Interchange(outer="i", inner="t"))


def test_vectorize_only_innermost():
    assert "simd=1" in steps.apply(product(), Interchange(outer="j", inner="k"), Vectorize(loop="j")).tree.to_str()
    with pytest.raises(UsageError, match="is not innermost"):
        steps.apply(product(), Vectorize(loop="i"))
    with pytest.raises(IllegalScheduleError, match="marked simd"):
        steps.apply(product(), Vectorize(loop="k"))


def test_names_must_be_unique():
    peeled = steps.apply(product(), Peel(loop="k"))
    with pytest.raises(UsageError, match="2 loops are called 'k'") as caught:
        steps.apply(peeled, Reverse(loop="k"))
    assert "3: k" in caught.value.hint
    with pytest.raises(UsageError, match="no loop is called 'z'"):
        steps.apply(peeled, Reverse(loop="z"))


def test_replay_gives_the_same_tree():
    start = stencil()
    done = steps.apply(start, Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(4, 8)))
    stored = [step.to_json() for step in done.steps]
    again = steps.replay(start, stored)
    assert again.tree.plain_is_equal(done.tree)
    assert again.steps == done.steps


def test_step_from_json_refuses():
    with pytest.raises(UsageError, match="there is no step 'bend'"):
        steps.step_from_json({"step": "bend"})
    with pytest.raises(UsageError, match="has no field 'colour'"):
        steps.step_from_json({"step": "tile", "colour": 1})
    with pytest.raises(UsageError, match="is incomplete"):
        steps.step_from_json({"step": "tile", "loops": ["i"]})


def test_available():
    assert steps.available(product(), Parallel) == (Parallel(loop=0), Parallel(loop=1))
    assert steps.available(stencil(), Parallel) == ()
    assert Interchange(outer=0, inner=1) not in steps.available(stencil(), Interchange)
    assert set(steps.available(product(), Reorder)) == {Reorder(order=o) for o in (
        (1, 0), (1, 0, 2), (2, 0, 1), (1, 2, 0), (0, 2, 1), (2, 1))}
    assert steps.available(stencil(), Reorder) == ()


@pytest.mark.parametrize("name", sorted(STEPS))
def test_every_kind_of_step_can_be_listed_and_what_is_listed_is_legal(name: str) -> None:
    for start in (product(), stencil()):
        for step in steps.available(start, STEPS[name]):
            assert type(step) is STEPS[name]
            assert steps.apply(start, step).steps == (step,)


def test_an_unknown_kind_of_step_has_no_places() -> None:
    class Bend(Step):
        NAME = "bend"

    with pytest.raises(UsageError, match="no kind of step is called 'bend'"):
        steps.available(product(), Bend)


def test_every_step_has_a_name_and_a_docstring():
    for name, kind in STEPS.items():
        assert kind.NAME == name
        assert kind.__doc__


def test_a_place_that_isl_cannot_decide_is_not_listed(monkeypatch):
    assert steps.available(product(), Interchange)

    def undecided(*_, **__):
        raise BudgetExceededError("not decided", where="here")

    monkeypatch.setattr(steps, "check_legal", undecided)
    assert steps.available(product(), Interchange) == ()
