"""Statements that begin or end each block of results while it is in cache, instead of passes over whole arrays.

    for p, q, k: t = bias[k]                     per block of registers:
    for p, q, k, c: t += X[..] * W[..]     ->        fill a small buffer by the first statement, load registers from it,
    for p, q, k: Y = (t + 128) >> 8                  execute, store them to it, compute the last statement from it

The array of the sums is not touched, and need not exist.  `tensorize.joining` says where that is the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from polysched.records import dataclass
from polysched.scop.body import Assign, Load, walk
from polysched.scop.scop import Statement
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission.addresses import first_iteration, moves, operand_type
from polysched.tensorize.emission.copy_plan import operand_subscripts
from polysched.tensorize.emission.correction import correction_terms, is_constant, sum_names, told_by
from polysched.tensorize.emission.nest import NestLoop, size_arguments, tile_loop
from polysched.tensorize.emission.packing import value_c
from polysched.tensorize.emission.plan import Plan
from polysched.tensorize.emission.result_blocks import (
    ResultBlock,
    block_of_results,
    buffer_distances,
    conditions_inside,
    conditions_of_tile,
    counts_of_tile,
    nested,
    tile_iteration,
    unrolled_loops,
)
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.software.sizes import may_exceed
from polysched.tensorize.software.zero_points import Correction

BLOCK = "ps_block"
START = "ps_start"
LANE = "ps_lane_"


@dataclass(frozen=True, eq=False, kw_only=True)
class JoinedStatement:
    """An assignment for every element of the result.

    Parameters
    ----------
    loops : per iterator the loop of the matched statement that has the same values.
    sums : the array of the sums.
    ends : it computes from sums what it writes to memory; else it writes the sums' first values.
    """

    statement: Statement
    assign: Assign
    loops: tuple[str, ...]
    sums: str
    ends: bool

    @cached_property
    def arrays(self) -> tuple[str, ...]:
        """What it touches in memory, what it writes first."""
        used = [self.statement.access(x.reference).array for x in walk(self.assign.value) if isinstance(x, Load)]
        return tuple(dict.fromkeys([*self.written, *(name for name in used if name != self.sums)]))

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The array in memory that it writes."""
        return (self.statement.access(self.assign.target).array,) if self.ends else ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Joined:
    """What begins and what ends the blocks; without a beginning sums start at zero.

    With an end the array of the sums is a temporary that no longer exists, or the one that the end writes; without one
    sums are stored where they lie.

    Parameters
    ----------
    correction : zero points that were taken out of the product, by which the sums start higher.
    """

    first: JoinedStatement | None = None
    last: JoinedStatement | None = None
    correction: Correction | None = None

    @cached_property
    def arrays(self) -> tuple[str, ...]:
        """All arrays, those written first."""
        return tuple(dict.fromkeys([*self.written, *(a for p in (self.last, self.first) if p for a in p.arrays)]))

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The array that the end writes."""
        return self.last.written if self.last is not None else ()

    @property
    def begins(self) -> bool:
        """Whether blocks start from other values than zero."""
        return self.first is not None or self.correction is not None


def corrected_in_blocks(plan: Plan, joined: Joined | None, *, zero: bool, emulated: bool) -> Joined | None:
    """What is joined to a nest, with the correction of its zero points where blocks may start from that."""
    match, correction = plan.match, plan.match.assignment.correction
    starts = zero or (joined is not None and joined.first is not None)
    if correction is None or not starts or emulated or not is_constant(correction):
        return joined
    whole = _is_computed_once(plan) and can_be_joined(match, [*match.fragment.loops_of(match.result)])
    return replace(joined or Joined(), correction=correction) if whole else joined


def _is_computed_once(plan: Plan) -> bool:
    """Whether each block is complete when it ends."""
    match = plan.match
    tiled = any(loop.reduction and may_exceed(loop.tiles, 1) for loop in plan.loops)
    return not (tiled or match.fragment.kept or match.overlapping or match.adds_at_the_end)


def joined_parameters(match: Match, joined: Joined) -> list[str]:
    """Declarations of the arrays for the functions of the nest."""
    kinds = {a: C_NAMES[match.fragment.scop.array(a).dtype.name] for a in joined.arrays}
    declared = [f"{'' if a in joined.written else 'const '}{kind} *restrict {joined_argument(a)}"
                for a, kind in kinds.items()]
    return [*declared, *(f"const uint{match.fragment.update.dtype.bits}_t *restrict {name}"
                         for name in _sums(match, joined))]


def _sums(match: Match, joined: Joined) -> list[str]:
    """The names of the operands' sums."""
    return [] if joined.correction is None else sum_names(joined.correction)


