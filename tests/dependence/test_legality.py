"""Legality of schedule trees: a table of trees with the verdict, and the message of a refusal."""

from collections.abc import Iterator

import islpy as isl
import pytest

from polysched.dependence import analyse, band_properties, check_legal, violation
from polysched.dependence.legality import (
    Kept,
    all_active,
    backward,
    carried,
    cut_out,
    equal_parts,
    same_tiles,
    total_values,
)
from polysched.dependence.limits import LIMITS
from polysched.dependence.reordering.quotients import have_quotients
from polysched.errors import BudgetExceededError, IllegalScheduleError, UsageError
from polysched.scop.budget import with_budget
from polysched.scop.scop import Scop
from tests.scop_builder import build_scop, tree_of


def product() -> Scop:
    return build_scop(
        [("S0", "{ S0[i, j] : 0 <= i, j < N }", [], ["{ S0[i, j] -> C[i, j] }"]),
         ("S1", "{ S1[i, j, k] : 0 <= i, j, k < N }",
          ["{ S1[i, j, k] -> C[i, j] }", "{ S1[i, j, k] -> A[i, k] }", "{ S1[i, j, k] -> B[k, j] }"],
          ["{ S1[i, j, k] -> C[i, j] }"])],
        "{ S0[i, j] -> [i, j, 0, 0]; S1[i, j, k] -> [i, j, 1, k] }", context="{ : N > 0 }")


@pytest.mark.parametrize(("schedule", "legal"), [
    ("{ S0[i, j] -> [0, i, j, 0]; S1[i, j, k] -> [1, k, i, j] }", True),
    ("{ S0[i, j] -> [0, i, j, 0]; S1[i, j, k] -> [1, k, -i, -j] }", True),
    ("{ S0[i, j] -> [0, i, j, 0]; S1[i, j, k] -> [1, -k, i, j] }", False),
    ("{ S0[i, j] -> [1, i, j, 0]; S1[i, j, k] -> [0, k, i, j] }", False),
    ("{ S0[i, j] -> [i, j, 0, 0]; S1[i, j, k] -> [i, j, k, 0] }", False),      # S0 and S1[.., 0] at one place
    ("{ S0[i, j] -> [i, j, 0, 0]; S1[i, j, k] -> [i, j, k + 1, 0] }", True),
    ("{ S0[i, j] -> [i, j, 0, 0]; S1[i, j, k] -> [i, j, 1, floor(k / 2)] }", False),
])
def test_verdicts(schedule: str, legal: bool) -> None:
    scop = product()
    tree = tree_of(isl.UnionMap("[N] -> " + schedule), scop.domain)
    for value_based in (True, False):
        found = violation(analyse(scop, value_based=value_based), tree)
        assert (found is None) == legal, str(found)


def test_sequences_and_sets() -> None:
    scop = product()
    dependences = analyse(scop)
    first, second = (isl.Schedule.from_domain(isl.UnionSet.from_set(s.domain)).insert_partial_schedule(
        isl.MultiUnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, text)) for s, text in zip(
        scop.statements, ("[{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]",
                          "[{ S1[i, j, k] -> [(i)] }, { S1[i, j, k] -> [(j)] }, { S1[i, j, k] -> [(k)] }]"),
        strict=True))
    assert violation(dependences, first.sequence(second)) is None
    assert violation(dependences, second.sequence(first)) is not None
    unordered = violation(dependences, first.set(second))
    assert unordered is not None
    assert "unordered" in unordered.reason


def test_refusal_names_one_pair() -> None:
    scop = product()
    tree = tree_of(isl.UnionMap("[N] -> { S0[i, j] -> [0, i, j, 0]; S1[i, j, k] -> [1, -k, i, j] }"), scop.domain)
    with pytest.raises(IllegalScheduleError) as refused:
        check_legal(analyse(scop), tree, what="interchange")
    message = str(refused.value)
    assert "the interchange breaks the flow dependence S1_w3 -> S1_r0 on C" in message
    assert "with N = 2" in message
    found = violation(analyse(scop), tree)
    assert found is not None
    assert found.parameters == {"N": 2}
    assert found.source[2] + 1 == found.sink[2]
    assert found.source[:2] == found.sink[:2]


