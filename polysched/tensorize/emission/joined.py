"""Statements that begin or end each block of results while it is in cache, instead of passes over whole arrays.

    for p, q, k: t = bias[k]                     per block of registers:
    for p, q, k, c: t += X[..] * W[..]     ->        fill a small buffer by the first statement, load registers from it,
    for p, q, k: Y = (t + 128) >> 8                  execute, store them to it, compute the last statement from it

The array of the sums is not touched, and need not exist.  `tensorize.joining` says where that is the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from polysched.scop.body import Assign, Load, walk
from polysched.scop.scop import Statement
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission.addresses import first_iteration, moves, operand_type
from polysched.tensorize.emission.copy_plan import operand_subscripts
from polysched.tensorize.emission.nest import NestLoop, size_arguments, tile_loop
from polysched.tensorize.emission.packing import value_c
from polysched.tensorize.emission.plan import Plan
from polysched.tensorize.emission.result_blocks import (
    ResultBlock,
    buffer_distances,
    conditions_inside,
    partial_loops,
    unrolled_loops,
)
from polysched.tensorize.matching.mapping import Match

BLOCK = "ps_block"
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

    The array of the sums is a temporary that no longer exists, or the one that the end writes.
    """

    first: JoinedStatement | None
    last: JoinedStatement

    @cached_property
    def arrays(self) -> tuple[str, ...]:
        """All arrays, those written first."""
        begun = self.first.arrays if self.first is not None else ()
        return tuple(dict.fromkeys([*self.last.written, *self.last.arrays, *begun]))


def joined_parameters(match: Match, joined: Joined) -> list[str]:
    """Declarations of the arrays for the functions of the nest."""
    kinds = {a: C_NAMES[match.fragment.scop.array(a).dtype.name] for a in joined.arrays}
    return [f"{'' if a in joined.last.written else 'const '}{kind} *restrict {joined_argument(a)}"
            for a, kind in kinds.items()]


def joined_argument(array: str) -> str:
    """The argument for an array of the program; operands of the instruction have names of their own."""
    return f"ps_array_{array}"


def joined_block(plan: Plan, joined: Joined, number: int) -> ResultBlock:
    """The block of the result, which lies in the buffer.

    Parameters
    ----------
    number : of the plan among those of the nest.
    """
    output = plan.match.intrinsic.output.name
    apart, elements = buffer_distances(plan, output)
    told = [BLOCK, *map(joined_argument, joined.arrays), *(first_iteration(plan, loop) for loop in _loops(plan)),
            *(moves(plan)[loop.name] for loop in _loops(plan) if loop.name in moves(plan)),
            *size_arguments(plan.match), f"ps_whole_{output}"]
    inside = " && ".join(conditions_inside(plan, plan.place(output))) or "1"
    before = [f"{operand_type(plan, output)} {BLOCK}[{elements}] __attribute__((aligned(64)));",
              f"const int ps_whole_{output} = {inside};"]
    if joined.first is not None:
        before.append(f"{{function}}_first{_ending(number)}({', '.join(told)});")
    return ResultBlock(
        plan=plan, place=plan.place(output), at=BLOCK, before=tuple(before),
        after=(f"{{function}}_last{_ending(number)}({', '.join(told)});",), steps={n: str(s) for n, s in apart.items()},
        row_stride=str(plan.match.intrinsic.row_bytes(output)))


def _ending(number: int) -> str:
    return f"_{number}" if number else ""


def _loops(plan: Plan) -> list[NestLoop]:
    """The loops that tell the elements of a result."""
    return [loop for loop in plan.loops if plan.uses(plan.match.intrinsic.output.name, loop)]


def joined_functions(plan: Plan, joined: Joined, name: str, number: int) -> Iterator[str]:
    """The functions that fill a block, and that use it."""
    for part, ending in ((joined.first, "first"), (joined.last, "last")):
        if part is not None:
            yield from _function(plan, joined, part, f"{name}_{ending}{_ending(number)}")


def _function(plan: Plan, joined: Joined, part: JoinedStatement, name: str) -> list[str]:
    match, kind = plan.match, operand_type(plan, plan.match.intrinsic.output.name)
    loops, moved = _loops(plan), moves(plan)
    told = [f"{'const ' if part.ends else ''}{kind} *restrict {BLOCK}", *(
        f"{p} __attribute__((unused))" for p in joined_parameters(match, joined))]
    told += [f"long ps_first_{loop.name}" for loop in loops]
    told += [f"long {moved[loop.name]} __attribute__((unused))" for loop in loops if loop.name in moved]
    told += [f"long {argument} __attribute__((unused))" for argument in size_arguments(match)]
    lines = [f"static void {name}({', '.join([*told, 'int ps_whole'])})", "{", "    if (ps_whole) {",
             *_elements(plan, part, whole=True), "    } else {", *_elements(plan, part, whole=False), "    }", "}", ""]
    return [*lines]


