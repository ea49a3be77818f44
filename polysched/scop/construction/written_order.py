"""The order of loops and statements as they were written, and its schedule tree."""

from __future__ import annotations

from dataclasses import field

import islpy as isl

from polysched.records import dataclass
from polysched.scop.scop import Statement


@dataclass(frozen=True)
class Loop:
    """An open loop: its name in the source, its isl name while the Region is open, and its direction."""

    name: str
    symbol: str
    sign: int


@dataclass(eq=False)
class Node:
    """The order as written: a statement (by name), or a sequence under a loop (None at the top)."""

    loop: Loop | None
    items: list[Node | str] = field(default_factory=list)


def schedule_as_written(top: Node, statements: dict[str, Statement]) -> isl.Schedule:
    """The schedule tree of the loops as they stand: a band of one member per loop, a sequence where several follow."""
    def build(node: Node, depth: int) -> tuple[isl.Schedule | None, list[str]]:
        schedule: isl.Schedule | None = None
        names: list[str] = []
        for item in node.items:
            if isinstance(item, str):
                part: isl.Schedule | None = isl.Schedule.from_domain(isl.UnionSet.from_set(statements[item].domain))
                below = [item]
            else:
                part, below = build(item, depth + 1)
            if part is None:
                continue
            schedule = part if schedule is None else schedule.sequence(part)
            names += below
        if schedule is None or node.loop is None:
            return schedule, names
        sign = "-" if node.loop.sign < 0 else ""
        pieces = "; ".join(f"{n}[{', '.join(_iterators(statements[n]))}] -> [({sign}i{depth - 1})]" for n in names)
        return schedule.insert_partial_schedule(isl.MultiUnionPwAff(f"[{{ {pieces} }}]")), names

    schedule, _ = build(top, 0)
    if schedule is None:
        return isl.Schedule.empty(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0).params())
    return schedule


def _iterators(statement: Statement) -> list[str]:
    return [f"i{d}" for d in range(statement.depth)]