def joined_arguments(match: Match, joined: Joined, *, inside: bool) -> list[str]:
    """The arrays as they are handed over.

    Parameters
    ----------
    inside : from one function of the nest to another.
    """
    return [*(joined_argument(a) if inside else a for a in joined.arrays), *_sums(match, joined)]


def joined_argument(array: str) -> str:
    """The argument for an array of the program; operands of the instruction have names of their own."""
    return f"ps_array_{array}"


def begun_block(plan: Plan, joined: Joined, number: int) -> ResultBlock:
    """The block that registers are loaded from.

    Parameters
    ----------
    number : of the plan among those of the nest.
    """
    output = plan.match.intrinsic.output.name
    inside = f"const int ps_inside = {' && '.join(conditions_inside(plan, plan.place(output))) or '1'};"
    if not joined.begins:
        return _block(plan, BLOCK, buffer_distances(plan, output)[0], before=(inside,))
    apart, elements = _start_distances(plan, joined)
    return _block(plan, START, apart, before=(
        f"{operand_type(plan, output)} {START}[{elements}] __attribute__((aligned(64)));", inside,
        _call(plan, joined, f"first{_ending(number)}", START)))


def ended_block(plan: Plan, joined: Joined, number: int) -> ResultBlock:
    """The block that registers are stored to: that of the last statement, or the result's array."""
    output = plan.match.intrinsic.output.name
    if joined.last is None:
        return block_of_results(plan, output, number, reads="0")
    apart, elements = buffer_distances(plan, output)
    return _block(plan, BLOCK, apart, after=(_call(plan, joined, f"last{_ending(number)}", BLOCK),), before=(
        f"{operand_type(plan, output)} {BLOCK}[{elements}] __attribute__((aligned(64)));",))


def _block(plan: Plan, at: str, apart: Mapping[str, int], *, before: tuple[str, ...] = (),
           after: tuple[str, ...] = ()) -> ResultBlock:
    output = plan.match.intrinsic.output.name
    return ResultBlock(plan=plan, place=plan.place(output), at=at, before=before, after=after,
                       steps={n: str(s) for n, s in apart.items()},
                       row_stride=str(plan.match.intrinsic.row_bytes(output)))


def _start_distances(plan: Plan, joined: Joined) -> tuple[dict[str, int], int]:
    """Elements between registers in the buffer of first values, by the loops that tell these apart, and its size."""
    output, loops = plan.match.intrinsic.output, _loops_of_start(plan.match, joined)
    homes = {home.name for name in loops if (home := _home(plan, name)[0]) is not None}
    found, size = {}, math.prod(int(extent) for extent in output.shape)
    for loop in reversed(unrolled_loops(plan, output.name)):
        if loop.name in homes:
            found[loop.name] = size
            size *= loop.unroll
    return found, size


def _loops_of_start(match: Match, joined: Joined) -> set[str]:
    """The loops of the matched statement that the first values of sums depend on."""
    found: set[str] = set() if joined.correction is None else told_by(match, joined.correction)
    part = joined.first
    if part is not None:
        loops = dict(zip(part.statement.iterators, part.loops, strict=True))
        found |= {loops[name] for name in part.statement.iterators_in(part.assign.value) if name in loops}
    return found


def _call(plan: Plan, joined: Joined, name: str, block: str) -> str:
    loops, moved = _loops(plan), moves(plan)
    told = [block, *joined_arguments(plan.match, joined, inside=True), *(first_iteration(plan, x) for x in loops),
            *(moved[x.name] for x in loops if x.name in moved), *size_arguments(plan.match), "ps_inside"]
    return f"{{function}}_{name}({', '.join(told)});"


def _ending(number: int) -> str:
    return f"_{number}" if number else ""


