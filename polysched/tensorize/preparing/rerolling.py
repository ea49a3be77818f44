"""Sums that are written out several at a time, as one loop again.

Rewrite:  for k = 0, 4, ...: { c += a[k] * b[k]; ... c += a[k + 3] * b[k + 3]; }   ->   for k: c += a[k] * b[k]
          for k = 0, 2, ...: c += a[k] * b[k] + a[k + 1] * b[k + 1]                ->   for k: c += a[k] * b[k]
          for k < 24: c += a[k] * b[k];  for 24 <= k < 26: c += a[k] * b[k]        ->   for k < 26: c += a[k] * b[k]

Statements with one body, side by side or in loops of their own, whose accesses are those of the first one further
along a loop, are its own further iterations.  Instances that meet in one element keep their order, which is checked, so
floats are the same bit for bit.  One statement that adds several products is taken apart first where it is a sum of
integers, which then wraps on the way as unsigned ones do, or where its additions stand in that order anyway.
Source: the inverse of loop unrolling (Allen, Kennedy, "Optimizing Compilers for Modern Architectures", 2001, 8.4).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.if_conversion import assigned_value
from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import LoopTree, from_isl, replace_node, split_bands, to_isl
from polysched.scheduling.tree.loop_tree import Sequence as InSequence
from polysched.scheduling.tree.loop_tree import walk as walk_tree
from polysched.scop.body import Assign, Binary, Cast, Expr, IteratorRef, Load, rebuild, walk
from polysched.scop.scop import Access, AccessKind, Scop, Statement, union_map, union_set
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.preparing.conditions import affine
from polysched.tensorize.preparing.restating import (
    Restated,
    checked,
    identity,
    one_behind_the_other,
    pulled_back,
    with_body,
    without_domains,
    wrapping_sum,
)
from polysched.tensorize.proofs.body_proofs import adds_to, below_signs, summands
from polysched.tensorize.software.clamps import plain
from polysched.tensorize.software.fragment import one_name_per_element
from polysched.tensorize.software.renaming import fresh_name, named_map, named_set, renamed_statement

MOST_COPIES = LIMITS.most_rolled_copies
_SET, _IN, _OUT = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


def rerolled(dependences: Dependences, *, reorder: bool = False) -> Dependences | None:
    """The program with one loop rolled up again; None where none is written out.

    Parameters
    ----------
    reorder : floats may be added in another order, so that `c += a[0] * b[0] + a[1] * b[1]` is two sums.
    """
    scop = dependences.scop
    for group in side_by_side(scop):
        if (after := _rolled(dependences, scop, group)) is not None:
            return after
    for statement in scop.statements:
        apart = taken_apart(scop, statement, reorder=reorder)
        if apart is not None and (after := _rolled(dependences, *apart)) is not None:
            return after
    return None


@dataclass(frozen=True, eq=False)
class _Shifts:
    """The iterator that a group of statements goes along, and how far each of them is ahead of the first."""

    at: int
    by: tuple[int, ...]


def side_by_side(scop: Scop) -> Iterator[tuple[Statement, ...]]:
    """Neighbouring statements of one body, the longest runs of them first."""
    for node in walk_tree(from_isl(scop.schedule).root):
        if not isinstance(node, InSequence):
            continue
        alone = [_only_statement(scop, keep) for keep, _ in node.branches]
        for _, run in itertools.groupby(alone, key=lambda s: None if s is None else pattern(s)):
            group = tuple(s for s in run if s is not None)
            if 1 < len(group) <= MOST_COPIES:
                yield group


def _only_statement(scop: Scop, keep: isl.UnionSet) -> Statement | None:
    found = [s for s in scop.statements if not keep.intersect(s.domain).is_empty()]
    return found[0] if len(found) == 1 else None


def pattern(statement: Statement) -> tuple[object, ...]:
    """What is equal for statements that do the same to elements of the same arrays."""
    item = statement.body[0] if len(statement.body) == 1 else None
    if not isinstance(item, Assign):
        return (statement.name,)
    return statement.depth, tuple((a.array, a.kind) for a in statement.accesses), _in_places(
        statement, _wrapping(statement) or _written_out(item))


def _written_out(item: Assign) -> Assign:
    """`t += e` of floats as `t = t + e`."""
    if item.read is None or not item.dtype.is_float:
        return item
    return Assign(item.target, assigned_value(item, Load(item.read, item.dtype)), item.dtype)


def _in_places(statement: Statement, item: Assign) -> Assign:
    """An assignment that names accesses by their places in the statement."""
    places = {a.reference: f"{at}" for at, a in enumerate(statement.accesses)}
    value = rebuild(item.value, lambda e: Load(places[e.reference], e.dtype) if isinstance(e, Load) else e)
    return replace(item, target=places[item.target], read=item.read and places[item.read], value=value)


def _wrapping(statement: Statement) -> Assign | None:
    """A sum of integers as one that wraps, which is the same in all spellings; None for others."""
    item = statement.body[0]
    if not isinstance(item, Assign) or not item.dtype.is_integer or len(addends := _addends(statement, item)) != 1:
        return None
    old = _old_value(statement, item)
    return None if old is None else Assign(item.target, wrapping_sum(Load(old.reference, item.dtype), addends[0]),
                                           item.dtype)


def _old_value(statement: Statement, item: Assign) -> Access | None:
    """The access that reads the element which a statement writes."""
    target = statement.access(item.target)
    return next((a for a in statement.reads if a.array == target.array and a.relation.is_equal(target.relation)), None)


def common_body(group: tuple[Statement, ...]) -> Statement:
    """The first statement, as a sum that wraps where one of them is spelt so."""
    first, items = group[0], [s.body[0] for s in group]
    spelt = {_in_places(s, b) for s, b in zip(group, items, strict=True) if isinstance(b, Assign)}
    wraps = _wrapping(first) if len(spelt) > 1 else None
    return first if wraps is None else with_body(first, wraps)


def _rolled(before: Dependences, scop: Scop, group: tuple[Statement, ...]) -> Dependences | None:
    """The program with a group as one statement; None where it is none, or some order would change."""
    if any(pattern(s) != pattern(group[0]) for s in group[1:]):   # `2 * A[k] + 3 * A[k + 1]`
        return None
    shifts = _shifts(group)
    made = None if shifts is None else _as_one(scop, group, shifts)
    if made is None:
        return None
    if scop is not before.scop:   # one statement was taken apart: its parts are compared with each other only
        before = analyse(scop, value_based=before.value_based, inputs=before.inputs)
    return checked(before, made)


def _shifts(group: tuple[Statement, ...]) -> _Shifts | None:
    first = group[0]
    named = {e.name for b in first.body if isinstance(b, Assign) for e in walk(b.value) if isinstance(e, IteratorRef)}
    if not all(a.exact for s in group for a in s.accesses):
        return None
    for at in reversed(range(first.depth)):
        if first.iterators[at] in named:
            continue
        by = [_shift(first, other, at) for other in group]
        known = [b for b in by if b is not None]
        if len(known) == len(group) and min(known) == 0:
            return _Shifts(at, tuple(known))
    return None


def _shift(first: Statement, other: Statement, at: int) -> int | None:
    """How far a statement's accesses are ahead of the first one's along a loop; None where they are elsewhere."""
    found: set[int] = {0} if other is first else set()
    only = other.domain.plain_get_val_if_fixed(_SET, at)   # a subscript may be a number where there is one iteration
    value = int(only.get_num_si()) if only.is_int() else 0
    for a, b in zip(first.accesses, other.accesses, strict=True):
        left, right = affine_function(a.relation), affine_function(b.relation)
        if left is None or right is None:
            return None
        for k in range(left.dim(_OUT)):
            x, y = left.get_aff(k), right.get_aff(k)
            step = int(x.get_coefficient_val(_IN, at).get_num_si())
            other_step = int(y.get_coefficient_val(_IN, at).get_num_si())
            apart = int(y.get_constant_val().sub(x.get_constant_val()).get_num_si()) + (other_step - step) * value
            if step and apart % step == 0:
                found.add(apart // step)
            elif step or apart:
                return None
    return found.pop() if len(found) == 1 else None   # that all else is equal is checked on the relations


def affine_function(relation: isl.Map) -> isl.MultiAff | None:
    """The one affine function that a relation is, whatever its domain; None where it is none."""
    whole = isl.Map.from_basic_map(relation.remove_divs().affine_hull())
    if not relation.is_single_valued() or not whole.is_single_valued():   # `O[i / 2]` without its quotient is none
        return None
    hull = isl.PwMultiAff.from_map(whole).gist(whole.domain())
    if not hull.isa_multi_aff():
        return None
    function = hull.as_multi_aff()
    affs = [function.get_aff(k) for k in range(relation.dim(_OUT))]
    plain_affs = all(not a.dim(isl.dim_type.div) and a.get_denominator_val().is_one() for a in affs)
    return function if plain_affs else None


def _as_one(scop: Scop, group: tuple[Statement, ...], shifts: _Shifts) -> Restated | None:
    """The program with the first statement in all their iterations; None where accesses would be others."""
    first = group[0]
    moves = [_move(first, other, shifts.at, by) for other, by in zip(group, shifts.by, strict=True)]
    domain = _plain(moves, first, scop.context.params())
    moves = [move.intersect_params(scop.context.params()) for move in moves]
    back = union_map(moves)
    if not back.is_single_valued() or not back.is_injective():
        return None
    accesses = _as_those_of(first, domain)
    same = all(is_spelt(access) and all(
        move.apply_range(other.accesses[k].relation).is_equal(access.relation.intersect_domain(move.domain()))
        for move, other in zip(moves, group, strict=True)) for k, access in enumerate(accesses))
    if not same:
        return None
    names = frozenset(s.name for s in group)
    whole = replace(common_body(group), domain=domain, accesses=accesses)
    statements = tuple(whole if s is first else s for s in scop.statements if s is first or s.name not in names)
    tree = _tree(scop, group, whole, union_set(s.domain for s in statements))
    if tree is None:
        return None
    references = {a.reference: tuple(other.accesses[k].reference for other in group)
                  for k, a in enumerate(first.accesses)}
    return Restated(scop=replace(scop, statements=statements, schedule=to_isl(tree)),
                    back=identity(scop, but=names).union(back), references=references)


def _as_those_of(first: Statement, domain: isl.Set) -> tuple[Access, ...]:
    """The accesses of a statement in other iterations, each the same function of these."""
    found = []
    for access in first.accesses:
        function = affine_function(access.relation)
        assert function is not None   # `_shifts` looked at it
        relation = isl.Map.from_multi_aff(function).set_tuple_name(_IN, first.name).intersect_domain(domain)
        named = named_map(relation, first.iterators)   # what subscripts say; of joined statements it had others
        found.append(replace(access, relation=named))
    return tuple(found)


def is_spelt(access: Access) -> bool:
    """Whether the subscripts of an access, which instructions are emitted from, name the elements of its relation.

    Others are where the subscripts are fewer than the dimensions: code is made from the relation then.
    """
    relation = access.relation
    if len(access.subscripts) != relation.dim(_OUT):
        return True
    named = isl.MultiAff.zero(relation.get_space())
    for at, subscript in enumerate(access.subscripts):
        aff = affine(relation.domain(), rebuild(subscript, _without_widening))
        if aff is None:
            return False
        named = named.set_aff(at, aff)
    return bool(relation.is_subset(isl.Map.from_multi_aff(named)))


def _without_widening(e: Expr) -> Expr:
    """Without a conversion that keeps an element's number, be it of a type that wraps."""
    widens = isinstance(e, Cast) and e.dtype.is_integer and e.operand.dtype.is_integer \
        and e.operand.dtype.bits <= e.dtype.bits
    return e.operand if isinstance(e, Cast) and widens else e


