"""Naming and finding loops in a schedule tree.

A loop is one member of a band.  Its *position* counts loops in pre-order from 0.  Its *name* is the last source
iterator in it that no loop outside enumerates: in `[t, i + 2t]` the loops are named `t` and `i`; a loop over
`floor(i / 32)` enumerates tiles of `i` and is named `i_tile`.  A name that occurs in several places is made
unique by the statement: `S0.i`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import Band, Filter, LoopTree, Mark, Node, Sequence

LoopRef: TypeAlias = int | str


@dataclass(frozen=True, eq=False, kw_only=True)
class Loop:
    """One loop of a tree whose bands are split.

    Parameters
    ----------
    position : pre-order number.
    names : per statement below, the loop's name there.
    band : the one-member band.
    ancestors : nodes from the root down to, and without, the band.
    """

    position: int
    names: dict[str, str]
    band: Band
    ancestors: tuple[Node, ...]

    @property
    def name(self) -> str:
        """The name that most statements below agree on; the first in textual order wins a tie."""
        votes = list(self.names.values())
        return max(votes, key=votes.count) if votes else f"loop{self.position}"

    @property
    def statements(self) -> tuple[str, ...]:
        return tuple(self.names)

    @property
    def outer_bands(self) -> tuple[Band, ...]:
        return tuple(node for node in self.ancestors if isinstance(node, Band))


@lru_cache(maxsize=8)   # every step asks several times for those of the tree that it changes
def loops(tree: LoopTree) -> tuple[Loop, ...]:
    """Every loop of a tree with split bands, in pre-order."""
    found: list[Loop] = []
    for band, ancestors, domain in _bands(tree.root, (), tree.domain):
        names = {}
        for statement, function in _functions(band.members[0], domain):
            outer = [f for b in ancestors if isinstance(b, Band)
                     for s, f in _functions(b.members[0], domain) if s == statement]
            names[statement] = _name(function, outer)
        found.append(Loop(position=len(found), names=names, band=band, ancestors=ancestors))
    return tuple(found)


def _bands(node: Node, ancestors: tuple[Node, ...],
           domain: isl.UnionSet) -> Iterator[tuple[Band, tuple[Node, ...], isl.UnionSet]]:
    match node:
        case Band():
            if len(node.members) != 1:
                raise ValueError("loops() wants a tree whose bands are split")
            yield node, ancestors, domain
            yield from _bands(node.child, (*ancestors, node), domain)
        case Sequence():
            for keep, child in node.branches:
                yield from _bands(child, (*ancestors, node), domain.intersect(keep))
        case Filter():
            yield from _bands(node.child, (*ancestors, node), domain.intersect(node.keep))
        case Mark():
            yield from _bands(node.child, (*ancestors, node), domain)
        case _:
            return


def _functions(member: isl.UnionPwAff, domain: isl.UnionSet) -> list[tuple[str, isl.PwAff]]:
    result = []
    sets = domain.get_set_list()
    for i in range(sets.n_set()):
        space = sets.get_at(i).get_space()
        function = member.extract_pw_aff(space.from_domain().add_dims(isl.dim_type.out, 1))
        if function.n_piece():
            result.append((space.get_tuple_name(isl.dim_type.set), function))
    return sorted(result, key=lambda pair: _statement_order(pair[0]))


def _statement_order(name: str) -> tuple[str, int]:
    digits = name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
    return (name[: len(name) - len(digits)], int(digits)) if digits.isdigit() else (name, -1)


def _iterators(function: isl.PwAff) -> list[str]:
    """Iterators that the function's value depends on (its domain does not count), outermost first."""
    affs = [aff for _, aff in function.get_pieces()]
    return [function.get_dim_name(isl.dim_type.in_, d) or f"i{d}"
            for d in range(function.dim(isl.dim_type.in_))
            if any(aff.involves_dims(isl.dim_type.in_, d, 1) for aff in affs)]


def _has_division(function: isl.PwAff) -> bool:
    return any(aff.dim(isl.dim_type.div) > 0 for _, aff in function.get_pieces())


def _name(function: isl.PwAff, outer: list[isl.PwAff]) -> str:
    """The last iterator that no loop of the same sort (tile or plain) outside enumerates yet."""
    tile = _has_division(function)
    scanned: list[str] = []
    for other in (f for f in outer if _has_division(f) == tile):
        scanned += [n for n in _iterators(other) if n not in scanned][-1:]
    names = _iterators(function)
    if not names:
        return "constant"
    name = ([n for n in names if n not in scanned] or names)[-1]
    return f"{name}_tile" if tile else name


def find_loop(tree: LoopTree, reference: LoopRef) -> Loop:
    """The loop that a reference names: a position, a name, or `statement.name`.

    Raises
    ------
    UsageError : no loop, or several, answer to the reference; the hint lists the loops.
    """
    all_loops = loops(tree)
    if isinstance(reference, int):
        matches = [loop for loop in all_loops if loop.position == reference]
    elif "." in reference:
        statement, name = reference.split(".", 1)
        matches = [loop for loop in all_loops if loop.names.get(statement) == name]
    else:
        matches = [loop for loop in all_loops if loop.name == reference]
    if len(matches) == 1:
        return matches[0]
    listing = ", ".join(f"{loop.position}: {loop.name} ({' '.join(loop.statements)})" for loop in all_loops)
    problem = "no loop is called" if not matches else f"{len(matches)} loops are called"
    raise UsageError(f"{problem} {reference!r}",
                     hint=f"name one by position or as STATEMENT.NAME; the loops are {listing}")


def chain(tree: LoopTree, references: tuple[LoopRef, ...]) -> tuple[Loop, ...]:
    """The named loops, outermost first, when each is nested perfectly in the one before.

    Raises
    ------
    UsageError : none is named, a loop is named twice, or statements or other loops stand between them.
    """
    if not references:
        raise UsageError("no loop was named", hint="name the loops of one perfect nest")
    found = sorted((find_loop(tree, r) for r in references), key=lambda loop: loop.position)
    if len({loop.position for loop in found}) != len(found):
        raise UsageError("a loop is named twice", witness=str(references))
    for outer, inner in pairwise(found):
        below = outer.band.child
        if below is not inner.band:
            raise UsageError(
                f"loop {inner.name!r} is not directly inside loop {outer.name!r}",
                witness=f"between them stands a {type(below).__name__.lower()}",
                hint="distribute or fuse first, or name every loop of the perfect nest between them")
    return tuple(found)
