"""Branches of a description as choices of what is written.

    if (a > b) { t = a; a = b; b = t; }   ->   before_a = a;  a = a > b ? b : a;  b = before_a > b ? before_a : b;

Both ways are run on symbols, from the values before the branch.  An element that only one way writes keeps its value on
the other one.  What a way declares ends with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from polysched.errors import SourceSyntaxError
from polysched.records import dataclass
from polysched.scop.body import Expr, Load, Select, distinct, rebuild_shared
from polysched.tensorize.description.semantics import Element, Item, Local, Loop, Update, Variable
from polysched.tensorize.limits import LIMITS

MOST_NODES = LIMITS.most_branch_nodes


@dataclass(frozen=True)
class Branch:
    """`if (condition) then else otherwise`.

    Parameters
    ----------
    elements : what the condition reads.
    """

    condition: Expr
    elements: tuple[Element, ...]
    then: tuple[Item, ...]
    otherwise: tuple[Item, ...]


def chosen(branch: Branch, refuse: Callable[[str], SourceSyntaxError], fresh: Callable[[str], str]) -> tuple[Item, ...]:
    """A branch as assignments of choices, one per element that some way writes.

    Parameters
    ----------
    refuse : a refusal in words.
    fresh : a name that nothing has, from a wish.

    Raises
    ------
    SourceSyntaxError : a way has loops, reads what may be an element that it wrote, or is too long.
    """
    ways = (_Way(refuse), _Way(refuse))
    for way, items in zip(ways, (branch.then, branch.otherwise), strict=True):
        for item in items:
            way.run(item)
    written = {n: e for way in ways for n, e in way.written.items()}
    known = {str(e): e for e in branch.elements} | {n: e for way in ways for n, e in way.read.items()} | written
    for a, b in itertools.product(written.values(), known.values()):
        if a != b and a.array == b.array and not _are_apart(a, b):
            raise refuse(f"{a} and {b} may be one element, and the branch writes the first")
    choices = {n: _choice(n, branch.condition, ways) for n in written}
    if sum(1 for _ in itertools.chain.from_iterable(map(distinct, choices.values()))) > MOST_NODES:
        raise refuse(f"the branch computes more than {MOST_NODES} operations")
    return _one_behind_the_other(choices, known, fresh)


def _are_apart(a: Element, b: Element) -> bool:
    """Whether two elements of one array are two in every iteration."""
    steps = [x.plus(y, -1) for x, y in zip(a.subscripts, b.subscripts, strict=True)]
    return any(not s.terms and s.constant for s in steps)


def _choice(name: str, condition: Expr, ways: Sequence[_Way]) -> Expr:
    """The value of an element behind a branch."""
    dtype = next(w.values[name].dtype for w in ways if name in w.values)
    then, otherwise = (w.values.get(name, Load(name, dtype)) for w in ways)
    return Select(condition, then, otherwise, dtype)


def _one_behind_the_other(choices: Mapping[str, Expr], known: Mapping[str, Element],
                          fresh: Callable[[str], str]) -> tuple[Item, ...]:
    """Assignments that happen at once in a row: what a later one reads of an earlier one is kept ahead of them all."""
    kept: list[Item] = []
    made: list[Item] = []
    old: dict[str, Expr] = {}
    elements = dict(known)
    later = list(choices.values())
    for name, value in choices.items():
        later.pop(0)
        mine = rebuild_shared(value, lambda e: old.get(e.reference, e) if isinstance(e, Load) else e)
        read = tuple(dict.fromkeys(elements[e.reference] for e in distinct(mine) if isinstance(e, Load)))
        made.append(Update(known[name], value.dtype, mine, read))
        if any(isinstance(e, Load) and e.reference == name for e in distinct(*later)):
            before = Variable(fresh(f"before_{known[name].array}"), value.dtype)
            kept.append(Local(before, Load(name, value.dtype), (known[name],)))
            old[name], elements[before.name] = Load(before.name, value.dtype), Element(before.name)
    return (*kept, *made)


@dataclass
class _Way:
    """One way through a branch, run on symbols.

    Parameters
    ----------
    values : what was assigned, by the name of the element.
    written, read : elements that are there behind the branch, by name.
    """

    refuse: Callable[[str], SourceSyntaxError]
    values: dict[str, Expr] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    written: dict[str, Element] = field(default_factory=dict)
    read: dict[str, Element] = field(default_factory=dict)

    def run(self, item: Item) -> None:
        match item:
            case Loop():
                raise self.refuse(f"a branch around the loop over {item.name}: write the branch inside of the loop")
            case Local():
                if item.variable.shape:
                    raise self.refuse(f"an array of locals, {item.variable.name}, inside of a branch")
                self.declared.add(item.variable.name)
                self.values.pop(item.variable.name, None)
                if item.value is not None:
                    self.values[item.variable.name] = self.valued(item.value, item.elements)
            case Update():
                value, name = self.valued(item.value, item.elements), str(item.target)
                self.values[name] = value
                if item.target.array not in self.declared:
                    self.written[name] = item.target

    def valued(self, value: Expr, elements: Sequence[Element]) -> Expr:
        """A value in terms of those before the branch."""
        for e in elements:
            if e.array not in self.declared:
                self.read[str(e)] = e
            elif str(e) not in self.values:
                raise self.refuse(f"the local {e} is read before it has a value")
        return rebuild_shared(value, lambda e: self.values.get(e.reference, e) if isinstance(e, Load) else e)
