"""Tables: reads at computed subscripts, `O[i] = T[I[i] & 15]`, of a program and of an instruction.

Both become calls of one name, `T[](I[i] & 15)`, which bodies are compared with.  A table of the instruction is an array
of the program from the subscripts on that data choose; the same for all iterations of the nest, and copied once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from polysched.records import dataclass
from polysched.scop.body import Call, Expr, Load, rebuild, walk
from polysched.scop.dtypes import DType
from polysched.tensorize.description.contraction import Contraction
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.semantics import table_function, table_of, table_reads
from polysched.tensorize.matching.facts import Fact
from polysched.tensorize.software.fragment import Fragment


@dataclass(frozen=True, eq=False)
class Tabled:
    """A fragment whose reads at computed subscripts are calls of the instruction's tables.

    Parameters
    ----------
    held : per table of the instruction the program's access.
    facts : what hinders.
    """

    fragment: Fragment
    held: tuple[tuple[str, Expr], ...]
    facts: tuple[Fact, ...]


def with_tables(fragment: Fragment, intrinsic: Intrinsic) -> Iterator[Tabled]:
    """The fragment for every way to take arrays of the program for the instruction's tables."""
    wanted, mine = _described(intrinsic.contraction), _read(fragment)
    if len(wanted) != len(mine):
        return
    for order in itertools.permutations(mine):
        chosen = dict(zip(wanted, order, strict=True))
        if all(_same_shape(wanted[name], mine[own]) for name, own in chosen.items()):
            back = {own: (table_function(name), wanted[name].leading) for name, own in chosen.items()}
            held = tuple((name, Load(mine[own].name, mine[own].dtype)) for name, own in chosen.items())
            yield Tabled(replace(fragment, update=_renamed(fragment.update, back)), held,
                         tuple(_facts(fragment, intrinsic, dict(held))))


def other_tables(fragment: Fragment, intrinsic: Intrinsic) -> str:
    """Why a statement's reads at computed subscripts are none of an instruction's; "" where they may be."""
    wanted, mine = _described(intrinsic.contraction), _read(fragment)
    if len(wanted) != len(mine):
        count = f"{len(mine)} arrays" if len(mine) > 1 else "one array" if mine else "no array"
        names = ", ".join(dict.fromkeys(fragment.text(Load(r.name, r.dtype)) for r in mine.values()))
        return (f"the statement reads {count} at subscripts that data choose{f' ({names})' if names else ''}, and "
                f"{intrinsic.name} reads {' and '.join(wanted)} so")
    for name, own in wanted.items():
        if not any(_same_shape(own, other) for other in mine.values()):
            other = next(iter(mine.values()))
            text = fragment.text(Load(other.name, other.dtype))
            return (f"table {name} of {intrinsic.name} holds {own.dtype}, and {text} holds {other.dtype}"
                    if own.dtype != other.dtype else
                    f"data choose {own.chosen} subscripts of table {name}, and {other.chosen} of {text}")
    return ""


@dataclass(frozen=True)
class _Read:
    """How a table is read: the subscripts ahead of those that data choose, how many these are, and the type."""

    name: str
    leading: tuple[Expr, ...]
    chosen: int
    dtype: DType


def _described(contraction: Contraction) -> dict[str, _Read]:
    found = {}
    for r in contraction.results:
        for e in table_reads(r.update):
            leading = tuple(itertools.takewhile(lambda a: not _loads(a), e.arguments))
            found[table_of(e)] = _Read(table_of(e), leading, len(e.arguments) - len(leading), e.dtype)
    return found


def _read(fragment: Fragment) -> dict[str, _Read]:
    return {e.function: _Read(table_of(e), (), len(e.arguments), e.dtype) for e in table_reads(fragment.update)}


def _loads(e: Expr) -> bool:
    return any(isinstance(x, Load) for x in walk(e))


def _same_shape(theirs: _Read, mine: _Read) -> bool:
    return theirs.dtype == mine.dtype and theirs.chosen == mine.chosen


def _renamed(update: Expr, back: Mapping[str, tuple[str, tuple[Expr, ...]]]) -> Expr:
    def change(e: Expr) -> Expr:
        if isinstance(e, Call) and e.function in back:
            name, leading = back[e.function]
            return Call(name, (*leading, *e.arguments), e.dtype)
        return e

    return rebuild(update, change)


def _facts(fragment: Fragment, intrinsic: Intrinsic, held: Mapping[str, Expr]) -> Iterator[Fact]:
    """Arrays whose extents are not known, so that a copy might read past them."""
    for name, e in held.items():
        assert isinstance(e, Load)
        array = fragment.scop.array(fragment.statement.access(e.reference).array)
        if fragment.extents(array.name) is None:
            yield Fact("table", f"operand {name}: the extents of {array.name} are not known, and {intrinsic.name} "
                       "reads a whole table", f"declare {array.name} with its extents")
