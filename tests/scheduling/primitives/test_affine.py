"""Skew, shift, reverse and scale: the order they give, and what they refuse."""

from __future__ import annotations

import pytest

from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import Reverse, Scale, Shift, Skew, Tile
from polysched.scheduling.tree.loop_tree import from_isl
from tests.scheduling.primitives.programs import as_written, names, order, product, split_two_loops, stencil
from tests.scop_builder import build_scop


def test_a_shifted_statement_has_one_expression():
    scop = build_scop([("S0", "{ S0[i] : 0 <= i < N and i mod 3 = 0 }", ["{ S0[i] -> A[i] }"], ["{ S0[i] -> A[i] }"])],
                      "{ S0[i] -> [i] }")
    shifted = steps.apply(as_written(scop), Shift(loop=0, statement="S0", amount=2))
    member = from_isl(shifted.tree).root.members[0]
    assert [p.n_piece() for p in (member.get_pw_aff_list().get_at(k) for k in range(member.n_pw_aff()))] == [1]


def test_skew_makes_a_stencil_tileable():
    tiled = steps.apply(stencil(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 2)))
    assert names(tiled) == ["t_tile", "i_tile", "t", "i"]


def test_skew_wants_an_outer_loop():
    with pytest.raises(UsageError, match="loop 'i' is not around loop 't'"):
        steps.apply(stencil(), Skew(loop="t", by="i", factor=1))


def test_reverse():
    turned = steps.apply(product(), Reverse(loop="i"))
    assert order(turned)[0] == ("S0", (3, 0, 0))
    with pytest.raises(IllegalScheduleError, match="step reverse"):
        steps.apply(product(), Reverse(loop="k"))


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
