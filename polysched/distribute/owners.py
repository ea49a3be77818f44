"""Who executes what: a coordinate per statement instance, and which rank owns which coordinates.

Owner computes: an instance runs on the rank that owns its coordinate, and what it writes is that rank's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

import islpy as isl

from polysched.distribute.limits import LIMITS
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.scop import Scop, Statement

FIRST, END, RANK = "polysched_first", "polysched_end", "polysched_rank"
TO_FIRST, TO_END, TO_RANK = "polysched_to_first", "polysched_to_end", "polysched_to_rank"
_OUT, _SET = isl.dim_type.out, isl.dim_type.set
_NUMBER = re.compile(r"-?[0-9]{1,9}")


@dataclass(frozen=True, kw_only=True)
class Partition:
    """How the coordinates of an axis are dealt out to ranks.

    Parameters
    ----------
    kind : `block` gives every rank one contiguous range, for any number of ranks; `cyclic` deals out coordinates one by
        one, `block-cyclic` ranges of `block`.
    ranks : their number, where the kind needs it.
    block : coordinates in a range of `block-cyclic`.

    Raises
    ------
    UsageError : a number that the kind does not take, or lacks.
    """

    kind: Literal["block", "cyclic", "block-cyclic"] = "block"
    ranks: int | None = None
    block: int = 1

    def __post_init__(self) -> None:
        if self.kind not in ("block", "cyclic", "block-cyclic"):
            raise UsageError(f"no partition {self.kind!r}", hint="one of block, cyclic, block-cyclic")
        if (self.kind != "block" or self.ranks is not None) and not _counts(self.ranks):
            raise UsageError(f"a {self.kind} partition is made for a number of ranks", witness=f"ranks={self.ranks}",
                             hint="give the number, an int of C; block needs none")
        if not _counts(self.block) or (self.block != 1 and self.kind != "block-cyclic"):
            raise UsageError(f"a {self.kind} partition has no ranges of {self.block}",
                             hint="block-cyclic has ranges of one or more coordinates")

    @property
    def own_names(self) -> tuple[str, ...]:
        """The parameters that say what a rank owns."""
        return (FIRST, END) if self.kind == "block" else (RANK,)

    @property
    def other_names(self) -> tuple[str, ...]:
        """The same of the rank at the other end of a message."""
        return (TO_FIRST, TO_END) if self.kind == "block" else (TO_RANK,)

    def owned(self, names: tuple[str, ...]) -> isl.Set:
        """`{ [a] }`: the coordinates of the rank that these parameters describe."""
        if self.kind == "block":
            text = f"[{', '.join(names)}] -> {{ [a] : {names[0]} <= a < {names[1]} }}"
        else:
            rank, block, ranks = names[0], self.block, self.ranks
            text = (f"[{rank}] -> {{ [a] : {block}{rank} <= a mod {block * (ranks or 1)} < {block}{rank} + {block} "
                    f"and 0 <= {rank} < {ranks} }}")
        return isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)

    def values(self, names: tuple[str, ...], rank: int, ranks: int, axis: tuple[int, int]) -> dict[str, int]:
        """What the parameters of a rank are, for an axis from its first to its last coordinate."""
        if self.kind != "block":
            return {names[0]: rank}
        first, last = axis
        block = max(-(-(last - first + 1) // ranks), 1)
        return {names[0]: first + rank * block, names[1]: min(first + (rank + 1) * block, last + 1)}

    def owner(self, coordinate: int, first: int, last: int, ranks: int) -> int:
        """The rank that owns a coordinate of an axis from `first` to `last`: the second witness of `owned`."""
        if self.kind == "block":
            return (coordinate - first) // max(-(-(last - first + 1) // ranks), 1)
        return coordinate % (self.block * ranks) // self.block


def _counts(number: object) -> bool:
    """Whether it is a number of ranks, or of coordinates, that C's `int` holds."""
    return isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= LIMITS.most_ranks


