"""The kind of a schedule-tree node as the enumeration that it is (islpy's annotations say int)."""

from __future__ import annotations

from typing import cast

import islpy as isl

NodeKind = isl.schedule_node_type


def kind_of(node: isl.ScheduleNode) -> isl.schedule_node_type:
    """The kind of a node, to be compared with the members of `NodeKind`."""
    return cast("isl.schedule_node_type", node.get_type())