def _plain(moves: Sequence[isl.Map], statement: Statement, context: isl.Set) -> isl.Set:
    """All iterations, by inequalities without quotients where those say it: a sum and its rest are `0 <= k < n`."""
    domain = isl.Set.empty(statement.domain.get_space())
    for move in moves:
        domain = domain.union(move.domain())
    domain = domain.coalesce()
    there = domain.intersect_params(context)
    hull = _tight_hull(domain, there).gist_params(context)
    domain = hull if hull.intersect_params(context).is_equal(there) else domain
    return named_set(domain, statement.iterators)


def _tight_hull(domain: isl.Set, there: isl.Set) -> isl.Set:
    """What a domain's inequalities on iterators, without quotients, allow, each as tight as it holds for all of it.

    Parameters
    ----------
    there : the domain where the program's sizes can be.
    """
    hull = isl.Set.universe(domain.get_space())
    parts = [*domain.get_basic_sets(), domain.polyhedral_hull()]
    for constraint in (c for part in parts for c in part.remove_divs().get_constraints()):
        function = constraint.get_aff()
        if not function.involves_dims(_IN, 0, function.dim(_IN)):
            continue   # on sizes alone
        signs = (function, function.neg()) if constraint.is_equality() else (function,)
        for side in signs:
            least = there.min_val(side)
            if least.is_int():
                hull = hull.intersect(isl.PwAff.from_aff(side.add_constant_val(least.neg())).nonneg_set())
    return hull.coalesce()