def _elements(plan: Plan, part: JoinedStatement, *, whole: bool) -> Iterator[str]:
    """The loops over the registers of a block and their elements."""
    output, unrolled = plan.match.intrinsic.output, unrolled_loops(plan, plan.match.intrinsic.output.name)
    apart, _ = buffer_distances(plan, output.name)
    names = [loop.name for loop in unrolled]
    terms = [BLOCK, *(f"ps_u_{loop.name} * {apart[loop.name]}" for loop in unrolled)]
    constant, kind = "const " if part.ends else "", operand_type(plan, output.name)
    tests = [] if whole else [*_tests(plan, names)]
    iterators = [*_iterators(plan, part, names)]
    depth = 2
    for loop in unrolled:
        row = f"ps_u_{loop.name}"
        yield "    " * depth + f"for (long {row} = 0; {row} < {loop.unroll}; {row}++) {{"
        depth += 1
    ahead = [f"{constant}{kind} *restrict ps_tile = {' + '.join(terms)};", *(line for _, line in tests)]
    yield from ("    " * depth + line for line in [*ahead, *(text for text in iterators if LANE not in text)])
    for at, extent in enumerate(output.shape):
        yield "    " * depth + f"for (long {LANE}{at} = 0; {LANE}{at} < {extent}; {LANE}{at}++) {{"
        depth += 1
    yield from ("    " * depth + text for text in iterators if LANE in text)
    yield "    " * depth + _guarded(plan.match, part, [test for test, _ in tests])
    yield from ("    " * at + "}" for at in reversed(range(2, depth)))


def _guarded(match: Match, part: JoinedStatement, tests: Sequence[str]) -> str:
    """The assignment of one element, where it exists; what does not is zero in a block."""
    shape = [int(e) for e in match.intrinsic.output.shape]
    at = " + ".join(f"{LANE}{a} * {math.prod(shape[a + 1:])}" for a in range(len(shape))) or "0"
    text = _assigned(match, part, f"ps_tile[{at}]")
    if not tests:
        return text
    return f"if ({' && '.join(tests)}) {text}" + ("" if part.ends else f" else ps_tile[{at}] = 0;")


def _tests(plan: Plan, unrolled: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Conditions under which an element exists, each with the line that it needs ahead of the elements."""
    match, output, moved = plan.match, plan.match.intrinsic.output.name, moves(plan)
    exists = [f"{_iteration(loop, unrolled)} < {loop.count}" for loop in partial_loops(plan, plan.place(output))]
    exists += [f"ps_u_{loop.name} >= {moved[loop.name]}" for loop in _loops(plan) if loop.name in moved]
    if exists:
        yield "ps_exists", f"const int ps_exists = {' && '.join(exists)};"
    for at, (name, extent) in enumerate(operand_subscripts(match, output) or []):
        group = _group(match, name)
        tile = tile_loop(list(plan.loops), group) if group >= 0 else None
        total = match.fused_extent(group) if group >= 0 else 1
        first = f"({_iteration(tile, unrolled)}) * {extent}" if tile is not None else "0"
        yield f"{LANE}{at} < ps_n{at}", f"const long ps_n{at} = {total} - {first};"


def _iteration(loop: NestLoop, unrolled: Sequence[str]) -> str:
    return f"ps_first_{loop.name} + ps_u_{loop.name}" if loop.name in unrolled else f"ps_first_{loop.name}"


def _group(match: Match, dimension: str) -> int:
    return next((g for g, part in enumerate(match.groups) if dimension in part.dimensions), -1)


def _iterators(plan: Plan, part: JoinedStatement, unrolled: Sequence[str]) -> Iterator[str]:
    """Declarations of the statement's iterators."""
    match, output = plan.match, plan.match.intrinsic.output.name
    lanes = {_group(match, name): (at, extent) for at, (name, extent) in
             enumerate(operand_subscripts(match, output) or []) if name}
    for iterator, name in zip(part.statement.iterators, part.loops, strict=True):
        loop, group = _home(plan, name)
        terms = [] if loop is None else [_iteration(loop, unrolled)]
        if group >= 0:
            at, extent = lanes[group]
            terms = [*(f"({t}) * {extent}" for t in terms), f"{LANE}{at}"]
        first = match.fragment.loop(name).lower
        yield f"const long {iterator} __attribute__((unused)) = {' + '.join([*terms, str(first)])};"


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


def _assigned(match: Match, part: JoinedStatement, element: str) -> str:
    """The assignment, with the sum at its place in the block."""
    statement, assign = part.statement, part.assign
    extents: Mapping[str, list[int] | None] = {a: match.fragment.extents_inside(a) for a in part.arrays}

    def found(reference: str) -> str:
        access = statement.access(reference)
        if access.array == part.sums and (not part.ends or reference != assign.target):
            return element
        inner, terms = extents[access.array] or [], []
        for at, subscript in enumerate(access.subscripts):
            terms.append(f"({value_c(match, subscript, subscript.dtype)}) * {math.prod(inner[at:])}")
        return f"{joined_argument(access.array)}[{' + '.join(terms)}]"

    value = value_c(match, assign.value, assign.dtype, element=lambda x: found(x.reference))
    return f"{found(assign.target)} = {value};"
