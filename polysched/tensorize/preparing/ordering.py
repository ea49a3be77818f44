"""What the dependences of a program at its sizes allow: loops that stay outside, reads ahead, orders within a tile.

Nothing here knows the CNF; a refusal names the loops to blame, so that it can be learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop
from polysched.tensorize.proofs.body_proofs import adds_to
from polysched.tensorize.proofs.isl_check import Refusal, fused_index, iteration_map
from polysched.tensorize.software.conflicts import conflicts
from polysched.tensorize.software.fragment import Fragment, same_element, statement_fragment
from polysched.tensorize.software.surroundings import surroundings


def loops_kept_outside(fragment: Fragment, dependences: Dependences, *,
                       ahead: bool = False, sums: bool = False) -> tuple[dict[str, str], str]:
    """The outermost loops that stay around the instruction's nest, each with its reason, behind those of `kept`.

    All iterations of the rest run as one nest of their own, behind the statements written before and ahead of those
    written after, which is loop distribution (Allen and Kennedy 2001, section 5.2). No dependence may lead back from a
    later of the three parts to an earlier one, be the statement itself at its ends or not.

    Parameters
    ----------
    ahead : operands are read ahead of all results of the nest, so nothing in it may write what is read there.
    sums : what several statements add to one element may be added in another order.

    Returns
    -------
    loops and reasons; and why there is no legal place at all, or "".
    """
    name, first = fragment.statement.name, len(fragment.kept)
    pairs = leading_back(fragment, dependences, sums=sums)
    lost = _read_ahead(fragment, dependences) if ahead else []
    if not pairs and not lost:
        return {}, ""
    around, tied = surroundings(fragment.scop, name), bool(pairs)
    reasons: dict[str, str] = {}
    for depth in range(first, len(around)):
        here = around[depth].statements
        pairs = [p for p in pairs if {p.source, p.sink} <= {*here} and not _within(fragment, p, depth).is_empty()]
        lost = [p for p in lost if not _within(fragment, p, depth).is_empty()]
        if not pairs and not lost:
            return (reasons if tied or depth < fragment.statement.depth else {}), ""
        pair = (pairs or lost)[0]
        if depth < min(len(around) - 1, len(fragment.loops)):
            loop = fragment.statement.iterators[depth]
            carries = not _within(fragment, pair, depth).is_subset(_within(fragment, pair, depth + 1))
            reasons[loop] = (f"loop {loop} {'carries' if carries else 'is around a loop that carries'} a dependence "
                             f"between {pair.source} and {pair.sink} on {pair.array}")
    if not pairs:
        return {}, ""   # no loop helps; `order_that_is_lost` says so
    pair = pairs[0]
    return reasons, f"{pair.source} and {pair.sink} depend on each other on {pair.array} inside one iteration"


def keeps_temporaries_inside(dependences: Dependences) -> bool:
    """Whether no iteration of the loop around all statements reads from a temporary what another iteration wrote."""
    for pair in dependences.pairs:
        if pair.kind is DependenceKind.FLOW and dependences.scop.array(pair.array).is_temporary:
            depths = [pair.relation.dim(end) for end in (isl.dim_type.in_, isl.dim_type.out)]
            if 0 in depths or not pair.relation.is_subset(
                    pair.relation.equate(isl.dim_type.in_, 0, isl.dim_type.out, 0)):
                return False
    return True


def leading_back(fragment: Fragment, dependences: Dependences, *, sums: bool) -> list[Dependence]:
    """The dependences from the statement, or one written behind it, to it or one written ahead of it.

    Where sums may be reordered, not those between updates of one sum. These hide others from value-based dependences,
    so that all conflicts of the sum with the rest of the program count then.
    """
    names = [s.name for s in fragment.scop.statements]
    own = names.index(fragment.statement.name)

    def back(found: Iterable[Dependence]) -> list[Dependence]:
        return [p for p in found if p.source != p.sink and names.index(p.source) >= own >= names.index(p.sink)]

    pairs = back(dependences.pairs)
    summed = _updates_of_the_sum(fragment) if sums and pairs else frozenset()
    if not any({p.source_reference, p.sink_reference} <= summed for p in pairs):
        return pairs
    conflicts = back(_conflicts(fragment.scop).pairs) if dependences.value_based else []
    return [p for p in (*pairs, *conflicts) if not {p.source_reference, p.sink_reference} <= summed]


@lru_cache(maxsize=4)
def _conflicts(scop: Scop) -> Dependences:
    """All pairs of conflicting accesses; asked for by every statement and instruction."""
    return conflicts(scop)


def _updates_of_the_sum(fragment: Fragment) -> frozenset[str]:
    """The accesses by which statements add to elements of the array that the fragment adds to."""
    found: set[str] = set()
    array = fragment.statement.access(fragment.target).array
    for statement in fragment.scop.statements:
        if any(a.array == array for a in statement.writes):
            other = statement_fragment(fragment.scop, statement, fragment.sizes)
            if other is not None and adds_to(other.update, other.result):
                found |= updates(other)[0]
    return frozenset(found)


def _within(fragment: Fragment, pair: Dependence, depth: int) -> isl.Map:
    """A dependence at the fragment's sizes, between instances of the same iteration of so many outer loops."""
    relation = fix_parameters(pair.relation, fragment.sizes)
    for at in range(min(depth, relation.dim(isl.dim_type.in_), relation.dim(isl.dim_type.out))):
        relation = relation.equate(isl.dim_type.in_, at, isl.dim_type.out, at)
    return relation