def _move(first: Statement, other: Statement, at: int, by: int) -> isl.Map:
    """`{ S0[i, k] -> S1[i, k - by] }`, which are instances of the other statement."""
    names = [f"i{k}" for k in range(first.depth)]
    moved = [f"{n} - {by}" if k == at else n for k, n in enumerate(names)]
    text = f"{{ {first.name}[{', '.join(names)}] -> {other.name}[{', '.join(moved)}] }}"
    return isl.Map.read_from_str(first.domain.get_ctx(), text).intersect_range(other.domain)


def _tree(scop: Scop, group: Sequence[Statement], whole: Statement, domain: isl.UnionSet) -> LoopTree | None:
    """The order with the first statement in the place of the group, its loops counting as its iterators do."""
    tree = from_isl(scop.schedule)
    root = without_domains(split_bands(tree.root), tree.domain)
    mine = union_set(s.domain for s in group)
    for node in walk_tree(root):
        if not isinstance(node, InSequence):
            continue
        inside = [not keep.intersect(tree.domain).intersect(mine).is_empty() for keep, _ in node.branches]
        if sum(inside) != len(group):
            continue
        at = inside.index(True)
        universe = isl.UnionSet.from_set(isl.Set.universe(whole.domain.get_space()))
        below = node.branches[at][1]   # the loops of the first statement, or nothing
        branches = (*node.branches[:at], (universe, below), *node.branches[at + len(group):])
        root = replace_node(root, node, InSequence(branches=branches) if len(branches) > 1 else below)
        return LoopTree(domain=domain, root=without_domains(root, domain))
    return None