def coordinates(scop: Scop, axis: str, given: Mapping[str, str] | None = None) -> dict[str, isl.Map]:
    """`{ S[i, j] -> [a] }` per statement.

    A statement with an iterator of the axis' name has it.  Others own what they touch: the coordinate is their
    subscript where others write an array along the axis.  Instances that have neither run at the lowest coordinate, at
    0 where the loop has no iterations.  Every instance has one coordinate.

    Parameters
    ----------
    axis : an iterator's name.
    given : coordinates by hand, per statement: the name of one of its iterators, or a number.

    Raises
    ------
    UsageError : no statement has such an iterator, or a given one is not there.
    """
    given = given or {}
    _refuse_unknown(scop, given)
    found = {s.name: _by_name(s, given.get(s.name, axis), by_hand=s.name in given) for s in scop.statements}
    if all(c is None for c in found.values()):
        names = sorted({name for s in scop.statements for name in s.iterators})
        raise UsageError(f"no loop {axis} to distribute", where=scop.name, hint=f"loops are {', '.join(names)}")
    named = {n: c for n, c in found.items() if c is not None}
    owned = _owned_dimensions((s, named[s.name]) for s in scop.statements if s.name in named)
    lowest = lowest_coordinate(scop, named)
    return {s.name: named.get(s.name) or _everywhere(s, _by_elements(s, owned), lowest) for s in scop.statements}


def _refuse_unknown(scop: Scop, given: Mapping[str, str]) -> None:
    names = [s.name for s in scop.statements]
    for statement, place in given.items():
        if statement not in names:
            raise UsageError(f"no statement {statement}", where=scop.name, hint=", ".join(names))
        if not isinstance(place, str):
            raise UsageError(f"{statement} cannot run at {place!r}", where=scop.name,
                             hint="a text: the name of one of its iterators, or a number")


def lowest_coordinate(scop: Scop, by_statement: Mapping[str, isl.Map]) -> isl.PwAff:
    """The least coordinate of any instance, as a function of the parameters; 0 where there are no instances."""
    least = axis_set(scop, by_statement).dim_min(0)
    none = isl.PwAff.zero_on_domain(isl.LocalSpace.from_space(least.get_domain_space()))
    return least.union_add(none.intersect_domain(least.domain().complement()))


def axis_set(scop: Scop, by_statement: Mapping[str, isl.Map]) -> isl.Set:
    """`{ [a] }`: the coordinates of all instances."""
    total = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "{ [a] : false }").align_params(scop.context.get_space())
    for name, coordinate in by_statement.items():
        total = total.union(coordinate.intersect_domain(scop.statement(name).domain).range())
    return total.intersect_params(scop.context).coalesce()


def _by_name(statement: Statement, name: str, *, by_hand: bool) -> isl.Map | None:
    space = statement.domain.get_space()
    if name in statement.iterators:
        at = statement.iterators.index(name)
        return isl.Map.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), _SET, at))
    if by_hand and _NUMBER.fullmatch(name):
        return isl.Map.from_aff(isl.Aff.val_on_domain(isl.LocalSpace.from_space(space), isl.Val(int(name))))
    if by_hand:
        raise UsageError(f"{statement.name} has no iterator {name}",
                         hint=f"{', '.join(statement.iterators)}, or a number of at most nine digits")
    return None


def _owned_dimensions(statements: Iterable[tuple[Statement, isl.Map]]) -> dict[str, int]:
    """Per array the subscript that is the coordinate in all writes of statements on the axis."""
    found: dict[str, set[int]] = {}
    for statement, coordinate in statements:
        for access in statement.writes:
            own = {at for at in range(access.relation.dim(_OUT)) if _is_at(access.relation, at, coordinate)}
            found[access.array] = found[access.array] & own if access.array in found else own
    return {array: min(own) for array, own in found.items() if own}


def _is_at(relation: isl.Map, at: int, coordinate: isl.Map) -> bool:
    return bool(_subscript(relation, at).is_subset(coordinate.intersect_domain(relation.domain())))


def _subscript(relation: isl.Map, at: int) -> isl.Map:
    """`{ S[i, j] -> [a] }`: one subscript of an access."""
    count = relation.dim(_OUT)
    return (relation.project_out(_OUT, at + 1, count - at - 1).project_out(_OUT, 0, at)
            .reset_tuple_id(_OUT) if relation.has_tuple_id(_OUT) else relation)


def _by_elements(statement: Statement, owned: Mapping[str, int]) -> isl.Map | None:
    """The owned subscript of what a statement writes, else reads."""
    for access in (*statement.writes, *statement.reads):
        if access.array in owned and access.exact:
            subscript = _subscript(access.relation, owned[access.array])
            if subscript.is_single_valued():
                return subscript
    return None


def _everywhere(statement: Statement, touched: isl.Map | None, lowest: isl.PwAff) -> isl.Map:
    """What a statement touches, and the lowest coordinate for its other instances."""
    anywhere = isl.Map.from_domain_and_range(statement.domain, isl.Set.from_pw_aff(lowest))
    return anywhere if touched is None else touched.union(anywhere.subtract_domain(touched.domain()))
