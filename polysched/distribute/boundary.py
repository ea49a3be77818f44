"""What a rank runs before it sends: the instances of a step whose values others read, and what those need.

The others, the interior, run while messages are on their way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.dependence.legality import check_legal
from polysched.distribute.messages import Message, apart, passed
from polysched.distribute.shares import Shares
from polysched.distribute.time_tiles import places
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scop.scop import Scop, union_set


def boundary_of(dependences: Dependences, shares: Shares, messages: tuple[Message, ...]) -> dict[str, isl.Set]:
    """Per statement the instances that a rank runs first in a step.

    Around each instance whose value is sent, all of its coordinate and step belong to the boundary, and in a time tile
    those of earlier steps from which values reach it.

    Raises
    ------
    UsageError : nothing is sent between steps.
    IllegalScheduleError : an instance of the boundary depends on one that is not.
    """
    if not messages or not shares.steps:
        raise UsageError("no messages are sent between steps, so none can overlap", where=dependences.scop.name,
                         hint="leave the overlap out")
    sent = _places_of_sent(dependences, shares, messages)
    before = sent.apply(_needed(shares))
    exact = _instances(dependences, shares, before)
    simple = _instances(dependences, shares, _for_any_sizes(before))
    if _refusal(dependences, shares, simple) is None:
        return simple
    if (refused := _refusal(dependences, shares, exact)) is not None:
        raise IllegalScheduleError(
            refused.problem, where=refused.where, witness=refused.witness,
            hint="leave the overlap out: what runs first overwrites what the rest of a rank's step reads") from refused
    return exact


def _instances(dependences: Dependences, shares: Shares, there: isl.Set) -> dict[str, isl.Set]:
    """Per statement the instances at places that a rank runs in a step."""
    scop = dependences.scop
    return {s.name: shares.executed_in_step(s, shares.partition.own_names).intersect(
        _place(shares, s.name).intersect_range(there).domain()).intersect_params(scop.context).coalesce()
        for s in scop.statements}


def _for_any_sizes(there: isl.Set) -> isl.Set:
    """The same places whatever the sizes, ranks and steps are: a few more, with fewer conditions."""
    found = isl.Set.empty(there.get_space())
    for basic in there.get_basic_sets():
        found = found.union(isl.Set.from_basic_set(basic.drop_constraints_not_involving_dims(
            isl.dim_type.set, 0, basic.dim(isl.dim_type.set))))
    return found.coalesce()


def _place(shares: Shares, name: str) -> isl.Map:
    found = places(shares.owners[name], shares.steps[0][name])
    for step in shares.steps[1:]:
        found = found.flat_range_product(isl.Map.from_aff(step[name]))
    return found


def _places_of_sent(dependences: Dependences, shares: Shares, messages: tuple[Message, ...]) -> isl.Set:
    """`{ [a, s] }`: where values are computed that any other rank reads."""
    total: isl.Set | None = None
    for message in messages:
        for pair in message.dependences:
            sources = passed(dependences.scop, pair, shares).intersect_params(apart(shares.partition))
            for name in shares.partition.other_names:
                at = sources.find_dim_by_name(isl.dim_type.param, name)
                if at >= 0:
                    sources = sources.project_out(isl.dim_type.param, at, 1)
            there = sources.apply(_place(shares, pair.source))
            total = there if total is None else total.union(there)
    assert total is not None
    return total.coalesce()


def _needed(shares: Shares) -> isl.Map:
    """`{ [a, s] -> [b, t] }`: from which places values reach a place without an exchange."""
    names = [f"s{at}" for at in range(len(shares.steps))]
    if shares.tile.steps == 1:
        return isl.Map.identity(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, 1 + len(names), 1 + len(names)))
    below, above = shares.tile.below, shares.tile.above
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, (
        f"{{ [a, s] -> [b, t] : t <= s and a - {below} * (s - t) <= b <= a + {above} * (s - t) }}"))


def _refusal(dependences: Dependences, shares: Shares,
             boundary: Mapping[str, isl.Set]) -> IllegalScheduleError | None:
    """What the usual judge says of one rank in one step, the boundary first."""
    scop = dependences.scop
    own = {s.name: shares.executed_in_step(s, shares.partition.own_names).intersect_params(scop.context)
           for s in scop.statements}
    statements = tuple(replace(s, domain=own[s.name]) for s in scop.statements)
    pairs = []
    for pair in dependences.pairs:
        relation = pair.relation.intersect_domain(own[pair.source]).intersect_range(own[pair.sink])
        if pair.kind is not DependenceKind.INPUT and not relation.is_empty():
            pairs.append(replace(pair, relation=relation))
    inside = union_set(boundary.values())
    whole = union_set(own.values())
    filters = isl.UnionSetList.from_union_set(inside).add(whole.subtract(inside))
    tree = scop.schedule.intersect_domain(whole).get_root().child(0).insert_sequence(filters).get_schedule()
    part: Scop = replace(scop, statements=statements, schedule=scop.schedule.intersect_domain(whole))
    try:
        check_legal(replace(dependences, scop=part, pairs=tuple(pairs)), tree, what="boundary before the interior")
    except IllegalScheduleError as error:
        return error
    return None