def taken_apart(scop: Scop, statement: Statement, *, reorder: bool) -> tuple[Scop, tuple[Statement, ...]] | None:
    """The program with a statement per product that one statement adds, one right behind the other."""
    item = statement.body[0] if len(statement.body) == 1 else None
    if not isinstance(item, Assign) or statement.access(item.target).kind is not AccessKind.MUST_WRITE:
        return None
    old = _old_value(statement, item)
    if old is None:
        return None
    values = _sums(statement, item, Load(old.reference, item.dtype), reorder=reorder)
    if not 1 < len(values) <= MOST_COPIES:
        return None
    made, taken = list[Statement](), {s.name for s in scop.statements}
    for number, value in enumerate(values):
        part = _in_order(with_body(statement, Assign(item.target, value, item.dtype)))
        if number:
            name = fresh_name(f"{statement.name}_{number + 1}", taken)
            part = renamed_statement(part, name, {a.reference: f"{name}_{a.reference}" for a in part.accesses})
        made.append(part)
    back = identity(scop).union(union_map(
        isl.Map.identity(p.domain.get_space().map_from_set()).intersect_domain(p.domain).set_tuple_name(
            _OUT, statement.name) for p in made[1:]))
    statements = tuple(p for s in scop.statements for p in (made if s is statement else (s,)))
    tree = from_isl(pulled_back(scop.schedule, back, union_set(s.domain for s in statements)))
    ordered = replace(tree, root=one_behind_the_other(split_bands(tree.root), [p.domain for p in made]))
    return replace(scop, statements=statements, schedule=to_isl(ordered)), tuple(made)


