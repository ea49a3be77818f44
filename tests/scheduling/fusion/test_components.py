"""Strongly connected components, in an order that respects the dependences."""

from itertools import pairwise

from polysched.scheduling.fusion.components import ordered_components


def test_components_are_ordered_and_keep_the_text_order_where_free() -> None:
    edges = [("d", "b"), ("b", "c"), ("c", "b"), ("e", "a")]
    assert ordered_components(("a", "b", "c", "d", "e"), edges) == [("d",), ("b", "c"), ("e",), ("a",)]
    chain = tuple(f"s{i}" for i in range(3000))
    found = ordered_components(chain, [*pairwise(chain), (chain[-1], chain[0])])
    assert found == [chain]
