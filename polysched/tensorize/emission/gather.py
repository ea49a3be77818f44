"""Fast copies between an array and an operand buffer: one table of memory offsets per group of dimensions.

Where subscripts are affine and the domain is a box, the address is a sum with one part per group and one per outer
loop, so the digits of a fused index are taken apart once per table entry and not once per element.
"""

from __future__ import annotations

from collections.abc import Iterator

from polysched.scop.body import Load
from polysched.tensorize.description.semantics import Affine, Element
from polysched.tensorize.emission.nest import NestLoop, first_element, moving_terms, uses
from polysched.tensorize.emission.place import Place
from polysched.tensorize.emission.plan import Plan
from polysched.tensorize.emission.team import NEVER, SHARED, worth_from
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.proofs.contents import places_of
from polysched.tensorize.proofs.correspondence import is_shared
from polysched.tensorize.software.sizes import is_general

OUTSIDE = "-(1L << 60)"


def separable(match: Match, operand: str, held: Load) -> bool:
    """Whether the address of an element is a sum over loops of known sizes, and every place holds an element."""
    added = held == match.result and match.adds_at_the_end
    known = not is_general(*match.fragment.sizes.values())
    return known and not added and match.holds_box(operand) and match.fragment.memory_steps[held.reference] is not None


def parallel_elements(match: Match) -> int:
    """Elements whose addresses come out of tables from which on threads share the copy."""
    return match.target.team_iterations(match.costs.table_element_cycles)


def worth_gathering(plan: Plan, operand: str) -> str:
    """The condition under which a copy by loops over the buffer pays for a team; none may where elements meet."""
    match = plan.match
    added = operand in match.written and match.adds_at_the_end
    if added or is_shared(match.intrinsic, operand) or not any(uses(match, operand, loop) for loop in plan.loops):
        return NEVER
    return worth_from(plan.place(operand).elements, parallel_elements(match))


def shared_loop(plan: Plan, operand: str) -> list[str]:
    """The pragma that shares a loop over the buffer among threads; none where these are not worth it."""
    return [SHARED] if plan.parallel and worth_gathering(plan, operand) != NEVER else []


def gather(plan: Plan, operand: str, held: Load, *, copy: str) -> Iterator[str]:
    """Loops over the buffer; `copy` sees `ps_at`, `ps_from_at` and `ps_inside`."""
    match, place = plan.match, plan.place(operand)
    element, = places_of(match.intrinsic.contraction, operand)
    steps = match.fragment.memory_steps[held.reference] or {}
    mine = [loop for loop in plan.loops if uses(match, operand, loop)]
    groups = [g for g, part in enumerate(match.groups) if operand in part.indexes]
    for g in groups:
        yield from _table(match, g, _tile(mine, g), steps)
    yield from (f"{pragma} nowait" for pragma in shared_loop(plan, operand))
    depth, terms = 0, [str(first_element(match, held)), *moving_terms(match, held)]

    def line(text: str) -> str:
        return "    " * depth + text

    for loop in mine:
        yield line(f"for (long {loop.name} = 0; {loop.name} < {loop.blocks * loop.unroll}; {loop.name}++) {{")
        depth += 1
        if loop.group < 0:
            terms.append(f"ps_{loop.name}")
            inside = f"{loop.name} < {loop.count} ? {loop.name} * {steps.get(loop.source, 0)}L : {OUTSIDE}"
            yield line(f"long ps_{loop.name} = {inside};")
    for g in groups:
        tile = _tile(mine, g)
        at = f"c{g}" if tile is None else f"{tile.name} * {match.extent(g)} + c{g}"
        yield line(f"for (long c{g} = 0; c{g} < {match.extent(g)}; c{g}++) {{")
        depth += 1
        yield line(f"long ps_g{g} = ps_table{g}[{at}];")
        terms.append(f"ps_g{g}")
    for text in (*digits(match, groups), f"long ps_at = {operand_offset(match, element, mine, place)};",
                 f"long ps_from_at = {' + '.join(terms)};", f"int ps_inside = ps_from_at > {OUTSIDE} / 2;", copy):
        yield line(text)
    while depth:
        depth -= 1
        yield line("}")
    yield from (f"free(ps_table{g});" for g in groups)


def _tile(mine: list[NestLoop], group: int) -> NestLoop | None:
    return next((loop for loop in mine if loop.group == group), None)


def _table(match: Match, group: int, tile: NestLoop | None, steps: dict[str, int]) -> Iterator[str]:
    """Offsets of all fused indices of a group, padding included."""
    size = (tile.blocks * tile.unroll if tile else 1) * match.extent(group)
    yield f"long *ps_table{group} = malloc({size} * sizeof(long));"
    yield f"for (long f = 0; f < {size}; f++) {{"
    rest, terms = "f", []
    for position, name in reversed(list(enumerate(match.loops[group]))):
        extent = match.fragment.loop(name).extent
        digit = rest if position == 0 else f"{rest} % {extent}"
        terms.append(f"{digit} * {steps.get(name, 0)}L")
        rest = f"({rest} / {extent})"
    inside = " + ".join(terms) or "0"
    yield f"    ps_table{group}[f] = f < {match.fused_extent(group)} ? {inside} : {OUTSIDE};"
    yield "}"


def digits(match: Match, groups: list[int]) -> Iterator[str]:
    """The instruction's dimensions as digits of each group's coordinate."""
    extents = {d.name: d.extent for d in match.intrinsic.contraction.dimensions}
    for g in groups:
        rest = f"c{g}"
        for name in reversed(match.groups[g].dimensions):
            extent = extents[name]
            first = name == match.groups[g].dimensions[0]
            yield f"long d_{name} = {rest};" if first else f"long d_{name} = {rest} % {extent};"
            rest = f"{rest} / {extent}"


def operand_offset(match: Match, element: Element, mine: list[NestLoop], place: Place) -> str:
    """Position of an element in its operand's buffer, over loop variables and instruction dimensions."""
    terms = []
    for loop in mine:
        if loop.unroll > 1:
            terms.append(f"{loop.name} / {loop.unroll} * {place.block_strides[loop.name]}")
            terms.append(f"{loop.name} % {loop.unroll} * {place.unrolled_strides[loop.name]}")
        else:
            terms.append(f"{loop.name} * {place.block_strides[loop.name]}")
    variable = match.intrinsic.parsed.operand(element.array)
    size = 1
    for subscript, extent in reversed(list(zip(element.subscripts, variable.shape, strict=True))):
        terms.append(f"({_affine_c(subscript)}) * {size}")
        size *= int(extent)
    return " + ".join(terms) or "0"


def _affine_c(affine: Affine) -> str:
    parts = [f"{c} * d_{n}" for n, c in affine.terms]
    return " + ".join([*parts, str(affine.constant)])
