"""A schedule tree as indented text for people: bands, parallel members, and what each statement's row is.

    sequence
      S0
        band permutable
          parallel    S0: i
      S1
        band permutable
          parallel    S1: i
          sequential  S1: k

`sequential` members carry a dependence that is active at their band.  The text is for reading and for
comparing; `Schedule.to_text` is the one that can be read back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import islpy as isl

from polysched.dependence.legality import member_values
from polysched.scop.schedule_nodes import NodeKind, kind_of

_VALUE = re.compile(r"-> \[\((.*?)\)\]")


def tree_text(tree: isl.Schedule) -> str:
    """The whole tree, one line per member, mark and child; two spaces of indent per level."""
    return "\n".join(_lines(tree.get_root(), "")) + "\n"


def band_list(tree: isl.Schedule) -> list[dict[str, Any]]:
    """Every band in pre-order: its statements, and per member the flag and each statement's row."""
    return list(_bands(tree.get_root()))


def _bands(node: isl.ScheduleNode) -> Iterator[dict[str, Any]]:
    if kind_of(node) == NodeKind.band:
        partial = node.band_get_partial_schedule()
        rows = [member_values(partial, member) for member in range(node.band_n_member())]
        yield {"statements": sorted(rows[0], key=_by_number) if rows else [],
               "permutable": bool(node.band_get_permutable()),
               "members": [{"parallel": bool(node.band_member_get_coincident(member)),
                            "rows": {name: _value(row[name]) for name in sorted(row, key=_by_number)}}
                           for member, row in enumerate(rows)]}
    for position in range(node.n_children()):
        yield from _bands(node.child(position))


def _lines(node: isl.ScheduleNode, indent: str) -> Iterator[str]:
    kind = kind_of(node)
    if kind == NodeKind.leaf:
        return
    if kind in (NodeKind.sequence, NodeKind.set):
        yield f"{indent}{kind.name}"
        for position in range(node.n_children()):
            yield f"{indent}  {_names(node.child(position).filter_get_filter())}"
            yield from _lines(node.child(position).child(0), indent + "    ")
        return
    below = indent + "  "
    if kind == NodeKind.band:
        yield f"{indent}band{' permutable' if node.band_get_permutable() else ''}"
        for member in range(node.band_n_member()):
            flag = "parallel  " if node.band_member_get_coincident(member) else "sequential"
            yield f"{below}{flag}  {_member(node.band_get_partial_schedule(), member)}"
    elif kind == NodeKind.mark:
        yield f"{indent}mark {node.mark_get_id().get_name()}"
    elif kind == NodeKind.filter:
        yield f"{indent}filter {node.filter_get_filter()}"
    elif kind == NodeKind.domain:
        below = indent
    else:
        yield f"{indent}{kind.name}"
    yield from _lines(node.child(0), below)


def _names(chosen: isl.UnionSet) -> str:
    sets = chosen.get_set_list()
    return ", ".join(sorted((str(sets.get_at(i).get_tuple_name()) for i in range(sets.n_set())), key=_by_number))


def _by_number(name: str) -> tuple[str, int]:
    """S2 before S10."""
    found = re.fullmatch(r"(\D*)(\d*)", name)
    return (found.group(1), int(found.group(2) or 0)) if found else (name, 0)


def _member(partial: isl.MultiUnionPwAff, member: int) -> str:
    values = member_values(partial, member)
    return ", ".join(f"{name}: {_value(values[name])}" for name in sorted(values, key=_by_number))


def _value(value: isl.PwAff) -> str:
    """The expression alone; of a piecewise one every piece."""
    return " | ".join(_VALUE.findall(str(value)))
