"""C that says where operands lie for one point of the unrolled loops, and what the nest has to be told for that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission.nest import NestLoop, size_arguments
from polysched.tensorize.emission.place import Place
from polysched.tensorize.emission.plan import Plan
from polysched.tensorize.software.sizes import is_general, may_exceed

SCALES = (1, 2, 4, 8)   # of an index in an address of x86; machines without them shift once, outside of the loops


def operand_type(plan: Plan, operand: str) -> str:
    """C type of an operand's elements."""
    return C_NAMES[plan.match.intrinsic.parsed.operand(operand).dtype.name]


def further_arguments(plan: Plan) -> list[str]:
    """What functions get behind the addresses of the operands: steps, and the sizes known at run time."""
    return [*step_arguments(plan), *size_arguments(plan.match)]


def step_arguments(plan: Plan) -> list[str]:
    """The distances that depend on where a call finds an operand, and whether that is the program's array."""
    found = []
    for place in plan.places:
        found += [step_argument(place.operand, name) for name in place.steps]
        if place.in_place is not None and place.in_place.shifted:
            found.append(in_place_argument(place.operand))
    return found


def step_argument(operand: str, loop: str) -> str:
    """The argument that tells elements per iteration of a loop."""
    return f"ps_step_{operand}_{loop}"


def in_place_argument(operand: str) -> str:
    """The argument that tells whether an operand is read from the program's array."""
    return f"ps_in_place_{operand}"


def pointer(plan: Plan, place: Place, at: Mapping[str, int]) -> str:
    """`B + t_k * 64 + 1024`: where an operand lies for one point of the unrolled loops."""
    terms = [place.operand]
    constant, moved = place.base, moves(plan)
    for loop in plan.loops:
        if plan.uses(place.operand, loop):
            if may_exceed(loop.blocks, 1):
                terms.append(f"{loop.name} * {place.block_strides[loop.name]}")
            stride = place.unrolled_strides.get(loop.name, 0)
            constant += at.get(loop.name, 0) * stride
            if loop.name in moved:
                terms.append(f"({moved[loop.name]} * -{stride})")
    return " + ".join([*terms, *([str(constant)] if is_general(constant) or constant else [])])


def moves(plan: Plan) -> dict[str, str]:
    """The loops whose last block may start earlier, and the variable that says by how many iterations."""
    return {name: f"ps_moved_{name}" for place in plan.places if place.in_place is not None
            for name in place.in_place.shifted}


def first_iteration(plan: Plan, loop: NestLoop) -> str:
    """The iteration of a loop with which a block begins."""
    moved = moves(plan).get(loop.name)
    return f"{_start(loop)} - {moved}" if moved else _start(loop)


def _start(loop: NestLoop) -> str:
    if not may_exceed(loop.blocks, 1):
        return str(loop.first)
    return loop.name if loop.unroll == 1 else f"{loop.name} * {loop.unroll}"


def moved_blocks(plan: Plan) -> Iterator[str]:
    """Declarations of these variables: a last block ends with its loop, where arrays are read as they lie."""
    for place in plan.places:
        for loop in plan.loops:
            if place.in_place is not None and loop.name in place.in_place.shifted:
                end = f"{_start(loop)} + {loop.unroll}"
                asked = f"{in_place_argument(place.operand)} && {end} > {loop.count}"
                yield f"const long {moves(plan)[loop.name]} = {asked} ? {end} - {loop.count} : 0;"


def row_multiples(plan: Plan) -> Iterator[str]:
    """Declarations of the multiples of a distance that addresses do not form."""
    for place, loop in _rows(plan):
        for multiple in multiples(loop.unroll, _width(plan, place))[1:]:
            yield f"long {_multiple(place, loop, multiple)} = {step_argument(place.operand, loop.name)} * {multiple};"


def unknown_steps(plan: Plan) -> Iterator[str]:
    """What hides from the compiler that they stay the same: else it holds the distance of every row in a register."""
    for place, loop in _rows(plan):
        names = [_multiple(place, loop, m) for m in multiples(loop.unroll, _width(plan, place))]
        held = ", ".join(f'"+r"({name})' for name in names)
        yield f'__asm__("" : {held});'


def multiples(count: int, element_bytes: int) -> list[int]:
    """The factors of a distance from which addresses reach all rows below a number: each by one scale or as it is."""
    found = [1]
    for row in range(2, count):
        if not any(_scaled(row, found, element_bytes)):
            found.append(row)
    return found


def _scaled(row: int, among: list[int], element_bytes: int) -> Iterator[tuple[int, int]]:
    """The factors that reach a row, each with the scale with which it does."""
    return ((m, row // m) for m in among if row == m or (row % m == 0 and row // m * element_bytes in SCALES))


def _rows(plan: Plan) -> Iterator[tuple[Place, NestLoop]]:
    """Operands with distances known at run time, and the unrolled loops that move them."""
    for place in plan.places:
        for loop in plan.unrolled if place.steps else ():
            if plan.uses(place.operand, loop):
                yield place, loop


def _width(plan: Plan, place: Place) -> int:
    return plan.match.intrinsic.parsed.operand(place.operand).dtype.bytes


def _multiple(place: Place, loop: NestLoop, factor: int) -> str:
    name = step_argument(place.operand, loop.name)
    return name if factor == 1 else f"{name}_{factor}"


def row_pointers(plan: Plan) -> Iterator[str]:
    """Declarations of the first row's address of each operand whose distances are known at run time."""
    moved = moves(plan)
    for place in plan.places:
        terms = [place.operand]
        for loop in plan.loops if place.steps else ():
            if plan.uses(place.operand, loop) and may_exceed(loop.blocks, 1):
                first = f"({first_iteration(plan, loop)})" if loop.unroll > 1 or loop.name in moved else loop.name
                terms.append(f"{first} * {step_argument(place.operand, loop.name)}")
        if place.steps:
            yield f"const {operand_type(plan, place.operand)} *{_row(place)} = {' + '.join(terms)};"


def _row(place: Place) -> str:
    return f"ps_row_{place.operand}"


def row_pointer(plan: Plan, place: Place, at: Mapping[str, int]) -> str:
    """Where an operand lies for one point of the unrolled loops, from its first row where distances are arguments."""
    if not place.steps:
        return pointer(plan, place, at)
    terms, width = [_row(place)], _width(plan, place)
    for rows, loop in _rows(plan):
        if rows is place and (row := at.get(loop.name, 0)):
            factor, scale = next(_scaled(row, multiples(loop.unroll, width), width))
            name = _multiple(place, loop, factor)
            terms.append(name if scale == 1 else f"{name} * {scale}")
    return " + ".join(terms)
