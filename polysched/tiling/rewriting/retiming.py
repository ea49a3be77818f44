"""Retiming: loops that wait for each of their own results, beside what the iteration before computes last.

Rewrite:  for k { s = 0; for i: s += r[k - i] * y[i];  a = g(s);  for i: y[i] = ...; }
      ->  for k { a = g(s);  s = 0; for i { y[i] = ...; s += r[k + 1 - i] * y[i]; } }    (and the first sum before)

An operation on floats takes several cycles, and a loop whose iterations use the result of the one before waits for
every one of them: a sum whose order is fixed, a product, Horner's rule, a filter.  Where the loops outside are
sequential, too, nothing of another iteration can be computed meanwhile, until the start of an iteration, up to that
loop, moves behind the end of the iteration before: there a loop with independent iterations over the same range fills
the time for nothing.  What has no more operations than a core issues during one of them may do so.  The exact legality
of the retimed tree decides.

Source: retiming is that of C. Leiserson and J. Saxe, "Retiming Synchronous Circuitry", Algorithmica 6, 1991; the
schedule is a shift of statements by one iteration of the outer loop, as in Darte and Huard, "Loop Shifting for Loop
Compaction", LCPC 1999.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from graphlib import CycleError, TopologicalSorter

import islpy as isl

from polysched.dependence.reductions import find_reductions
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import (
    Band,
    Node,
    Sequence,
    children,
    from_isl,
    multi_union_pw_aff,
    to_isl,
    with_children,
)
from polysched.scop.body import Assign
from polysched.scop.scop import Scop, union_map
from polysched.target.target import CorePorts
from polysched.tiling.limits import LIMITS
from polysched.tiling.tree.distribute import statement_names
from polysched.tiling.tree.light_iterations import work_of
from polysched.tiling.tree.loops import has_loops
from polysched.tiling.tree.position import Position, branch, inside, is_independent, is_legal, top

LOOP_INSTRUCTIONS = LIMITS.loop_instructions

Branch = tuple[isl.UnionSet, Node]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Program:
    """What is asked about every band.

    Parameters
    ----------
    ports : of the core that it runs on.
    any_order : the statements whose instances give the same bits in any order, as those of a maximum: lanes do not
        wait.
    """

    scop: Scop
    ports: CorePorts
    any_order: frozenset[str]


def retime(schedule: Schedule, ports: CorePorts) -> Schedule:
    """The schedule with loops that wait beside those of the iteration before; the same one where there are none."""
    tree = from_isl(schedule.tree)
    program = _Program(scop=schedule.scop, ports=ports, any_order=frozenset(
        found.statement for found in find_reductions(schedule.scop) if found.exact))
    root = _rewritten(tree.root, top(schedule.dependences, tree.domain), program)
    return schedule if root is tree.root else replace(schedule, tree=to_isl(replace(tree, root=root)))


def _rewritten(node: Node, position: Position, program: _Program) -> Node:
    match node:
        case Band() if node.mark is None:
            *outer, member = node.members
            for function in outer:
                position = inside(position, function)
            retimed = _retimed(node, position, program)
            if retimed is not None:
                return retimed
            below: tuple[Position, ...] = (inside(position, member),)
        case Sequence():
            below = tuple(branch(position, keep) for keep, _ in node.branches)
        case _:
            return node
    made = tuple(_rewritten(child, place, program) for child, place in zip(children(node), below, strict=True))
    return node if all(new is old for new, old in zip(made, children(node), strict=True)) else with_children(node, made)


def _retimed(band: Band, position: Position, program: _Program) -> Band | None:
    """The band with the start of its iterations, up to what waits, at the end of the one before; None if none gains.

    Parameters
    ----------
    position : the place of the band's last loop.
    """
    member, node = band.members[-1], band.child
    if not isinstance(node, Sequence) or not node.ordered or is_independent(position, member):
        return None
    at = next((n for n, (_, child) in enumerate(node.branches) if has_loops(child)), None)
    if at is None or not _waits_in_order(node.branches[at], inside(position, member), program):
        return None
    own, rest, start = node.branches[at], node.branches[at + 1:], node.branches[:at]
    shifted = _earlier(member, statement_names(branch(position, _all((*start, own))).domain))
    below = inside(position, shifted)
    for partner in reversed(rest):
        if not _fills_time_of(own, partner, below, program):
            continue
        others = tuple(other for other in rest if other is not partner)
        ordered = _in_order((*others, *start, *_side_by_side(partner, own, below)), below)
        made = Band(members=(shifted,), coincident=(False,), permutable=True, child=ordered) if ordered else None
        if made is not None and is_legal(position, made):
            return replace(band, members=(*band.members[:-1], shifted), child=made.child, permutable=False,
                           coincident=(*band.coincident[:-1], False))
    return None


def _waits_in_order(own: Branch, position: Position, program: _Program) -> bool:
    """Whether a branch is one loop over a statement that computes a float from the one before, in this order only."""
    here = replace(branch(position, own[0]), unordered=union_map(()))
    names = statement_names(here.domain)
    loop = _plain_loop(own[1])
    if loop is None or len(names) != 1 or names[0] in program.any_order:
        return False
    match program.scop.statement(names[0]).body:
        case (Assign(dtype=dtype),):
            return dtype.is_float and not is_independent(here, loop.members[0])
    return False


def _fills_time_of(own: Branch, partner: Branch, position: Position, program: _Program) -> bool:
    """Whether a branch is a loop of independent iterations that a core issues, with those that wait, in their time."""
    loop = _plain_loop(partner[1])
    if loop is None or not is_independent(branch(position, partner[0]), loop.members[0]):
        return False
    names = statement_names(branch(position, _all((own, partner))).domain)
    work = sum(work_of(program.scop, program.scop.statement(name)) for name in names)
    return work + LOOP_INSTRUCTIONS <= program.ports.issue_per_cycle * program.ports.fma_latency_cycles


def _plain_loop(node: Node) -> Band | None:
    """The node where it is one loop that has no further loop inside."""
    plain = isinstance(node, Band) and len(node.members) == 1 and node.mark is None and not has_loops(node.child)
    return node if isinstance(node, Band) and plain else None


def _earlier(member: isl.UnionPwAff, names: list[str]) -> isl.UnionPwAff:
    """The loop with the iterations of some statements one earlier."""
    functions = member.get_pw_aff_list()
    total = isl.UnionPwAff.empty(member.get_space())
    for index in range(functions.n_pw_aff()):
        function = functions.get_at(index)
        space = function.get_domain_space()
        if space.get_tuple_name(isl.dim_type.set) in names:
            one = isl.Aff.val_on_domain_space(space, isl.Val.one(isl.DEFAULT_CONTEXT))
            function = function.sub(isl.PwAff.from_aff(one))
        total = total.union_add(isl.UnionPwAff.from_pw_aff(function))
    return total


def _side_by_side(partner: Branch, own: Branch, position: Position) -> tuple[Branch, ...]:
    """One loop of what two plain loops do in the same iterations, which stays as it is, and loops for what is left."""
    loops = [_plain_loop(node) for _, node in (partner, own)]
    first, second = (loop for loop in loops if loop is not None)
    member = first.members[0].union_add(second.members[0])
    coordinates = isl.UnionMap.from_multi_union_pw_aff(multi_union_pw_aff((*position.path, member)))
    places = [coordinates.intersect_domain(position.domain.intersect(keep)) for keep, _ in (partner, own)]
    both = places[0].range().intersect(places[1].range())
    shared = [place.intersect_range(both).domain() for place in places]
    rest = [(keep.subtract(taken).intersect(position.domain), node)
            for taken, (keep, node) in zip(shared, (partner, own), strict=True)]
    bodies = tuple(zip(shared, (first.child, second.child), strict=True))
    loop = Band(members=(member,), coincident=(False,), permutable=True, child=Sequence(branches=bodies),
                mark=LoopMark())
    return ((_all(bodies), loop), *(part for part in rest if not part[0].is_empty()))


def _in_order(branches: tuple[Branch, ...], position: Position) -> Node | None:
    """The branches in an order that the dependences within one iteration allow; None where there is none."""
    before = {at: {other for other, (source, _) in enumerate(branches) if other != at and not (
        position.dependences.intersect_domain(source).intersect_range(keep).is_empty())}
        for at, (keep, _) in enumerate(branches)}
    try:
        return Sequence(branches=tuple(branches[at] for at in TopologicalSorter(before).static_order()))
    except CycleError:
        return None


def _all(branches: tuple[Branch, ...]) -> isl.UnionSet:
    return reduce(isl.UnionSet.union, (keep for keep, _ in branches))
