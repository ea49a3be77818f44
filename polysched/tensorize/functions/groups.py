"""Which statements of a program may be a described function together: what one of them needs, loop by loop around."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.scop.body import Assign, Call, walk
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.limits import LIMITS

MOST_STATEMENTS = LIMITS.most_statements
EXCHANGED = frozenset({"fmin", "fmax", "fminf", "fmaxf", "abs", "min", "max"})   # spelled with `?:` as well


def groups(dependences: Dependences) -> Iterator[tuple[str, ...]]:
    """Sets of statements in textual order that a function may compute: the largest first."""
    scop = dependences.scop
    possible = {s.name for s in scop.statements if _is_assignment(s)}
    edges = _edges(dependences)
    found = dict.fromkeys(names for names in _sets(scop, edges)
                          if len(names) <= MOST_STATEMENTS and possible.issuperset(names))
    yield from sorted(found, key=len, reverse=True)


def least_live(dependences: Dependences, names: Collection[str]) -> list[str]:
    """Arrays of these statements that are certainly read behind them."""
    scop = dependences.scop
    found = {a.array for n in names for a in scop.statement(n).writes if not scop.array(a.array).is_temporary}
    found |= {p.array for p in dependences.pairs
              if p.kind is DependenceKind.FLOW and p.source in names and p.sink not in names}
    return sorted(found)


def calls(scop: Scop, names: Collection[str]) -> frozenset[str]:
    """The functions that some statements call, apart from those that have other spellings."""
    bodies = [item.value for n in names for item in scop.statement(n).body if isinstance(item, Assign)]
    return frozenset(e.function for body in bodies for e in walk(body) if isinstance(e, Call)) - EXCHANGED


def _is_assignment(statement: Statement) -> bool:
    return len(statement.body) == 1 and isinstance(statement.body[0], Assign) and all(
        a.exact for a in statement.accesses)


def _edges(dependences: Dependences) -> dict[str, set[str]]:
    """Per statement those whose values it reads."""
    found: dict[str, set[str]] = {s.name: set() for s in dependences.scop.statements}
    for pair in dependences.pairs:
        if pair.kind is DependenceKind.FLOW:
            found[pair.sink].add(pair.source)
    return found


def _sets(scop: Scop, edges: dict[str, set[str]]) -> Iterator[tuple[str, ...]]:
    """For every statement: itself, with its sources, with theirs, ...; and runs of neighbours in the text."""
    order = [s.name for s in scop.statements]
    for last in order:
        mine = {last}
        while True:
            yield tuple(n for n in order if n in mine)
            more = mine.union(*(edges[n] for n in mine))
            if more == mine:
                break
            mine = more
    for first in range(len(order)):
        for end in range(first + 2, min(len(order), first + MOST_STATEMENTS) + 1):
            yield tuple(order[first:end])
