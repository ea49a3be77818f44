"""The same program at sizes at which it can be run: fewer iterations, or some elements of the result only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence.parameter_sizes import sizes_inside
from polysched.emit_c.alternatives.checked_values import LARGEST_WHOLE
from polysched.emit_c.limits import LIMITS
from polysched.scop.points import (
    fix_parameters,
    isl_value,
    nearest_parameters,
    parameters_of,
    value_at,
    with_sizes,
)
from polysched.scop.scop import Scop, Statement, union_set
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.match import MatchOptions, match
from polysched.tensorize.program import TensorizedProgram, part, tensorize
from polysched.tensorize.software.several import at_sizes

MOST_WORK = LIMITS.most_check_work
BLOCKS_KEPT = LIMITS.blocks_kept
OUTER_KEPT = (13, 7, 5, 3)   # iterations of a loop around the instruction, the most that MOST_OF_FEWER allows
MOST_OF_FEWER = LIMITS.most_smaller_work
TRIED_SIZES = ((128, 128, 128), (67, 131, 41), (37, 41, 43), (16, 17, 19))   # of code for all sizes
OF_DEEP_NESTS = ((17, 5, 19), (9, 4, 33), (4, 3, 9), (2, 3, 5))   # where those above are too much work
SAMPLED = LIMITS.sampled_iterations


def sizes_to_try(program: TensorizedProgram, *, most_work: int) -> list[dict[str, int]]:
    """Values of the parameters that code of all sizes is run with: some whole executions, and remainders.

    Sizes of deeper nests are smaller.  Where an extent of an array is a parameter of its own (an image beside the size
    of its windows), it is at least what the statements reach.  Where accesses would leave their arrays all the same,
    the nearest sizes at which they stay inside.
    """
    if program.general is None:
        return []
    found: list[dict[str, int]] = []
    for values in (*TRIED_SIZES, *OF_DEEP_NESTS):
        if values in OF_DEEP_NESTS and len(found) > 1:
            break
        sizes = _sizes_with(program, values)
        if sizes is not None and sizes not in found and _work_at(program, sizes) <= most_work:
            found.append(sizes)
    return found


def _sizes_with(program: TensorizedProgram, values: Sequence[int]) -> dict[str, int] | None:
    """These values for the unknown parameters in turn; None where the program has no such sizes."""
    assert program.general is not None
    scop, unknown = program.match.fragment.scop, program.general.unknown
    sizes = dict(program.match.fragment.sizes) | {n: values[i % len(values)] for i, n in enumerate(unknown)}
    for statement in scop.statements:
        for access in statement.accesses:
            reached = fix_parameters(access.relation.intersect_domain(statement.domain), sizes).range()
            for position, extent in enumerate(() if reached.is_empty() else scop.array(access.array).extents):
                names = [] if extent is None else parameters_of(isl.Set.from_pw_aff(extent))
                if extent is not None and len(names) == 1 and names[0] in unknown:
                    missing = reached.dim_max_val(position).to_python() + 1 - value_at(extent, sizes)
                    sizes[names[0]] += max(0, int(missing))
    return _inside(program, sizes)


def _inside(program: TensorizedProgram, sizes: dict[str, int]) -> dict[str, int] | None:
    """The sizes, or the nearest ones at which accesses stay inside their arrays; None where there are none."""
    assert program.general is not None
    scop, unknown = program.match.fragment.scop, program.general.unknown
    inside = sizes_inside(scop, program.match.fragment.statement.name)
    if inside is not None and with_sizes(inside, sizes).is_empty():
        return nearest_parameters(inside, sizes, [n for n in sizes if n not in unknown], unknown)
    return None if fix_parameters(scop.context, sizes).is_empty() else sizes


def _work_at(program: TensorizedProgram, sizes: Mapping[str, int]) -> float:
    """Iterations of the matched statement; without bound where it is no statement at these sizes."""
    fragment = program.match.fragment
    there = at_sizes(fragment, sizes, tables=bool(program.match.intrinsic.contraction.tables))
    return math.inf if there is None else there.work


def smaller_program(program: TensorizedProgram, numerics: Numerics, *,
                    most_work: int | None = None) -> TensorizedProgram | None:
    """The same match in fewer iterations of the same arrays, which leave remainders; None where there is none.

    Parameters
    ----------
    most_work : keep as many iterations as that, and whole executions; None for a few executions and a remainder.
    """
    found, scop = program.match, program.match.fragment.scop
    extents = _fewer(found) if most_work is None else _as_many(found, most_work)
    alone = part(scop, replaced_statements(program))
    assert alone is not None
    fewer = _restricted(alone, found, _cut(found, extents))
    wanted = MatchOptions(numerics=numerics, partial_sums=found.adds_at_the_end and not found.overlapping)
    again = match(fewer, found.intrinsic, wanted, sizes=found.fragment.sizes, kept=len(found.fragment.kept))
    same = [m for m in again.with_mirrors if m.signature == found.signature and m.fragment.kept == found.fragment.kept]
    if not same:
        return None
    made = tensorize(same[0])
    alike = made.zero == program.zero and (made.scale is None) == (program.scale is None)
    return replace(made, choice=program.choice) if alike else None


def matched_at(program: TensorizedProgram, numerics: Numerics, sizes: Mapping[str, int]) -> TensorizedProgram | None:
    """The same match of the same program at other sizes; None where there is none."""
    found, scop = program.match, program.match.fragment.scop
    if fix_parameters(scop.context, sizes).is_empty():
        return None
    wanted = MatchOptions(numerics=numerics, partial_sums=found.adds_at_the_end and not found.overlapping)
    again = match(scop, found.intrinsic, wanted, sizes=sizes, kept=len(found.fragment.kept))
    same = [m for m in again.with_mirrors if m.signature == found.signature and m.fragment.kept == found.fragment.kept
            and m.fragment.statement.name == found.fragment.statement.name]
    return replace(tensorize(same[0]), choice=program.choice) if same else None


def work_of(program: TensorizedProgram) -> int:
    """Iterations of the replaced statement."""
    return program.match.fragment.work * program.match.fragment.times


def replaced_statements(program: TensorizedProgram) -> list[str]:
    """The statements that the nest or the calls stand for."""
    left = {s.name for p, _ in program.parts for s in p.statements}
    return [s.name for s in program.match.fragment.scop.statements if s.name not in left]


def _fewer(found: Match) -> dict[str, int]:
    """Iterations per loop: some executions of the instruction and a remainder."""
    kept: dict[str, int] = {}
    fragment = found.fragment
    extents = {loop.name: loop.extent for loop in fragment.loops}
    extents |= dict(zip(fragment.kept, fragment.kept_extents, strict=True))
    for group, members in enumerate(found.loops):
        inner = found.groups[group].extent or LARGEST_WHOLE
        for position, name in enumerate(reversed(members)):
            wanted = int(BLOCKS_KEPT * inner) + 1 if position == 0 else OUTER_KEPT[-1]
            kept[name] = wanted if wanted < extents[name] else max(1, extents[name] - 1)
    around = [name for name in extents if name not in kept]
    tried = [kept | {name: min(most, extents[name]) for name in around} for most in OUTER_KEPT]
    return next((t for t in tried if math.prod(t.values()) <= MOST_OF_FEWER), tried[-1])


def _as_many(found: Match, most_work: int) -> dict[str, int]:
    """Iterations per loop: the longest halved, in whole executions, until there is no more work than that."""
    fragment = found.fragment
    kept = {loop.name: loop.extent for loop in fragment.loops}
    kept |= dict(zip(fragment.kept, fragment.kept_extents, strict=True))
    inner = {name: found.groups[g].extent or 1 for g, members in enumerate(found.loops) for name in members[-1:]}
    while math.prod(kept.values()) > most_work:
        longest = max(kept, key=lambda n: kept[n])
        step = inner.get(longest, 1)
        half = -(-kept[longest] // 2)
        kept[longest] = min(kept[longest] - 1, -(-half // step) * step)
    return kept


def _cut(found: Match, extents: Mapping[str, int]) -> isl.Set:
    """The domain with so many iterations of each loop."""
    own = found.fragment.statement
    domain = fix_parameters(own.domain, found.fragment.sizes)
    for position, name in enumerate(own.iterators):
        first = int(domain.dim_min_val(position).get_num_si())
        last = first + extents[name] - 1
        domain = domain.upper_bound_val(isl.dim_type.set, position, isl_value(last))
    return domain


def can_be_sampled(program: TensorizedProgram) -> bool:
    """Whether elements of the result do not depend on each other, and sizes are known."""
    fragment = program.match.fragment
    result = fragment.statement.access(fragment.target)
    others = [a for a in fragment.statement.reads if a.array == result.array]
    return program.general is None and not fragment.others and all(a.relation.is_equal(result.relation) for a in others)


def some_elements(alone: Scop, found: Match) -> Scop:
    """The statements with all iterations that compute some elements: at both ends of the result, and in the middle."""
    fragment, own = found.fragment, found.fragment.statement
    domain = fix_parameters(own.domain, fragment.sizes)
    written = fragment.loops_of(fragment.result) | {*fragment.kept}
    boxes = isl.Set.empty(domain.get_space())
    for share in (0, 1, 2):
        box = domain
        for position, name in enumerate(own.iterators):
            if name not in written:
                continue
            least, most = (int(v.get_num_si()) for v in (domain.dim_min_val(position), domain.dim_max_val(position)))
            first = least + share * max(0, most - least + 1 - SAMPLED) // 2
            box = box.lower_bound_val(isl.dim_type.set, position, isl_value(first))
            box = box.upper_bound_val(isl.dim_type.set, position, isl_value(first + SAMPLED - 1))
        boxes = boxes.union(box)
    relation = fix_parameters(own.access(fragment.target).relation, fragment.sizes).intersect_domain(domain)
    elements = relation.intersect_domain(boxes).range()
    return _restricted(alone, found, relation.intersect_range(elements).domain())


def _restricted(alone: Scop, found: Match, domain: isl.Set) -> Scop:
    """The statements with fewer iterations, those ahead of the matched one only for the elements that it writes."""
    own = found.fragment.statement
    result = own.access(found.fragment.target)
    elements = fix_parameters(result.relation, found.fragment.sizes).intersect_domain(domain).range()

    def fewer(statement: Statement) -> Statement:
        if statement.name == own.name:
            return replace(statement, domain=statement.domain.intersect(_params_like(domain, statement.domain)))
        writes = [a for a in statement.writes if a.array == result.array]
        mine = fix_parameters(writes[0].relation, found.fragment.sizes).intersect_range(elements).domain()
        return replace(statement, domain=statement.domain.intersect(_params_like(mine, statement.domain)))

    statements = tuple(map(fewer, alone.statements))
    return replace(alone, statements=statements,
                   schedule=alone.schedule.intersect_domain(union_set(s.domain for s in statements)))


def _params_like(fixed: isl.Set, like: isl.Set) -> isl.Set:
    return fixed.align_params(like.get_space())
