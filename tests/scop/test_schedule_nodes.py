"""Kinds of nodes of schedule trees as the enumeration that they are."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.scop.schedule_nodes import NodeKind, kind_of

TREE = isl.Schedule.read_from_str(
    isl.DEFAULT_CONTEXT, '{ domain: "{ A[i] : 0 <= i < 9; B[i] : 0 <= i < 9 }", child: { sequence: [ { filter: '
    '"{ A[i] }", child: { mark: "m", child: { schedule: "[{ A[i] -> [i] }]" } } }, { filter: "{ B[i] }" } ] } }')


@pytest.mark.parametrize(("path", "kind"), [
    ((), NodeKind.domain), ((0,), NodeKind.sequence), ((0, 0), NodeKind.filter), ((0, 0, 0), NodeKind.mark),
    ((0, 0, 0, 0), NodeKind.band), ((0, 0, 0, 0, 0), NodeKind.leaf), ((0, 1, 0), NodeKind.leaf)])
def test_kinds(path: tuple[int, ...], kind: isl.schedule_node_type) -> None:
    node = TREE.get_root()
    for position in path:
        node = node.child(position)
    assert kind_of(node) == kind
    assert kind_of(node).name == kind.name