def _sums(statement: Statement, item: Assign, old: Load, *, reorder: bool) -> list[Expr]:
    """What the parts of a statement make of their old value, each with one addend."""
    if not reorder or not item.dtype.is_float:
        return [wrapping_sum(old, addend) for addend in _addends(statement, item)]
    addends, sign = _in_any_order(statement, item)
    return [Binary(sign, old, addend, item.dtype) for addend in addends]


def _in_order(statement: Statement) -> Statement:
    """The accesses in the order in which the body names them, so that parts of one sum have equal ones."""
    item = statement.body[0]
    assert isinstance(item, Assign)
    place = {e.reference: at for at, e in reversed(list(enumerate(x for x in walk(item.value) if isinstance(x, Load))))}
    return replace(statement, accesses=tuple(sorted(
        statement.accesses, key=lambda a: place.get(a.reference, len(place) + 1))))


def _addends(statement: Statement, item: Assign) -> list[Expr]:
    """What a statement adds to its element, where it may as well add one after the other."""
    target = statement.access(item.target)
    old = Load(item.target, item.dtype)
    value = assigned_value(item, old if item.read is None else Load(item.read, item.dtype))
    named = one_name_per_element(value, statement, target)
    if item.dtype.is_float:
        return _left_to_right(named, old)
    if not item.dtype.is_integer or item.dtype.bits < 32 or not adds_to(named, old):
        return []
    terms = [(op, e) for op, e in summands(named, item.dtype) if below_signs(plain(e)) != old]
    return [below_signs(e) for _, e in terms] if all(op == "+" for op, _ in terms) else []


def _in_any_order(statement: Statement, item: Assign) -> tuple[list[Expr], str]:
    """What a statement adds to its float element, in any order, or subtracts from it; nothing where it does both."""
    target, old = statement.access(item.target), Load(item.target, item.dtype)
    value = assigned_value(item, old if item.read is None else Load(item.read, item.dtype))
    named = one_name_per_element(value, statement, target)
    if not adds_to(named, old):
        return [], "+"
    terms = [(op, e) for op, e in summands(named, item.dtype) if e != old]
    signs = {op for op, _ in terms}
    return ([e for _, e in terms], signs.pop()) if len(signs) == 1 else ([], "+")


def _left_to_right(value: Expr, old: Load) -> list[Expr]:
    """`((old + a) + b) + c` as a, b and c."""
    found: list[Expr] = []
    while isinstance(value, Binary) and value.op == "+" and value.dtype == old.dtype:
        found.insert(0, value.right)
        value = value.left
    alone = not any(isinstance(e, Load) and e.reference == old.reference for a in found for e in walk(a))
    return found if value == old and alone and all(e.dtype == old.dtype for e in found) else []
