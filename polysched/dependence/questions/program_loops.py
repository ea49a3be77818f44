"""The loops of a program as its schedule tree has them: names, neighbours, and the dependences active at each."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import Active, active_at, equal_parts, total_values
from polysched.dependence.source_loops import statement_names
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Scop


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgramLoop:
    """One member of a band of a schedule tree.

    Parameters
    ----------
    name : the iterator that it counts, as its first statement calls it.
    node : the band.
    member : its position there.
    statements : those inside, in textual order.
    line : the first source line of a statement inside; 0 when there is none.
    number : its position among all loops of the tree, in pre-order.
    """

    name: str
    node: isl.ScheduleNode
    member: int
    statements: tuple[str, ...]
    line: int
    number: int

    @property
    def values(self) -> dict[str, isl.PwAff]:
        """What each statement gives the loop."""
        return total_values(self.node.band_get_partial_schedule(), self.member)

    @property
    def counts(self) -> str:
        """What it counts, in its first statement's iterators: `i`, `-i` for a loop that counts down."""
        pieces = self.values[self.statements[0]].get_pieces()
        text = str(pieces[0][1]).rpartition("-> [(")[2].removesuffix(")] }")
        return text if len(pieces) == 1 and text and "{" not in text else self.name

    def __str__(self) -> str:
        where = f", line {self.line}" if self.line else ""
        return f"loop {self.name} around {', '.join(self.statements)}{where}"


def loops_of(scop: Scop, tree: isl.Schedule | None = None) -> tuple[ProgramLoop, ...]:
    """Every loop of a tree in pre-order; of the program as written where none is given."""
    lines = {s.name: s.line for s in scop.statements}
    found: list[ProgramLoop] = []
    for node in _bands((tree or scop.schedule).get_root()):
        inside = statement_names(node.band_get_partial_schedule().domain())
        names = tuple(s.name for s in scop.statements if s.name in inside)
        known = [lines[name] for name in names if lines[name]]
        found += [ProgramLoop(name=_name(scop, node, member, names), node=node, member=member, statements=names,
                              line=min(known, default=0), number=len(found) + member)
                  for member in range(node.band_n_member())]
    return tuple(found)


def loops_named(scop: Scop, name: str) -> tuple[ProgramLoop, ...]:
    """The loops of the program as written that count an iterator of this name.

    Raises
    ------
    UsageError : there is none; the witness lists those that there are.
    """
    loops = loops_of(scop)
    found = tuple(loop for loop in loops if loop.name == name)
    if not found:
        raise UsageError(f"the program has no loop {name}", where=scop.name,
                         witness="; ".join(map(str, loops)) or "it has no loops",
                         hint="name a loop by its counter")
    return found


def active_in(dependences: Dependences, loop: ProgramLoop) -> list[Active]:
    """The pairs that nothing around a loop orders: those of equal values in all loops outside."""
    active = active_at(dependences, loop.node)
    partial = loop.node.band_get_partial_schedule()
    for member in range(loop.member):
        active = equal_parts(active, total_values(partial, member))
    return active


def inner_neighbour(loops: tuple[ProgramLoop, ...], loop: ProgramLoop) -> ProgramLoop | None:
    """The loop directly inside, with nothing beside it; None where there is none."""
    following = loop.number + 1
    if following == len(loops) or loops[following].statements != loop.statements:
        return None
    return loops[following] if _directly_inside(loop, loops[following]) else None


def outer_neighbour(loops: tuple[ProgramLoop, ...], loop: ProgramLoop) -> ProgramLoop | None:
    """The loop directly around, which holds nothing else; None where there is none."""
    before = loops[loop.number - 1] if loop.number else None
    return before if before is not None and inner_neighbour(loops, before) is loop else None


def nest_of(loops: tuple[ProgramLoop, ...], loop: ProgramLoop) -> tuple[ProgramLoop, ...]:
    """The perfect nest that a loop is part of, outermost first."""
    nest = [loop]
    while (outer := outer_neighbour(loops, nest[0])) is not None:
        nest.insert(0, outer)
    while (inner := inner_neighbour(loops, nest[-1])) is not None:
        nest.append(inner)
    return tuple(nest)


def beside(loops: tuple[ProgramLoop, ...], loop: ProgramLoop) -> str:
    """What keeps a loop from being directly around another, in words; empty where nothing does."""
    if inner_neighbour(loops, loop) is not None:
        return ""
    inside = [other for other in loops[loop.number + 1:] if set(other.statements) <= set(loop.statements)]
    if not inside:
        return ""
    covered = {name for other in inside for name in other.statements}
    parts = [name for name in loop.statements if name not in covered]
    outermost = [o for o in inside if not any(o is not p and set(o.statements) < set(p.statements) for p in inside)]
    words = [*parts, *(f"the {other}" for other in outermost)]
    return f"{loop.name} holds {' and '.join(words)}, so no loop is alone inside it"


def _directly_inside(outer: ProgramLoop, inner: ProgramLoop) -> bool:
    """Whether only marks and lone filters stand between two loops around the same statements."""
    if inner.member:
        return True
    node = inner.node.parent()
    while kind_of(node) in (NodeKind.mark, NodeKind.filter) and node.n_children() == 1:
        if kind_of(node.parent()) in (NodeKind.sequence, NodeKind.set):
            return False
        node = node.parent()
    return node.is_equal(outer.node)


def _bands(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    if kind_of(node) == NodeKind.band:
        yield node
    for position in range(node.n_children()):
        yield from _bands(node.child(position))


def _name(scop: Scop, node: isl.ScheduleNode, member: int, statements: tuple[str, ...]) -> str:
    """The iterator that the first statement's value depends on; the value where it is not one iterator alone."""
    value = total_values(node.band_get_partial_schedule(), member)[statements[0]]
    statement = scop.statement(statements[0])
    used = [name for k, name in enumerate(statement.iterators) if value.involves_dims(isl.dim_type.in_, k, 1)]
    return used[0] if len(used) == 1 else " ".join(used) or "constant"