@pytest.mark.parametrize(("tree", "problem"), [
    ('{ domain: "[N] -> { S0[i, j] : 0 <= i, j < N }" }', "lacks an instance"),
    ('{ domain: "[N] -> { S0[i, j] : 0 <= i, j < N; S1[i, j, k] : 0 <= i, j, k < N }", child: { sequence: ['
     '{ filter: "{ S0[i, j] }" }, { filter: "{ S1[i, j, k] : k > 0 }" } ] } }', "no child runs an instance"),
    ('{ domain: "[N] -> { S0[i, j] : 0 <= i, j < N; S1[i, j, k] : 0 <= i, j, k < N }", child: { sequence: ['
     '{ filter: "{ S0[i, j] }" }, { filter: "{ S1[i, j, k]; S0[i, 0] }" } ] } }', "two children run"),
    ('{ domain: "[N] -> { S0[i, j] : 0 <= i, j < N; S1[i, j, k] : 0 <= i, j, k < N }", child: {'
     'schedule: "[{ S0[i, j] -> [(0)] }]" } }', "no value for an instance"),
])
def test_incomplete_trees_are_refused(tree: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        violation(analyse(product()), isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, tree))


def test_band_properties() -> None:
    scop = product()
    dependences = analyse(scop)
    band = scop.schedule.get_root().child(0)
    assert band_properties(dependences, band).coincident == (True,)
    inner = band.child(0).child(0)
    assert band_properties(dependences, inner).parallel == (False,)   # S0 before S1
    assert band_properties(dependences, inner.child(0)).parallel == (False,)
    whole = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(isl.MultiUnionPwAff.from_union_map(
        isl.UnionMap("{ S0[i, j] -> [-1, i, j]; S1[i, j, k] -> [k, i, k + j] }"))).get_root().child(0)
    judged = band_properties(dependences, whole)
    assert judged.permutable
    assert judged.coincident == (False, True, False)
    assert judged.parallel == (False, True, True)


def test_out_of_budget_is_a_refusal() -> None:
    with pytest.raises(BudgetExceededError, match="whether the step tile is legal needs more than 10 isl operations"):
        check_legal(analyse(product()), product().schedule, what="step tile", isl_operations=10)


def test_the_budget_around_ends_the_check_without_blaming_its_own() -> None:
    dependences = analyse(product())
    with pytest.raises(BudgetExceededError):
        check_legal(dependences, product().schedule, isl_operations=10)
    assert with_budget(10, lambda: check_legal(dependences, product().schedule)) is None, "the caller says why"


def test_what_is_kept_is_what_is_found_afresh() -> None:
    """Two trees that share their outer loop, judged in turn with what was kept of the other one."""
    scop, dependences = product(), analyse(product())
    outward = tree_of(isl.UnionMap("[N] -> { S0[i, j] -> [i, j, 0, 0]; S1[i, j, k] -> [i, j, 1, k] }"), scop.domain)
    inward = tree_of(isl.UnionMap("[N] -> { S0[i, j] -> [i, -j, 0, 0]; S1[i, j, k] -> [i, -j, 1, -k] }"), scop.domain)
    for tree in (outward, inward, outward, inward):
        fresh = analyse(product())
        kept, anew = all_active(dependences), all_active(fresh)
        band = tree.get_root().child(0)
        for member in range(band.band_n_member()):
            values = total_values(band.band_get_partial_schedule(), member)
            for find in (backward, carried):
                assert all(find(one, values).is_equal(find(other, values))
                           for one, other in zip(kept, anew, strict=True))
            kept, anew = equal_parts(kept, values), equal_parts(anew, values)
            assert [str(part.dependence) for part in kept] == [str(part.dependence) for part in anew]
            assert all(one.relation.is_equal(other.relation) for one, other in zip(kept, anew, strict=True))
        assert (violation(dependences, tree) is None) == (violation(fresh, tree) is None) == (tree is outward)


def test_equal_relations_are_cut_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, asked = Kept(), []
    first, other = (kept.one(isl.Map("{ S[i] -> S[j] : 0 <= i < j < 9 }")) for _ in range(2))
    assert first is other

    def cut(relation: isl.Map, value: str) -> isl.Map:
        values = isl.PwAff(f"{{ S[i] -> [({value})] }}")

        def found() -> isl.Map:
            asked.append(value)
            return relation.intersect(values.eq_map(values))
        return kept.cut("equal", relation, values, values, found)

    assert cut(first, "i") is cut(other, "i")
    assert cut(first, "0").is_equal(first)
    assert asked == ["i", "0"]
    assert cut(first, "i").is_empty()
    monkeypatch.setattr("polysched.dependence.legality.LIMITS", LIMITS.__class__(kept_parts=1))
    assert cut(first, "2 * i").is_empty()
    assert cut(first, "i").is_empty()
    assert asked == ["i", "0", "2 * i", "i"], "what was kept makes room"


