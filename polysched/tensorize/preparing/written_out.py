"""Sums that are written out in full, so that no loop of theirs is left, in a loop of their own.

Rewrite:  t += a[i][0] * b[0]; t += a[i][1] * b[1]; t += a[i][2] * b[2];   ->   for k < 3: t += a[i][k] * b[k]
          t += a[i][0] * b[0] + a[i][1] * b[1]   (integers)               ->   for k < 2: t += a[i][k] * b[k]

The statements add to one element in one body; each operand's subscripts go on by equal numbers from one statement to
the next.  That no value changes is checked.  Instructions whose text is one such statement would no longer be found, so
this is no step of the canonical form: it is tried where a program as it stands has no match.
Source: the inverse of loop unrolling (Allen, Kennedy, "Optimizing Compilers for Modern Architectures", 2001, 8.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import (
    Band,
    Leaf,
    LoopTree,
    Node,
    children,
    from_isl,
    to_isl,
    with_children,
)
from polysched.scheduling.tree.loop_tree import Sequence as InSequence
from polysched.scop.body import Binary, Expr, IteratorRef, Literal
from polysched.scop.dtypes import INT32
from polysched.scop.scop import Access, Scop, Statement, union_map, union_set
from polysched.tensorize.preparing.rerolling import (
    affine_function,
    common_body,
    is_spelt,
    pattern,
    side_by_side,
    taken_apart,
)
from polysched.tensorize.preparing.restating import Restated, checked, identity, pulled_back
from polysched.tensorize.software.renaming import fresh_name, named_map, named_set

_SET, _IN, _OUT = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


def in_loops_of_their_own(dependences: Dependences) -> Dependences:
    """The program with every sum that is written out in a loop; the same object where none is."""
    while (after := _one_more(dependences)) is not None:
        dependences = after
    return dependences


def _one_more(dependences: Dependences) -> Dependences | None:
    apart = _all_apart(dependences.scop)
    for scop in dict.fromkeys((apart, dependences.scop)):
        made = [found for group in side_by_side(scop) if (found := _in_a_loop(scop, group)) is not None]
        if made:
            before = dependences if scop is dependences.scop else analyse(
                scop, value_based=dependences.value_based, inputs=dependences.inputs)
            for found in made:
                if (after := checked(before, found)) is not None:
                    return after
    return None


def _all_apart(scop: Scop) -> Scop:
    """The program with a statement per product that its sums add, all of one body side by side."""
    made = scop
    for statement in scop.statements:
        found = taken_apart(made, statement, reorder=False)
        made = made if found is None else found[0]
    if made is scop:
        return scop
    tree = from_isl(made.schedule)
    return replace(made, schedule=to_isl(replace(tree, root=_in_one_sequence(tree.root))))


def _in_one_sequence(node: Node) -> Node:
    """The tree with sequences inside of sequences as one."""
    below = children(node)
    if below:
        node = with_children(node, tuple(map(_in_one_sequence, below)))
    if not isinstance(node, InSequence) or not node.ordered:
        return node
    branches: list[tuple[isl.UnionSet, Node]] = []
    for keep, child in node.branches:
        inside = child.branches if isinstance(child, InSequence) and child.ordered else ((None, child),)
        branches += [(keep if own is None else keep.intersect(own), last) for own, last in inside]
    return replace(node, branches=tuple(branches))


@dataclass(frozen=True, eq=False)
class _Steps:
    """Per access of the first statement its function, and how far each subscript goes on from copy to copy."""

    functions: tuple[isl.MultiAff, ...]
    by: tuple[tuple[int, ...], ...]

    def taken(self, first: Statement, domain: isl.Set, iterators: Sequence[str]) -> tuple[Access, ...]:
        """The accesses of the first statement, which go on with the last of its iterators, a new one."""
        return tuple(_further(access, function, by, domain, iterators) for access, function, by in zip(
            first.accesses, self.functions, self.by, strict=True))


def _in_a_loop(scop: Scop, group: tuple[Statement, ...]) -> Restated | None:
    """The program with the first statement in a new innermost loop in the place of the group; None where it is none."""
    first, count = group[0], len(group)
    steps = _steps(group) if all(_is_alike(first, s) for s in group) else None
    if steps is None:
        return None
    name = fresh_name("k", {*first.iterators, *(p.name for p in scop.parameters), *(a.name for a in scop.arrays)})
    iterators = (*first.iterators, name)
    domain = named_set(first.domain.add_dims(_SET, 1).set_tuple_name(first.name), iterators).intersect(
        isl.Set.read_from_str(isl.DEFAULT_CONTEXT,
                              f"{{ {first.name}[{', '.join(iterators)}] : 0 <= {name} < {count} }}"))
    accesses = steps.taken(first, domain, iterators)
    if not all(map(is_spelt, accesses)):
        return None
    whole = replace(common_body(group), domain=domain, accesses=accesses)
    names = frozenset(s.name for s in group)
    statements = tuple(whole if s is first else s for s in scop.statements if s is first or s.name not in names)
    others = identity(scop, but=names)
    copies = [_copy(whole, name, at, s) for at, s in enumerate(group)]
    references = {a.reference: tuple(s.accesses[at].reference for s in group) for at, a in enumerate(first.accesses)}
    return Restated(scop=replace(scop, statements=statements, schedule=_schedule(scop, whole, others, statements)),
                    back=others.union(union_map(copies)), references=references)


def _is_alike(first: Statement, other: Statement) -> bool:
    return pattern(other) == pattern(first) and bool(
        other.domain.set_tuple_name(first.name).is_equal(first.domain))


def _copy(whole: Statement, name: str, at: int, copy: Statement) -> isl.Map:
    """One iteration of the new loop to the copy that it stands for."""
    own, old = ", ".join(whole.iterators), ", ".join(whole.iterators[:-1])
    text = f"{{ {whole.name}[{own}] -> {copy.name}[{old}] : {name} = {at} }}"
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text).intersect_range(copy.domain).intersect_domain(whole.domain)


def _steps(group: Sequence[Statement]) -> _Steps | None:
    """None where copies are not equally far apart, or do not add to one element."""
    first, functions, by = group[0], [], []
    for at, access in enumerate(first.accesses):
        found = [affine_function(s.accesses[at].relation.set_tuple_name(_IN, first.name))
                 if s.accesses[at].exact else None for s in group]
        known = [f for f in found if f is not None]
        steps = _distances(known) if len(known) == len(group) else None
        if steps is None or (access.is_write and any(steps)):
            return None
        functions.append(known[0])
        by.append(steps)
    return _Steps(tuple(functions), tuple(by)) if any(map(any, by)) else None


def _distances(functions: Sequence[isl.MultiAff]) -> tuple[int, ...] | None:
    """Per subscript the number by which each function is ahead of the one before it."""
    steps = []
    for at in range(functions[0].dim(_OUT)):
        apart = [other.get_aff(at).sub(functions[0].get_aff(at)) for other in functions]
        if not all(a.is_cst() for a in apart):
            return None
        values = [int(a.get_constant_val().get_num_si()) for a in apart]
        if values != [number * values[1] for number in range(len(values))]:
            return None
        steps.append(values[1])
    return tuple(steps)


def _further(access: Access, function: isl.MultiAff, by: Sequence[int], domain: isl.Set,
             iterators: Sequence[str]) -> Access:
    """An access that goes on with a new iterator, the last one."""
    depth, name = len(iterators) - 1, iterators[-1]
    relation = isl.Map.from_multi_aff(function).insert_dims(_IN, depth, 1)
    steps = ", ".join(f"e{at} + {step} * {name}" for at, step in enumerate(by))
    before = ", ".join([f"i{at}" for at in range(depth)] + [name])
    elements = ", ".join(f"e{at}" for at in range(len(by)))
    array = access.relation.get_tuple_name(_OUT)
    moved = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [[{before}] -> [{elements}]] -> {array}[{steps}] }}")
    plain = relation.reset_tuple_id(_IN).reset_tuple_id(_OUT)
    both = isl.Map.identity(plain.domain().get_space().map_from_set()).range_product(plain)
    relation = both.apply_range(moved).set_tuple_name(_IN, domain.get_tuple_name()).intersect_domain(domain)
    subscripts = tuple(_moved(e, step, name) for e, step in zip(access.subscripts, by, strict=True)) \
        if len(access.subscripts) == len(by) else access.subscripts
    return replace(access, relation=named_map(relation, iterators), subscripts=subscripts)


def _moved(subscript: Expr, step: int, name: str) -> Expr:
    if not step:
        return subscript
    along: Expr = IteratorRef(name, INT32)
    if step != 1:
        along = Binary("*", Literal(str(step), step, INT32), along, INT32)
    return Binary("+", subscript, along, subscript.dtype)


def _schedule(scop: Scop, whole: Statement, others: isl.UnionMap, statements: Sequence[Statement]) -> isl.Schedule:
    """The order of the program without the other copies, the first one's new iterator innermost."""
    left = union_set(s.domain for s in scop.statements if s.name in {x.name for x in statements})
    shorter = isl.Map.identity(whole.domain.get_space().map_from_set()).intersect_domain(whole.domain).project_out(
        _OUT, whole.depth - 1, 1).set_tuple_name(_OUT, whole.name)
    domain = union_set(s.domain for s in statements)
    tree = from_isl(pulled_back(scop.schedule.intersect_domain(left), others.union(union_map([shorter])), domain))
    count = isl.UnionPwAff.from_pw_aff(isl.PwAff.var_on_domain(
        isl.LocalSpace.from_space(whole.domain.get_space()), _SET, whole.depth - 1))
    return to_isl(LoopTree(domain=tree.domain, root=_with_loop(tree.root, whole, count, tree.domain)))


def _with_loop(node: Node, whole: Statement, count: isl.UnionPwAff, active: isl.UnionSet) -> Node:
    """The tree with a loop around the statement at its leaf."""
    mine = isl.UnionSet.from_set(whole.domain)
    if active.intersect(mine).is_empty():
        return node
    match node:
        case Leaf():
            return Band(members=(count,), coincident=(False,), permutable=False, child=node)
        case InSequence():
            return replace(node, branches=tuple((keep, _with_loop(child, whole, count, active.intersect(keep)))
                                                for keep, child in node.branches
                                                if not keep.intersect(active).is_empty()))
    return with_children(node, tuple(_with_loop(child, whole, count, active) for child in children(node)))

