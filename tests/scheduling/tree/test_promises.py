"""What a tree promises beyond its order: flags and marks that a dependence contradicts are refused with a pair."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.promises import check_promises, require_readable_marks
from tests.scheduling.primitives.programs import product, stencil

PRODUCT = ('{{ domain: "[N] -> {{ S0[i, j, k] : 0 <= i, j, k < N }}", child: {{ schedule: "[{{ S0[i, j, k] -> [i] }}, '
           '{{ S0[i, j, k] -> [j] }}, {{ S0[i, j, k] -> [k] }}]", permutable: 1, coincident: [ {flags} ] }} }}')
STENCIL = ('{{ domain: "[N] -> {{ S0[t, i] : 0 <= t < N and 1 <= i < N }}", child: {{ schedule: "[{{ S0[t, i] -> [t] '
           '}}, {{ S0[t, i] -> [{inner}] }}]", permutable: 1 }} }}')
MARKED = ('{{ domain: "[N] -> {{ S0[i, j, k] : 0 <= i, j, k < N }}", child: {{ mark: "{outer}", child: {{ schedule: '
          '"[{{ S0[i, j, k] -> [i] }}]", child: {{ schedule: "[{{ S0[i, j, k] -> [j] }}]", child: {{ mark: "{inner}", '
          'child: {{ schedule: "[{{ S0[i, j, k] -> [k] }}]" }} }} }} }} }} }}')
NONE, PARALLEL, SIMD = (LoopMark(parallel=p, simd=s).to_text() for p, s in ((False, False), (True, False),
                                                                           (False, True)))


def tree(text: str) -> isl.Schedule:
    return isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text)


@pytest.mark.parametrize(("flags", "claim"), [("1, 1, 0", ""), ("0, 0, 0", ""), ("1, 0, 1", "the loop 2 of a band")])
def test_coincident_members(flags: str, claim: str) -> None:
    given = tree(PRODUCT.format(flags=flags))
    if not claim:
        check_promises(product().dependences, given, what="tree", flags=True)
        return
    with pytest.raises(IllegalScheduleError, match=claim) as refused:
        check_promises(product().dependences, given, what="tree", flags=True)
    assert "S0[" in refused.value.witness
    check_promises(product().dependences, given, what="tree")


@pytest.mark.parametrize(("inner", "holds"), [("t + i", True), ("i", False)])
def test_permutable_members_run_nothing_backward(inner: str, holds: bool) -> None:
    given = tree(STENCIL.format(inner=inner))
    if holds:
        check_promises(stencil().dependences, given, what="tree", flags=True)
        return
    with pytest.raises(IllegalScheduleError, match="the loop 1 of a band called permutable runs backward"):
        check_promises(stencil().dependences, given, what="tree", flags=True)


@pytest.mark.parametrize(("outer", "inner", "claim"), [
    (PARALLEL, NONE, ""), (SIMD, NONE, ""), (NONE, PARALLEL, "marked parallel carries"),
    (NONE, SIMD, "marked simd carries"), ("somebody's", "parallel=1", "")])
def test_marks(outer: str, inner: str, claim: str) -> None:
    given = tree(MARKED.format(outer=outer, inner=inner))
    if not claim:
        check_promises(product().dependences, given, what="step x")
        return
    with pytest.raises(IllegalScheduleError, match=f"step x: the loop {claim}") as refused:
        check_promises(product().dependences, given, what="step x")
    assert "privatize" in refused.value.hint


def test_marks_that_cannot_be_read_are_refused() -> None:
    for wrong in ("polysched role=nothing", "polysched parallel=yes", "polysched role"):
        with pytest.raises(UsageError, match="cannot be read") as refused:
            require_readable_marks(tree(MARKED.format(outer=wrong, inner=NONE)))
        assert refused.value.witness == wrong
    require_readable_marks(tree(MARKED.format(outer="what anybody likes", inner=PARALLEL)))


def test_marks_of_register_tiles_belong_to_tiling() -> None:
    register = LoopMark(role=Role.POINT, register=True, unroll=4).to_text()
    with pytest.raises(UsageError, match="marks of register tiles"):
        require_readable_marks(tree(MARKED.format(outer=NONE, inner=register)))