def sweep() -> Scop:
    """Needs the row before, and the column before or behind in it."""
    return build_scop([("S", "{ S[t, i] : 0 <= t < N and 0 < i < N }",
                        ["{ S[t, i] -> A[t - 1, i + 1] }", "{ S[t, i] -> A[t - 1, i - 1] }"],
                        ["{ S[t, i] -> A[t, i] }"])], "{ S[t, i] -> [t, i] }", context="{ : N > 0 }")


TILES = [
    ("floor(t/4), floor((t + i)/4), t, t + i", True),
    ("floor(t/4) + floor((t + i)/4), floor((t + i)/4), t, t + i", True),
    ("floor(t/4), floor(i/4), t, i", False),                      # the first tile needs the second one
    ("floor((t + i)/4), floor(t/4), t, i", True),
    ("floor((t + i)/4), t, i", True),
    ("floor(t/4), i, t", False),
    ("-floor(-t/4), t, i", True),                                 # a quotient that is taken away
    ("-floor(t/4), t, i", False),
    ("2*floor(t/4) - floor(t/4), t, i", True),
    ("floor((t - i)/4), floor((t + i)/4), t, i", True),
    ("floor((t + i + 4*floor(t/2))/4), t, i", True),               # a quotient of quotients
    ("floor((i + 8*floor(t/2))/4), t, i", False),
    ("floor((3 - t)/4), t, i", False),
    ("floor(t/4), floor((i + 3*t)/5) - t, t, i", False),
    ("floor(t/1000), -i, t", False),
]


@pytest.mark.parametrize(("schedule", "legal"), TILES)
def test_verdicts_on_tiles(schedule: str, legal: bool) -> None:
    scop = sweep()
    tree = tree_of(isl.UnionMap(f"[N] -> {{ S[t, i] -> [{schedule}] }}"), scop.domain)
    dependences = analyse(scop)
    found = violation(dependences, tree)
    assert (found is None) == legal, str(found)


@pytest.mark.parametrize("schedule", [schedule for schedule, _ in TILES])
def test_tiles_that_are_remembered_are_tiles_that_are_cut_out(schedule: str) -> None:
    scop = sweep()
    tree = tree_of(isl.UnionMap(f"[N] -> {{ S[t, i] -> [{schedule}] }}"), scop.domain)
    for whole in all_active(analyse(scop)):
        exact, remembered = [whole], [whole]
        for values in members(tree):
            for find in (backward, carried):
                nothing = isl.Map.empty(whole.relation.get_space())
                wanted, got = (find(parts[0], values) if parts else nothing for parts in (exact, remembered))
                assert got.is_equal(wanted)
            exact, remembered = equal_parts(exact, values), same_tiles(remembered, values)
        assert not exact
        assert not [part for part in remembered if cut_out(part) is not None]


def members(tree: isl.Schedule) -> Iterator[dict[str, isl.PwAff]]:
    """The values of all loops of a tree without branches, outermost first."""
    node = tree.get_root().child(0)
    while node.get_type() == isl.schedule_node_type.band:
        for member in range(node.band_n_member()):
            yield total_values(node.band_get_partial_schedule(), member)
        node = node.child(0)


def test_cases_of_tiles_are_judged_as_a_whole() -> None:
    """Halves of a ring have tiles of their own, and so may the halves of their tiles."""
    scop = sweep()
    for first, legal in (("floor((t + i)/4) : i < 9; S[t, i] -> [floor((t + i)/4), t, i] : i >= 9", True),
                         ("floor((t - i)/4) : i < 9; S[t, i] -> [floor((t + i)/4), t, i] : i >= 9", False)):
        value, _, condition = first.partition(" : ")
        tree = tree_of(isl.UnionMap(f"[N] -> {{ S[t, i] -> [{value}, t, i] : {condition} }}"), scop.domain)
        found = violation(analyse(scop), tree)
        assert (found is None) == legal, str(found)


def test_legal_tiles_are_found_so_without_integer_divisions(monkeypatch: pytest.MonkeyPatch) -> None:
    scop, cut = sweep(), []
    intersected = Kept.cut

    def counted(self, what, relation, source, sink, find):
        cut.extend(v for v in (source, sink) if have_quotients({"": v}))
        return intersected(self, what, relation, source, sink, find)

    monkeypatch.setattr(Kept, "cut", counted)
    for schedule, legal in (TILES[0], TILES[1], TILES[2]):
        cut.clear()
        tree = tree_of(isl.UnionMap(f"[N] -> {{ S[t, i] -> [{schedule}] }}"), scop.domain)
        assert (violation(analyse(scop), tree) is None) == legal
        assert bool(cut) == (not legal)
