"""What a branch leaves in every element that it writes, in terms of the values before it.

    if (P < Q) { t = P; P = Q; Q = t; }   ->   P is P < Q ? Q : P, and Q is P < Q ? P : Q, both of the values before

Both ways are run on symbols.  A temporary of the branch alone is no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from polysched.dependence.if_conversion import assigned_value
from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    BodyStatement,
    Expr,
    If,
    Load,
    Select,
    assignments,
    distinct,
    rebuild_shared,
    walk,
    written_out,
)
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.software.fragment import are_one
from polysched.tensorize.software.several import own_arrays

MOST_NODES = LIMITS.most_branch_nodes


@dataclass(frozen=True)
class BranchValues:
    """What a branch leaves.

    Parameters
    ----------
    values : by the access that names a written element, the value; it loads accesses that name the values before.
    always : those of the elements that every way writes.
    """

    values: Mapping[str, Expr]
    always: frozenset[str]


def values_behind(scop: Scop, statement: Statement) -> BranchValues | None:
    """What a statement of branches leaves; None where elements may be one and may be two, or it does more than that."""
    if not may_be_run(statement) or _looks_up_what_it_writes(statement):
        return None
    names = _one_name_each(statement)
    run = _Run(statement, names)
    if not run.items(statement.body):
        return None
    own = own_arrays(scop, statement)
    shown = {n: v for n, v in run.values.items() if statement.access(n).array not in own}
    if any(isinstance(e, Load) and statement.access(e.reference).array in own for e in distinct(*shown.values())):
        return None   # a temporary that was set in an earlier instance
    return BranchValues(values=shown, always=frozenset(run.always & shown.keys()))


def may_be_run(statement: Statement) -> bool:
    """Whether it is known which elements a statement writes, and which of them it reads: tables are none of these."""
    written = {a.array for a in statement.writes}
    return all(a.exact or a.array not in written for a in statement.accesses)


def _looks_up_what_it_writes(statement: Statement) -> bool:
    """Whether a subscript reads an array that the statement writes: which of its values, subscripts do not say."""
    written = {a.array for a in statement.writes}
    return any(isinstance(e, Load) and statement.access(e.reference).array in written
               for a in statement.accesses for s in a.subscripts for e in walk(s))


def _one_name_each(statement: Statement) -> dict[str, str]:
    """Per access the first one of the same element."""
    found: dict[str, str] = {}
    for access in statement.accesses:
        found[access.reference] = next(
            (n for n in dict.fromkeys(found.values()) if are_one(statement.access(n), access)), access.reference)
    return found


@dataclass
class _Run:
    """The values of elements while a branch runs, by the names that `names` gives them."""

    statement: Statement
    names: Mapping[str, str]
    values: dict[str, Expr] = field(default_factory=dict)
    always: set[str] = field(default_factory=set)

    def items(self, items: tuple[BodyStatement, ...]) -> bool:
        """Run some items; whether all that they do is known."""
        return all(map(self.item, items))

    def item(self, item: BodyStatement) -> bool:
        match item:
            case Assign():
                name = self.names[item.target]
                new = self.valued(assigned_value(item, Load(item.read or item.target, item.dtype)))
                if new is None or not self.is_told_apart(name, self.names.values()):
                    return False
                self.values[name] = new
                self.always.add(name)
                return _is_short(new)
            case If():
                return self.branch(item)
        return False

    def branch(self, item: If) -> bool:
        condition = self.valued(item.condition)
        ways = [_Run(self.statement, self.names, dict(self.values), set(self.always)) for _ in range(2)]
        if condition is None or not ways[0].items(item.then) or not ways[1].items(item.otherwise):
            return False
        written = dict.fromkeys(self.names[a.target] for a in assignments((item,)))
        types = {self.names[a.target]: a.dtype for a in assignments((item,))}
        for name in written:
            then, otherwise = (w.values.get(name, Load(name, types[name])) for w in ways)
            self.values[name] = then if then == otherwise else Select(condition, then, otherwise, types[name])
        self.always |= ways[0].always & ways[1].always
        return all(_is_short(self.values[name]) for name in written)

    def valued(self, value: Expr) -> Expr | None:
        """A value in terms of those before; None where it may read what was written under another name."""
        read = {self.names[e.reference] for e in distinct(value) if isinstance(e, Load)}
        if not all(self.is_told_apart(name, self.values) for name in read):
            return None

        def before(e: Expr) -> Expr:
            if not isinstance(e, Load):
                return e
            name = self.names[e.reference]
            return self.values.get(name, replace(e, reference=name))

        return rebuild_shared(value, before)

    def is_told_apart(self, name: str, others: Iterable[str]) -> bool:
        """Whether an element is none of some others, in no instance, unless it is called the same."""
        mine = self.statement.access(name)
        return all(n == name or (other := self.statement.access(n)).array != mine.array
                   or mine.relation.is_disjoint(other.relation) for n in others)


def _is_short(value: Expr) -> bool:
    """Whether a value may stand in a body, where it is written out: `x ^= x << 1;` doubles it each time."""
    return written_out(value) <= MOST_NODES
