"""Maps to trees and back: the same order, exact flags; wrong ones are refused with an instance."""

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.scheduling.interchange.dates import dates_of, tree_of_dates
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop.points import instances_in_order
from tests.scop_builder import build_scop


@pytest.fixture(scope="module")
def two() -> Dependences:
    return analyse(build_scop(
        [("S0", "{ S0[i, j] : 0 <= i, j < N }", [], ["{ S0[i, j] -> A[i, j] }"]),
         ("S1", "{ S1[i] : 0 <= i < N }", ["{ S1[i] -> A[i, 0] }"], ["{ S1[i] -> B[i] }"])],
        "{ S0[i, j] -> [0, i, j]; S1[i] -> [1, i, 0] }", context="{ : N > 0 }"))


@pytest.mark.parametrize("text", [
    "{ S0[i, j] -> [0, i, j]; S1[i] -> [1, i] }",
    "{ S0[i, j] -> [i, 0, j]; S1[i] -> [i, 1] }",
    "{ S0[i, j] -> [2 * floor(j / 2), i, j]; S1[i] -> [i + 5, 0, 0] }",
    "{ S0[i, j] -> [0, j, -i]; S1[i] -> [3, -i, 7] }",
])
def test_the_tree_has_the_order_of_the_dates(two: Dependences, text: str) -> None:
    dates = isl.UnionMap("[N] -> " + text)
    tree = tree_of_dates(dates, two)
    sizes = {"N": 5}
    names = ("S0", "S1")
    domain = two.scop.domain
    padded = isl.UnionMap("[N] -> " + text.replace("[1, i]", "[1, i, 0]").replace("[i, 1]", "[i, 1, 0]"))
    flat = isl.Schedule.from_domain(domain).insert_partial_schedule(
        isl.MultiUnionPwAff.from_union_map(padded.intersect_domain(domain)))
    assert instances_in_order(domain, tree, sizes, names) == instances_in_order(domain, flat, sizes, names)
    again = tree_of_dates(dates_of(tree), two)
    assert instances_in_order(domain, again, sizes, names) == instances_in_order(domain, tree, sizes, names)


def test_nested_tuples_are_flat(two: Dependences) -> None:
    nested, flat = (tree_of_dates(isl.UnionMap(f"[N] -> {{ S0[i, j] -> {date}; S1[i] -> [1, i] }}"), two)
                    for date in ("[[0, i] -> D[j]]", "[0, i, j]"))
    assert nested.get_map().is_equal(flat.get_map())


def test_constants_become_sequences_and_flags_are_exact(two: Dependences) -> None:
    tree = tree_of_dates(isl.UnionMap("[N] -> { S0[i, j] -> [0, i, j]; S1[i] -> [1, i] }"), two)
    assert tree_text(tree) == """\
sequence
  S0
    band permutable
      parallel    S0: i
      parallel    S0: j
  S1
    band permutable
      parallel    S1: i
"""


@pytest.mark.parametrize(("text", "message"), [
    ("{ S0[i, j] -> [i, j] }", r"an instance of S1 has no date\n  witness: S1\[0\] with N = 1"),
    ("{ S0[i, j] -> [i, j] : i > 0; S1[i] -> [i, 0] }", r"an instance of S0 has no date\n  witness: S0\[0, "),
    ("{ S0[i, j] -> [i, k] : 0 <= k < 2; S1[i] -> [i, 0] }", r"an instance of S0 has two dates\n  witness: S0\["),
    ("{ S0[i, j] -> [i, j]; S1[i] -> [i]; T[i] -> [i] }", r"no statement T of 1 loops\n  hint: .* S0\[i, j\], S1\[i\]"),
    ("{ S0[i] -> [i]; S1[i] -> [i] }", "no statement S0 of 1 loops"),
])
def test_refusals(two: Dependences, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tree_of_dates(isl.UnionMap("[N] -> " + text), two)
