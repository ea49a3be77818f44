"""The schedule tree of loops as they were written."""

import islpy as isl
import pytest

from polysched.scop.construction.written_order import Loop, Node, schedule_as_written
from polysched.scop.scop import Statement


def statement(name: str, domain: str) -> Statement:
    return Statement(name=name, line=0, domain=isl.Set(domain), body=(), accesses=())


@pytest.mark.parametrize(("sign", "first"), [(1, "{ S[0] }"), (-1, "{ S[9] }")])
def test_a_loop_that_counts_down_starts_at_its_end(sign: int, first: str) -> None:
    statements = {"S": statement("S", "{ S[i] : 0 <= i < 10 }")}
    tree = schedule_as_written(Node(None, [Node(Loop("i", "i", sign), ["S"])]), statements)
    order = tree.get_map()
    assert tree.get_domain().apply(order).lexmin().is_equal(isl.UnionSet(first).apply(order))


def test_statements_between_loops_stay_between_them() -> None:
    statements = {"A": statement("A", "{ A[i] : 0 <= i < 4 }"), "B": statement("B", "{ B[i, j] : 0 <= j < i < 4 }"),
                  "C": statement("C", "{ C[i] : 0 <= i < 4 }")}
    inner = Node(Loop("j", "j", 1), ["B"])
    tree = schedule_as_written(Node(None, [Node(Loop("i", "i", 1), ["A", inner, "C"])]), statements)
    before = tree.get_map().lex_lt_union_map(tree.get_map())
    wanted = isl.UnionMap("{ A[i] -> B[i, j] : 0 <= j < i < 4; B[i, j] -> C[i] : 0 <= j < i < 4;"
                          "  C[i] -> A[k] : 0 <= i < k < 4 }")
    assert wanted.is_subset(before)
    assert before.intersect(wanted.reverse()).is_empty()


def test_no_statement_is_an_empty_tree() -> None:
    assert schedule_as_written(Node(None, [Node(Loop("i", "i", 1))]), {}).get_domain().is_empty()
