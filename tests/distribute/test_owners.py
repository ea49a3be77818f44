"""Coordinates of instances, and who owns them."""

import pytest

from polysched.distribute.owners import Partition, axis_set, coordinates
from polysched.errors import UsageError
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters, pairs_of, points_of
from tests.distribute.programs import scop_of


@pytest.mark.parametrize("partition", [
    Partition(kind="cyclic", ranks=3), Partition(kind="block-cyclic", ranks=2, block=3)], ids=lambda p: p.kind)
def test_sets_and_formula_agree_on_owners(partition: Partition) -> None:
    assert partition.ranks is not None
    for rank in range(partition.ranks):
        owned = fix_parameters(partition.owned(partition.own_names), {partition.own_names[0]: rank})
        for coordinate in range(-7, 20):
            inside = (coordinate,) in points_of(owned.intersect(type(owned)("{ [a] : -7 <= a < 20 }")))
            assert inside == (partition.owner(coordinate, 0, 0, partition.ranks) == rank)


def test_a_block_is_a_range() -> None:
    assert [Partition().owner(a, 2, 8, 3) for a in range(2, 9)] == [0, 0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize(("kind", "ranks", "block", "said"), [
    ("cyclic", None, 1, "made for a number of ranks"), ("block", None, 2, "no ranges of 2"),
    ("rows", 2, 1, "no partition 'rows'"), ("block-cyclic", 2, 0, "no ranges of 0"),
    ("cyclic", 2.5, 1, "made for a number of ranks"), ("cyclic", True, 1, "made for a number of ranks"),
    ("block", 0, 1, "made for a number of ranks"), ("cyclic", 2 ** 31, 1, "made for a number of ranks"),
    ("block-cyclic", 2, "B", "no ranges of B"), ("block-cyclic", 2, 2 ** 31, "no ranges of 2147483648")])
def test_partitions_that_are_none(kind, ranks, block, said) -> None:
    with pytest.raises(UsageError, match=said):
        Partition(kind=kind, ranks=ranks, block=block)


def test_statements_without_the_loop_own_what_they_write() -> None:
    scop = from_c_text("void f(int n, double A[n][n], double r[n]) {\n#pragma scop\nfor (int k = 0; k < n; k++) {\n"
                       "for (int i = 0; i < n; i++) A[i][k] = A[i][k] * 2.0;\nA[k][k] = 1.0; r[k] = 0.0; }\n"
                       "#pragma endscop\n}\n")
    found = coordinates(scop, "i")
    assert found["S1"].is_equal(type(found["S1"])("[n] -> { S1[k] -> [k] : 0 <= k < n }"))
    assert found["S2"].is_subset(type(found["S2"])("[n] -> { S2[k] -> [0] }"))


def test_owners_by_hand() -> None:
    scop = scop_of("sum")
    found = coordinates(scop, "i", {"S0": "3"})
    assert str(found["S0"].range()).count("3") == 1
    for given, said in ({"S9": "i"}, "no statement S9"), ({"S0": "q"}, "S0 has no iterator q"), (
            {"S0": "--5"}, "no iterator --5"), ({"S0": "²"}, "no iterator ²"), (
            {"S0": "9" * 20}, "a number of at most nine digits"), ({"S0": 3}, "S0 cannot run at 3"):
        with pytest.raises(UsageError, match=said):
            coordinates(scop, "i", given)


def test_the_axis_has_all_coordinates() -> None:
    scop = scop_of("jacobi")
    axis = fix_parameters(axis_set(scop, coordinates(scop, "i")), {"n": 6, "t": 1})
    assert sorted(points_of(axis)) == [(1,), (2,), (3,), (4,)]


def test_a_loop_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="no loop q to distribute"):
        coordinates(scop_of("lu"), "q")


@pytest.mark.parametrize("body", [
    "s[0] = 7.0; for (int i = 0; i < n; i++) s[0] += A[i];",
    "for (int i = 0; i < n; i++) A[i] += 1; for (int k = 0; k < 9; k++) B[k] = k < 3 ? A[k] : 9.0;",
    "if (n > 2) for (int i = 0; i < n; i++) A[i] += 1; s[1] = 3;",
    "double t; t = 4; for (int i = 1; i < n; i++) t += A[i]; s[0] = t;",
])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_every_instance_has_one_coordinate(body: str, n: int) -> None:
    scop = from_c_text(f"void f(int n, double A[9], double B[9], double s[2]) {{\n#pragma scop\n{body}\n"
                       "#pragma endscop\n}\n")
    for name, owner in coordinates(scop, "i").items():
        domain = fix_parameters(scop.statement(name).domain, {"n": n})
        assert sorted(points_of(domain)) == sorted(point for point, _ in pairs_of(fix_parameters(
            owner.intersect_domain(scop.statement(name).domain), {"n": n})))


def test_parameters_of_ranks_are_none_of_those_of_pieces() -> None:
    from polysched.distribute.owners import END, FIRST, RANK, TO_END, TO_FIRST, TO_RANK
    from polysched.tiling.shapes import split_tiles
    own = {END, FIRST, RANK, TO_END, TO_FIRST, TO_RANK}
    assert own.isdisjoint({split_tiles.BEGIN, split_tiles.END, split_tiles.BORDER})   # once one name: no code at all
