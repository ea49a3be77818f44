"""Schedule trees as plain values: decoded and encoded again, walked, and changed at one place."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
    Leaf,
    Mark,
    Sequence,
    children,
    from_isl,
    replace_node,
    split_bands,
    to_isl,
    walk,
    with_children,
)
from tests.scheduling.primitives.programs import split_two_loops

MARK = LoopMark(role=Role.TILE, band=2, parallel=True).to_text()
NEST = ('{ domain: "[N] -> { S[i, j] : 0 <= i, j < N }", child: { mark: "MARK", child: { schedule: "[{ S[i, j] -> '
        '[floor(i/4)] }]", child: { mark: "somebody else\'s", child: { schedule: "[{ S[i, j] -> [i] }, '
        '{ S[i, j] -> [j] }]", permutable: 1, coincident: [ 1, 0 ], options: "{ separate[x] }" } } } } }'
        ).replace('"MARK"', f'"{MARK}"')


def read(text: str = NEST) -> isl.Schedule:
    return isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text)


def test_a_tree_is_the_same_again() -> None:
    assert to_isl(from_isl(read())).plain_is_equal(read())
    assert to_isl(from_isl(split_two_loops().tree)).get_map().is_equal(split_two_loops().tree.get_map())


def test_the_mark_of_a_loop_is_part_of_it_and_others_are_nodes() -> None:
    outer, mark, inner, leaf = walk(from_isl(read()).root)
    assert isinstance(outer, Band)
    assert outer.mark == LoopMark(role=Role.TILE, band=2, parallel=True)
    assert isinstance(mark, Mark)
    assert mark.name == "somebody else's"
    assert isinstance(inner, Band)
    assert (inner.coincident, inner.permutable) == ((True, False), True)
    assert "separate" in str(inner.options)
    assert isinstance(leaf, Leaf)


def test_a_loop_mark_above_two_members_stays_a_node() -> None:
    text = NEST.replace("[{ S[i, j] -> [floor(i/4)] }]", "[{ S[i, j] -> [i] }, { S[i, j] -> [j] }]")
    first = from_isl(read(text)).root
    assert isinstance(first, Mark)
    assert first.name == MARK


def test_sequences_and_sets_keep_their_kind() -> None:
    text = split_two_loops().tree.to_str()
    for kind, ordered in (("sequence", True), ("set", False)):
        root = from_isl(read(text.replace("sequence", kind))).root
        assert isinstance(root, Sequence)
        assert root.ordered is ordered


def test_one_node_is_replaced_by_identity_and_the_rest_shared() -> None:
    root = from_isl(split_two_loops().tree).root
    assert isinstance(root, Sequence)
    (_, first), (_, second) = root.branches
    changed = replace_node(root, first, Leaf())
    assert isinstance(changed, Sequence)
    assert isinstance(changed.branches[0][1], Leaf)
    assert changed.branches[1][1] is second
    assert replace_node(root, Leaf(), Leaf()) is root, "another leaf is another node"


def test_children_can_be_put_back() -> None:
    everything = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ S[i] }")
    for node in (*walk(from_isl(read()).root), Filter(keep=everything, child=Leaf())):
        assert children(with_children(node, children(node))) == children(node)


def test_bands_are_split_into_loops() -> None:
    loops = [node for node in walk(split_bands(from_isl(read()).root)) if isinstance(node, Band)]
    assert [len(band.members) for band in loops] == [1, 1, 1]
    assert [band.coincident for band in loops] == [(False,), (True,), (False,)]
    assert loops[0].mark is not None


def test_other_nodes_are_refused() -> None:
    text = '{ domain: "{ S[i] : 0 <= i < 9 }", child: { context: "{ [] : }" } }'
    with pytest.raises(UsageError, match="cannot be transformed") as refused:
        from_isl(read(text))
    assert "filter and mark" in refused.value.hint