def _loops(plan: Plan) -> list[NestLoop]:
    """The loops that tell the elements of a result."""
    return [loop for loop in plan.loops if plan.uses(plan.match.intrinsic.output.name, loop)]


def joined_functions(plan: Plan, joined: Joined, name: str, number: int) -> Iterator[str]:
    """The functions that fill a block, and that use it."""
    if joined.begins:
        yield from _function(plan, joined, joined.first, f"{name}_first{_ending(number)}")
    if joined.last is not None:
        yield from _function(plan, joined, joined.last, f"{name}_last{_ending(number)}")


def _function(plan: Plan, joined: Joined, part: JoinedStatement | None, name: str) -> list[str]:
    match, kind = plan.match, operand_type(plan, plan.match.intrinsic.output.name)
    loops, moved = _loops(plan), moves(plan)
    told = [f"{'const ' if part is not None and part.ends else ''}{kind} *restrict {BLOCK}", *(
        f"{p} __attribute__((unused))" for p in joined_parameters(match, joined))]
    told += [f"long ps_first_{loop.name}" for loop in loops]
    told += [f"long {moved[loop.name]} __attribute__((unused))" for loop in loops if loop.name in moved]
    told += [f"long {argument} __attribute__((unused))" for argument in size_arguments(match)]
    return [f"static void {name}({', '.join([*told, 'int ps_whole'])})", "{", "    if (ps_whole) {",
            *_elements(plan, joined, part, whole=True), "    } else {",
            *_elements(plan, joined, part, whole=False), "    }", "}", ""]


def _elements(plan: Plan, joined: Joined, part: JoinedStatement | None, *, whole: bool) -> Iterator[str]:
    """The loops over the registers of a block and their elements."""
    output, ends = plan.match.intrinsic.output, part is not None and part.ends
    apart, _ = buffer_distances(plan, output.name) if ends else _start_distances(plan, joined)
    unrolled = _told_apart(plan, apart)
    names = [loop.name for loop in unrolled]
    tests = [] if whole else [*_tests(plan, names)]
    iterators = [*_iterators(plan, _variables(plan.match, joined, part), names)]
    ahead = [_tile(plan, unrolled, apart, constant="const " if ends else ""), *(line for _, line in tests),
             *(text for in_lanes, text in iterators if not in_lanes)]
    rows = [(f"ps_u_{loop.name}", loop.unroll) for loop in unrolled]
    lanes = [(f"{LANE}{at}", int(extent)) for at, extent in enumerate(output.shape)]
    inner = [*(text for in_lanes, text in iterators if in_lanes),
             _guarded(plan.match, joined, part, [test for test, _ in tests])]
    yield from nested(rows, [*ahead, *nested(lanes, inner, 0)], 2)


def _told_apart(plan: Plan, apart: Mapping[str, int]) -> list[NestLoop]:
    """The unrolled loops that tell registers of a buffer apart."""
    return [loop for loop in unrolled_loops(plan, plan.match.intrinsic.output.name) if loop.name in apart]


def _tile(plan: Plan, unrolled: Sequence[NestLoop], apart: Mapping[str, int], *, constant: str) -> str:
    """The declaration of one register's elements in a block."""
    terms = [BLOCK, *(f"ps_u_{loop.name} * {apart[loop.name]}" for loop in unrolled)]
    kind = operand_type(plan, plan.match.intrinsic.output.name)
    return f"{constant}{kind} *restrict ps_tile = {' + '.join(terms)};"


def _variables(match: Match, joined: Joined, part: JoinedStatement | None) -> dict[str, str]:
    """The iterators of a statement, and what a correction is told by, with the loops that they are."""
    found = {} if part is None else dict(zip(part.statement.iterators, part.loops, strict=True))
    if joined.correction is not None and (part is None or not part.ends):
        told = match.fragment.loops_of(match.result)
        found |= {_loop_variable(n): n for n in match.fragment.statement.iterators if n in told}
    return found


def _loop_variable(name: str) -> str:
    """The variable for a loop of the matched statement."""
    return f"ps_loop_{name}"


