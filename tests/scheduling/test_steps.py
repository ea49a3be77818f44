"""Steps applied one after the other, listed where they are legal, and replayed from what is stored."""

from __future__ import annotations

import pytest

from polysched.errors import BudgetExceededError, IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import (
    STEPS,
    Interchange,
    Parallel,
    Peel,
    Reorder,
    Reverse,
    Skew,
    SplitAt,
    Stitch,
    StripMine,
    Tile,
    Unroll,
)
from polysched.scheduling.primitives.step import Step
from tests.scheduling.primitives.changed_programs import BLUR, as_written
from tests.scheduling.primitives.programs import order, product, stencil


@pytest.mark.parametrize("step", [
    StripMine(loop="j", size=3), SplitAt(loop="j", at="N - 2"), SplitAt(loop="k", at=1), Peel(loop="k"),
    Peel(loop="j", count=2, where="last"), Unroll(loop="k", factor=2)], ids=lambda s: s.NAME)
def test_steps_that_keep_the_order(step):
    before = product()
    after = steps.apply(before, step)
    assert order(after) == order(before)
    assert after.tree.to_str() != before.tree.to_str()


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
    assert steps.available(product(), Parallel, Interchange) == (
        *steps.available(product(), Parallel), *steps.available(product(), Interchange))
    assert Interchange(outer=0, inner=1) not in steps.available(stencil(), Interchange)
    assert set(steps.available(product(), Reorder)) == {Reorder(order=o) for o in (
        (1, 0), (1, 0, 2), (2, 0, 1), (1, 2, 0), (0, 2, 1), (2, 1))}
    assert steps.available(stencil(), Reorder) == ()
    assert steps.available(as_written(BLUR), Stitch) == tuple(Stitch(dominant=s, sizes=(32,)) for s in ("S0", "S1"))


@pytest.mark.parametrize("name", sorted(STEPS))
def test_every_kind_of_step_can_be_listed_and_what_is_listed_is_legal(name: str) -> None:
    for start in (product(), stencil()):
        for step in steps.available(start, STEPS[name]):
            assert type(step) is STEPS[name]
            assert steps.apply(start, step).steps == (step,)


@pytest.mark.parametrize("made", [
    (), (Tile(loops=(0, 1), sizes=(3, 5)),), (Parallel(loop=0),), (Reverse(loop=0),), (Skew(loop=1, by=0, factor=1),),
    (Skew(loop=1, by=0, factor=1), Tile(loops=(0, 1), sizes=(2, 2)))], ids=lambda m: " ".join(s.NAME for s in m))
def test_what_is_listed_without_looking_at_the_order_is_what_the_order_allows(made, monkeypatch):
    """Steps that keep the order, and tiles and orders of loops that run every dependence forward."""
    kinds = [STEPS[name] for name in ("tile", "interchange", "reorder", "skew", "unroll", "unroll_and_jam", "peel",
                                      "strip_mine", "parallel", "vectorize")]
    for start in (product(), stencil(), as_written(BLUR)):
        try:
            state = steps.apply(start, *made)
        except (IllegalScheduleError, UsageError):
            continue
        listed = steps.available(state, *kinds)
        with monkeypatch.context() as slow:
            slow.setattr(steps, "_is_promise", lambda _: True)     # so that every order is looked at
            assert listed == steps.available(state, *kinds)


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
    assert steps.available(product(), Reverse)

    def undecided(*_, **__):
        raise BudgetExceededError("not decided", where="here")

    monkeypatch.setattr(steps, "check_legal", undecided)
    assert steps.available(product(), Reverse) == ()
