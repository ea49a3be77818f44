"""Position: what is known at one place of a schedule tree, and the exact questions asked there.

Walking down a tree, every loop and every sequence orders some dependences.  A `Position` keeps the
statement instances that arrive and the dependences that nothing outside has ordered yet, so that "does
this loop carry a dependence?" and "is this subtree legal?" are small exact isl questions.
"""

from __future__ import annotations

from dataclasses import field, replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
    Leaf,
    Mark,
    Node,
    Sequence,
    multi_union_pw_aff,
)
from polysched.scop.budget import require_budget
from polysched.scop.scop import union_map


@dataclass(frozen=True, eq=False)
class _Known:
    """What was found out at a place: several orders of loops begin alike, and ask the same there.

    Loops and filters are known by identity; they are held here, so that no other one gets their id.
    """

    together: dict[tuple[int, bool], tuple[isl.UnionPwAff, isl.UnionMap]] = field(default_factory=dict)
    inside: dict[int, tuple[isl.UnionPwAff, _Known]] = field(default_factory=dict)
    branches: dict[int, tuple[isl.UnionSet, Position]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Position:
    """A place in a schedule tree.

    Parameters
    ----------
    domain : the statement instances that arrive here.
    dependences : the pairs of instances, both arriving here, that the loops outside leave unordered.
    unordered : pairs that may run in either order but not at the same time: updates of relaxed reductions.
    path : the functions of the loops outside, outermost first, tile loops left out.
    """

    domain: isl.UnionSet
    dependences: isl.UnionMap
    unordered: isl.UnionMap = field(default_factory=lambda: union_map(()))
    path: tuple[isl.UnionPwAff, ...] = ()
    _known: _Known = field(default_factory=_Known, repr=False)

    def together(self, member: isl.UnionPwAff, *, ordered: bool = True) -> isl.UnionMap:
        """The pairs whose instances run in one iteration of a loop.

        Where these are all pairs, they are given as they are: later questions go sooner without further constraints.

        ordered : the dependences; else those of `unordered`.
        """
        key, pairs = (id(member), ordered), self.dependences if ordered else self.unordered
        if key not in self._known.together:
            found = pairs.eq_at_multi_union_pw_aff(_everywhere(member))
            require_budget()   # where it is spent, what was found may be a part
            self._known.together[key] = member, pairs if pairs.is_subset(found) else found
        return self._known.together[key][1]


def top(dependences: Dependences, domain: isl.UnionSet) -> Position:
    """The position above everything of a tree."""
    return Position(domain=domain, dependences=dependences.validity, unordered=dependences.unordered)


def inside(position: Position, member: isl.UnionPwAff, *, on_path: bool = True) -> Position:
    """The position below a loop: pairs at different iterations are ordered by it.

    It is made once, though several orders of loops begin with the loop: what is known below it is known to all.
    """
    known = position._known.inside.setdefault(id(member), (member, _Known()))[1]
    return Position(domain=position.domain, dependences=position.together(member),
                    unordered=position.together(member, ordered=False), _known=known,
                    path=(*position.path, member) if on_path else position.path)


def _everywhere(member: isl.UnionPwAff) -> isl.MultiUnionPwAff:
    """The values of a loop, for all instances where one expression gives them.

    The pairs that are compared stay inside the loop's domain anyway, and its constraints, strides among them, would
    come into every relation again with every loop.
    """
    functions = member.get_pw_aff_list()
    total = isl.UnionPwAff.empty(member.get_space())
    for index in range(functions.n_pw_aff()):
        function = functions.get_at(index)
        pieces = function.get_pieces()
        total = total.union_add(isl.UnionPwAff.from_pw_aff(
            isl.PwAff.from_aff(pieces[0][1]) if len(pieces) == 1 else function))
    return multi_union_pw_aff((total,))


def branch(position: Position, keep: isl.UnionSet) -> Position:
    """The position below one filter of a sequence; made once, as `inside`, for what it keeps and for its own domain."""
    known = position._known.branches
    if id(keep) not in known:
        below = Position(domain=position.domain.intersect(keep),
                         dependences=position.dependences.intersect_domain(keep).intersect_range(keep),
                         unordered=position.unordered.intersect_domain(keep).intersect_range(keep))
        require_budget()
        known[id(keep)] = keep, below
        known[id(below.domain)] = below.domain, below
    return replace(known[id(keep)][1], path=position.path)


def is_independent(position: Position, member: isl.UnionPwAff) -> bool:
    """The iterations of this loop carry no dependence, ordered or not: they may run at the same time."""
    return (position.together(member) is position.dependences
            and position.together(member, ordered=False) is position.unordered)


def has_one_value(position: Position, member: isl.UnionPwAff) -> bool:
    """All instances that arrive run in one iteration of this loop, whatever the parameters."""
    values = isl.UnionMap.from_union_pw_aff(member).intersect_domain(position.domain).range()
    return bool(values.lexmin().is_equal(values.lexmax()))


def number_of_values(position: Position, member: isl.UnionPwAff) -> int | None:
    """How many iterations a loop has, from its first to its last; None where that follows from the parameters."""
    values = isl.UnionMap.from_union_pw_aff(member).intersect_domain(position.domain).range()
    if values.is_empty():
        return 0
    single = isl.Set.from_union_set(values)
    first, last = single.dim_min_val(0), single.dim_max_val(0)
    return int(last.sub(first).to_python()) + 1 if first.is_int() and last.is_int() else None


def meets_in_pivot(position: Position, loops: tuple[isl.UnionPwAff, ...]) -> bool:
    """All that the last of some nested loops carries begins or ends in one iteration, whose number a loop around has.

    So it is for elimination with a pivot row; the iterations before and behind that one are independent.
    """
    *around, member = loops
    pairs = position.dependences.union(position.unordered)
    for loop in around:
        pairs = pairs.eq_at_multi_union_pw_aff(_everywhere(loop))
    carried = pairs.subtract(pairs.eq_at_multi_union_pw_aff(_everywhere(member)))
    return not carried.is_empty() and any(
        _begins_or_ends_in(carried, member.sub(loop).zero_union_set()) for loop in around)


def _begins_or_ends_in(pairs: isl.UnionMap, instances: isl.UnionSet) -> bool:
    return bool(pairs.is_subset(pairs.intersect_domain(instances).union(pairs.intersect_range(instances))))


def have_equal_values(pairs: isl.UnionMap, member: isl.UnionPwAff) -> bool:
    """Both instances of every pair run in one iteration of this loop."""
    return bool(pairs.is_subset(pairs.eq_at_multi_union_pw_aff(_everywhere(member))))


def runs_backwards(position: Position, member: isl.UnionPwAff) -> bool:
    """Some dependence goes from a later to an earlier iteration of this loop."""
    against = position.dependences.lex_gt_at_multi_union_pw_aff(_everywhere(member))
    return not against.is_empty()


def is_legal(position: Position, node: Node) -> bool:
    """Every dependence of the position runs forward in the subtree."""
    match node:
        case Leaf():
            return bool(position.dependences.is_empty())
        case Mark():
            return is_legal(position, node.child)
        case Filter():
            return is_legal(branch(position, node.keep), node.child)
        case Band():
            for member in node.members:
                if runs_backwards(position, member):
                    return False
                position = inside(position, member)
            return is_legal(position, node.child)
        case Sequence():
            return _is_legal_sequence(position, node)


def _is_legal_sequence(position: Position, node: Sequence) -> bool:
    later = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    for keep, _ in reversed(node.branches):
        into = position.dependences.intersect_range(keep)
        if not into.intersect_domain(later).is_empty():
            return False
        if not node.ordered and not position.dependences.intersect_domain(keep).intersect_range(later).is_empty():
            return False
        later = later.union(keep)
    return all(is_legal(branch(position, keep), child) for keep, child in node.branches)
