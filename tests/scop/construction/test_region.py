"""The Region: domains, accesses, order and context of what is put into it."""

import islpy as isl
import pytest

from polysched.scop.body import Literal
from polysched.scop.construction import values
from polysched.scop.construction.affine_sets import largest_extent, range_set
from polysched.scop.construction.region import OutOfBounds, Region
from polysched.scop.dtypes import FLOAT64
from polysched.scop.plain_c import c_condition, c_expression
from polysched.scop.points import with_sizes
from polysched.scop.scop import Storage

ZERO = values.number(0)
ONE = Literal("1.0", 1.0, FLOAT64)


def region_with(extent: str = "N") -> tuple[Region, values.Value]:
    region = Region("test")
    size = region.parameter(extent, at_least=0)
    region.declare("A", FLOAT64, (size,), storage=Storage.ARGUMENT)
    return region, size


@pytest.mark.parametrize(("start", "stop", "step", "expected"), [
    (0, 10, 1, "{ S0[i] : 0 <= i < 10 }"), (9, -1, -1, "{ S0[i] : 0 <= i <= 9 }"),
    (1, 10, 3, "{ S0[i] : exists k : i = 1 + 3k and 1 <= i < 10 }"), (9, 0, -4, "{ S0[i] : i = 1 or i = 5 or i = 9 }")])
def test_loops_are_ranges(start: int, stop: int, step: int, expected: str) -> None:
    region = Region("test")
    region.declare("A", FLOAT64, (values.number(10),), storage=Storage.ARGUMENT)
    with region.loop("i", values.number(start), values.number(stop), step) as i:
        region.assign("A", (i,), ONE)
    scop = region.finish()
    assert scop.statements[0].domain.is_equal(isl.Set(expected))
    order = scop.schedule.get_map()
    first = isl.UnionSet(f"{{ S0[{start}] }}").apply(order)
    assert scop.domain.apply(order).lexmin().is_equal(first)


def test_guards_restrict_domains_and_accesses() -> None:
    region, size = region_with()
    with region.loop("i", ZERO, size) as i:
        inside = values.compare(">", i, ZERO).condition
        with region.guard(inside):
            before = region.load("A", (values.arithmetic("-", i, values.number(1)),))
        region.assign("A", (i,), before.expr)
    (statement,) = region.finish().statements
    assert str(statement.reads[0].relation) == "[N] -> { S0[i] -> A[x0 = -1 + i] : 0 < i < N }"
    assert str(statement.domain) == "[N] -> { S0[i] : 0 <= i < N }"


def test_sequences_and_nests_keep_their_order() -> None:
    region, size = region_with()
    with region.loop("i", ZERO, size) as i:
        region.assign("A", (i,), ONE)
        with region.loop("j", ZERO, i) as j:
            region.assign("A", (j,), ONE)
        region.assign("A", (i,), ONE)
    scop = region.finish()
    order = scop.schedule.get_map()
    before = order.lex_lt_union_map(order)
    wanted = isl.UnionMap("[N] -> { S0[i] -> S1[i, j] : 0 <= j < i < N; S1[i, j] -> S2[i] : 0 <= j < i < N }")
    assert wanted.is_subset(before)


def test_unreachable_statements_are_left_out() -> None:
    region, size = region_with()
    with region.loop("i", ZERO, size) as i, region.guard(values.compare("<", i, ZERO).condition):
        assert region.assign("A", (i,), ONE) is None
    assert region.finish().statements == ()


def test_bounds_become_the_context() -> None:
    region, _ = region_with()
    count = region.parameter("n")
    with region.loop("i", ZERO, count) as i:
        region.assign("A", (i,), ONE)
    scop = region.finish()
    assert str(scop.context) == "[N, n] -> {  : N >= 0 and n <= N }"
    (assumption,) = scop.assumptions
    assert (assumption.kind, assumption.condition) == ("in-bounds", "N >= n")


def test_outside_for_all_sizes() -> None:
    region, size = region_with()
    with pytest.raises(OutOfBounds, match="A is accessed outside its extents"):
        region.assign("A", (size,), ONE)


def test_contexts_have_one_piece_with_the_usual_sizes() -> None:
    region, size = region_with()
    count = region.parameter("n")
    with region.loop("i", ZERO, count) as i:
        region.assign("A", (i,), ONE)
        with region.loop("j", values.number(1), size) as j:
            region.assign("A", (values.arithmetic("-", values.arithmetic("+", i, j), values.number(1)),), ONE)
    scop = region.finish()
    assert scop.context.n_basic_set() == 1
    assert not with_sizes(scop.context, {"n": 1, "N": 1000}).is_empty()


def test_names_avoid_keywords() -> None:
    region = Region("test")
    assert [region.fresh(n) for n in ("mod", "double", "exp", "x", "α")] == ["mod_1", "double_1", "exp_1", "x", "u3b1"]


@pytest.mark.parametrize(("affine", "text"), [
    ("[N] -> { [(N - 1)] }", "N - 1"), ("[N] -> { [(2N + 3)] }", "(2 * N) + 3"), ("{ [(-4)] }", "-4"),
    ("[N] -> { [(floor((N - 3)/2))] }", "((N + 1) / 2) - 2"), ("[M] -> { [(floor((M - 3)/2))] }", "((M + 1) / 2) - 2"),
    ("[N, M] -> { [(N)] : N <= M; [(M)] : N > M }", "(M >= N) ? N : M")])
def test_c_text_of_extents_needs_no_macros(affine: str, text: str) -> None:
    assert c_expression(isl.PwAff(affine), isl.Set("[N, M] -> { : N >= 3 and M >= 0 }")) == text


def test_c_condition() -> None:
    assert c_condition(isl.Set("[N, M] -> { : N >= 1 and M > N }")) == "(N >= 1) && (M >= (N + 1))"


def test_largest_extent() -> None:
    domain = isl.Set("[N, i] -> { : 0 <= i < N }")
    extent = largest_extent(isl.PwAff("[i] -> { [(i)] }"), domain, ["i"])
    for n, expected in ((5, 4), (1, 0), (0, 0), (-3, 0)):
        assert with_sizes(isl.Set.from_pw_aff(extent), {"N": n}).is_equal(
            isl.Set(f"[N] -> {{ [{expected}] : N = {n} }}"))


def test_range_set() -> None:
    it = values.iterator("i", "i")
    found = range_set(it, values.number(7), values.number(0), -3)
    assert found.is_equal(isl.Set("[i] -> { : i = 7 or i = 4 or i = 1 }"))