def shared_depth(fragment: Fragment) -> int:
    """Number of loops that the statement shares with others, or that are kept outside."""
    around = surroundings(fragment.scop, fragment.statement.name)
    shared = sum(len(place.statements) > 1 for place in around[:-1])
    return max(len(fragment.kept), min(shared, fragment.statement.depth))


def updates(fragment: Fragment) -> tuple[frozenset[str], ...]:
    """Per result the accesses to the element that the statement writes."""
    return tuple(same_element(fragment.statement, fragment.statement.access(r.target)) for r in fragment.results)


def _of_one_update(pair: Dependence, found: Iterable[frozenset[str]]) -> bool:
    """Whether both ends are accesses to the element of one result."""
    return any({pair.source_reference, pair.sink_reference} <= one for one in found)


def order_that_is_lost(fragment: Fragment, dependences: Dependences) -> str:
    """Why the statement's operands cannot be read ahead of all of its results, as packing and blocks do; or "".

    Updates of one element may wait for each other: the nest runs them one after another.
    """
    for pair in _read_ahead(fragment, dependences):
        relation = _within(fragment, pair, len(fragment.kept))
        if not relation.is_empty():
            return (f"{pair.source} reads elements of {pair.array} that its other iterations write, and operands "
                    f"are read before ({relation.sample()})")
    return ""


def _read_ahead(fragment: Fragment, dependences: Dependences) -> list[Dependence]:
    """The dependences of the statement on itself that are none between updates of one element."""
    own = updates(fragment)
    return [p for p in dependences.pairs if p.source == p.sink == fragment.statement.name
            and not _of_one_update(p, own)]


def own_dependences(fragment: Fragment, dependences: Dependences, *, ordered: bool) -> list[isl.Map]:
    """The dependences of the statement on itself, apart from its sum.

    Parameters
    ----------
    ordered : the additions to one element keep their order.  Otherwise the update was proved to be the old value plus
        a product, however it is spelt, and such additions may change places.
    """
    summed = () if ordered else updates(fragment)
    own = [_within(fragment, p, len(fragment.kept)) for p in dependences.pairs
           if p.source == p.sink == fragment.statement.name and (ordered or not p.reduction)
           and not _of_one_update(p, summed)]
    return [r for r in own if not r.is_empty()]


def same_tile_dependence(fragment: Fragment, own: Sequence[isl.Map], extents: Sequence[int | None],
                         loops: Sequence[Sequence[str]]) -> Refusal | None:
    """A dependence of the statement on itself that one execution would have to honour.

    Parameters
    ----------
    own : from `own_dependences`.
    """
    if not own:
        return None

    def violated(members: Sequence[Sequence[str]]) -> bool:
        mapped = {n for m in members for n in m}
        outer = [loop.name for loop in fragment.loops if loop.name not in mapped]   # kept ones among them
        tiles = [f"floor(({fused_index(fragment, m)}) / {e})" if e is not None else "0"
                 for m, e in zip(members, extents, strict=True)]
        tile = iteration_map(fragment, [*outer, *tiles])
        together = tile.apply_range(tile.reverse())
        later = tile.lex_gt_map(tile)
        return any(not r.intersect(together).is_empty() or not r.intersect(later).is_empty() for r in own)

    if not violated(loops):
        return None
    guilty = [list(m) for m in loops]
    for members in guilty:
        for name in list(members):
            members.remove(name)
            if not violated(guilty):
                members.append(name)
    blamed = frozenset(n for m in guilty for n in m)
    if not blamed:   # no mapping helps: the loops left outside run upwards, one inside the other
        return Refusal(f"the loops around the calls would run iterations of {fragment.statement.name} in another order "
                       "than the program does", frozenset(n for m in loops for n in m))
    return Refusal(f"one execution would hold dependent iterations of {fragment.statement.name} "
                   f"(loops {', '.join(sorted(blamed))})", blamed)