def _guarded(match: Match, joined: Joined, part: JoinedStatement | None, tests: Sequence[str]) -> str:
    """The assignment of one element, where it exists; what does not is zero in a block."""
    shape = [int(e) for e in match.intrinsic.output.shape]
    at = " + ".join(f"{LANE}{a} * {math.prod(shape[a + 1:])}" for a in range(len(shape))) or "0"
    element, ends = f"ps_tile[{at}]", part is not None and part.ends
    if part is not None and ends:
        text = f"{_found(match, part, element, part.assign.target)} = {_value(match, part, element)};"
    else:
        text = f"{element} = {_start(match, joined, part, element)};"
    if not tests:
        return text
    return f"if ({' && '.join(tests)}) {text}" + ("" if ends else f" else {element} = 0;")


def _start(match: Match, joined: Joined, part: JoinedStatement | None, element: str) -> str:
    """What a sum starts from."""
    value, dtype = "0" if part is None else _value(match, part, element), match.fragment.update.dtype
    if joined.correction is None:
        return value
    terms = correction_terms(match, joined.correction, _loop_variable)
    return f"({C_NAMES[dtype.name]})({' + '.join([f'(uint{dtype.bits}_t)({value})', *terms])})"


def _tests(plan: Plan, unrolled: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Conditions under which an element exists, each with the line that it needs ahead of the elements."""
    place = plan.place(plan.match.intrinsic.output.name)
    if exists := " && ".join(conditions_of_tile(plan, place, unrolled)):
        yield "ps_exists", f"const int ps_exists = {exists};"
    for at, count in enumerate(counts_of_tile(plan, place, unrolled)):
        yield f"{LANE}{at} < ps_n{at}", f"const long ps_n{at} = {count};"


def _group(match: Match, dimension: str) -> int:
    return next((g for g, part in enumerate(match.groups) if dimension in part.dimensions), -1)


def _iterators(plan: Plan, loops: Mapping[str, str], unrolled: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Declarations of variables with the values of loops of the matched statement, and whether lanes tell them."""
    match, output = plan.match, plan.match.intrinsic.output.name
    lanes = {_group(match, name): (at, extent) for at, (name, extent) in
             enumerate(operand_subscripts(match, output) or []) if name}
    for iterator, name in loops.items():
        loop, group = _home(plan, name)
        terms = [] if loop is None else [tile_iteration(loop, unrolled)]
        if group >= 0:
            at, extent = lanes[group]
            terms = [*(f"({t}) * {extent}" for t in terms), f"{LANE}{at}"]
        first = match.fragment.loop(name).lower
        yield group >= 0, f"const long {iterator} __attribute__((unused)) = {' + '.join([*terms, str(first)])};"


def _home(plan: Plan, name: str) -> tuple[NestLoop | None, int]:
    """The nest's loop that counts iterations of a loop of the program, and the group that has it in lanes, or -1."""
    match = plan.match
    group = next((g for g, members in enumerate(match.loops) if name in members), -1)
    if group >= 0:
        return tile_loop(list(plan.loops), group), group
    return next((loop for loop in plan.loops if loop.source == name), None), -1


def can_be_joined(match: Match, loops: Sequence[str]) -> bool:
    """Whether the elements of a block tell the iterations: no group of the result holds several loops."""
    output = match.intrinsic.output.name
    subscripts = operand_subscripts(match, output)
    if subscripts is None or any(name == "" for name, _ in subscripts):
        return False
    return all(len(match.loops[g]) <= 1 and len(part.dimensions) == 1 for g, part in enumerate(match.groups)
               if output in part.indexes) and set(loops) <= match.fragment.loops_of(match.result)


def _value(match: Match, part: JoinedStatement, element: str) -> str:
    """What a statement assigns, with the sum at its place in the block."""
    return value_c(match, part.assign.value, part.assign.dtype, element=lambda x: _found(match, part, element,
                                                                                         x.reference))


def _found(match: Match, part: JoinedStatement, element: str, reference: str) -> str:
    """An element of an array, or of the block."""
    access = part.statement.access(reference)
    if access.array == part.sums and (not part.ends or reference != part.assign.target):
        return element
    inner = match.fragment.extents_inside(access.array) or []
    terms = [f"({value_c(match, s, s.dtype)}) * {math.prod(inner[at:])}" for at, s in enumerate(access.subscripts)]
    return f"{joined_argument(access.array)}[{' + '.join(terms)}]"
