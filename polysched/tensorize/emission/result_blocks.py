"""The block of results that registers hold: in the program's array, or in a small buffer where it is partly padding.

    if the block lies inside:  at = array, distances of the array
    else:                      at = buffer, distances of the buffer; filled ahead, written back behind

Registers are loaded and stored by one text for both, and what fills and drains the buffer is a function of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from polysched.records import dataclass
from polysched.tensorize.description.semantics import Variable
from polysched.tensorize.emission.addresses import first_iteration, moves, operand_type, pointer
from polysched.tensorize.emission.nest import NestLoop, size_arguments
from polysched.tensorize.emission.place import Place, edge_counts
from polysched.tensorize.emission.plan import Plan, block_cases
from polysched.tensorize.software.sizes import divides, may_exceed, same


@dataclass(frozen=True, eq=False, kw_only=True)
class ResultBlock:
    """Where a result's registers are loaded from and stored to.

    Parameters
    ----------
    before, after : lines ahead of the loads and behind the stores.
    row_stride : bytes between rows of a tile register, as C.
    at : the address of the first register; empty in place.
    steps : as C, elements from one register to the next along each unrolled loop; empty in place.
    """

    plan: Plan
    place: Place
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    row_stride: str
    at: str = ""
    steps: Mapping[str, str] = field(default_factory=dict)

    def pointer(self, at: Mapping[str, int]) -> str:
        """The address of one register."""
        if not self.at:
            return pointer(self.plan, self.place, at)
        moved = [f"{at[name]} * {step}" for name, step in self.steps.items() if at.get(name, 0)]
        return " + ".join([self.at, *moved])


def block_of_results(plan: Plan, output: str, number: int, *, reads: str) -> ResultBlock:
    """The block of one result.

    Parameters
    ----------
    number : of the plan among those of the nest, `block_cases`.
    reads : C that says whether registers are loaded from it; "" for always, "0" for never.
    """
    place, intrinsic = plan.place(output), plan.match.intrinsic
    if not place.ragged:
        return ResultBlock(plan=plan, place=place, row_stride=str(place.row_stride_bytes))
    kind, array = operand_type(plan, output), pointer(plan, place, {})
    at, whole, rows = f"ps_at_{output}", f"ps_whole_{output}", f"ps_rows_{output}"
    names = {loop.name: f"ps_apart_{output}_{loop.name}" for loop in unrolled_loops(plan, output)}
    own, elements = buffer_distances(plan, output)
    varying = {name: (place.unrolled_strides[name], own[name]) for name in names
               if not same(place.unrolled_strides[name], own[name])}
    words = ", ".join([f"ps_edge_{output}", array, *_handed(plan, place)])
    call = f"{{function}}{_edge_name(plan, output, number)}({words}, "
    asked = "" if reads in ("", "0") else f"if ({reads}) "
    before = [f"{kind} *{at} = {array}, ps_edge_{output}[{elements}] __attribute__((aligned(64)));",
              f"long {rows} __attribute__((unused)) = {place.row_stride_bytes};",
              *(f"long {names[name]} = {there};" for name, (there, _) in varying.items()),
              f"const int {whole} = {' && '.join(conditions_inside(plan, place)) or '1'};", f"if (!{whole}) {{",
              *([] if reads == "0" else [f"    {asked}{call}0);"]),
              f"    {at} = ps_edge_{output}; {rows} = {intrinsic.row_bytes(output)};",
              *(f"    {names[name]} = {here};" for name, (_, here) in varying.items()), "}"]
    return ResultBlock(plan=plan, place=place, before=tuple(before), after=(f"if (!{whole}) {call}1);",),
                       row_stride=rows, at=at, steps={n: names[n] if n in varying else str(own[n]) for n in names})


def unrolled_loops(plan: Plan, output: str) -> list[NestLoop]:
    """The unrolled loops that tell registers of a result apart."""
    return [loop for loop in plan.unrolled if plan.uses(output, loop)]


def buffer_distances(plan: Plan, output: str) -> tuple[dict[str, int], int]:
    """Elements between registers in the buffer by loop, and its size."""
    found, size = {}, plan.match.intrinsic.parsed.operand(output).elements
    for loop in reversed(unrolled_loops(plan, output)):
        found[loop.name] = size
        size *= loop.unroll
    return found, size


def conditions_inside(plan: Plan, place: Place) -> Iterator[str]:
    """Conditions under which a block has no padding, which its last register would have first."""
    for loop, extent, total in edge_counts(plan.match, place, list(plan.loops)):
        if may_exceed((loop.blocks * loop.unroll if loop else 1) * extent, total):
            yield f"{_last(loop)} < {total // extent}" if loop else f"{extent} <= {total}"
    for loop in partial_loops(plan, place):
        yield f"{_last(loop)} < {loop.count}"


def _last(loop: NestLoop) -> str:
    """The last iteration of a block, wherever it starts."""
    if not may_exceed(loop.blocks, 1):
        return str(loop.unroll - 1)
    return loop.name if loop.unroll == 1 else f"{loop.name} * {loop.unroll} + {loop.unroll - 1}"


def partial_loops(plan: Plan, place: Place) -> Iterator[NestLoop]:
    """Loops of the program that are unrolled past their last iteration."""
    for loop in plan.loops:
        if loop.group < 0 and plan.uses(place.operand, loop) and not divides(loop.unroll, loop.count):
            yield loop


def _known_loops(plan: Plan, place: Place) -> list[NestLoop]:
    """The loops whose first iteration in the block tells which elements exist."""
    counted = [loop for loop, _, _ in edge_counts(plan.match, place, list(plan.loops)) if loop is not None]
    return [*counted, *partial_loops(plan, place)]


def _handed(plan: Plan, place: Place) -> list[str]:
    """What the function is told behind the addresses."""
    loops, moved = _known_loops(plan, place), moves(plan)
    return [*(first_iteration(plan, loop) for loop in loops), *(moved[x.name] for x in loops if x.name in moved),
            *size_arguments(plan.match)]


def _edge_name(plan: Plan, output: str, number: int) -> str:
    """The ending of the name of a result's function."""
    own = "" if output == plan.match.intrinsic.output.name else f"_{output}"
    return f"_edge{own}" + (f"_{number}" if number else "")


def ragged_helpers(plan: Plan, name: str) -> Iterator[str]:
    """The functions of all results with blocks that are partly padding."""
    for number, (_, case) in enumerate(block_cases(plan)):
        for output in case.match.intrinsic.outputs:
            if case.place(output.name).ragged:
                yield from _helper(case, output, f"{name}{_edge_name(case, output.name, number)}")


def _helper(plan: Plan, output: Variable, name: str) -> list[str]:
    """`NAME_edge`: the part of a block that exists, into the buffer or back."""
    place, kind, moved = plan.place(output.name), operand_type(plan, output.name), moves(plan)
    known, (own, _) = _known_loops(plan, place), buffer_distances(plan, output.name)
    told = [*(f"long ps_first_{loop.name}" for loop in known), *(f"long {moved[x.name]}" for x in known
                                                                  if x.name in moved)]
    told += [f"long {argument} __attribute__((unused))" for argument in size_arguments(plan.match)]
    unrolled = unrolled_loops(plan, output.name)
    tiles = [f"{kind} *restrict {variable}_tile = "
             f"{' + '.join([variable, *(f'ps_u_{loop.name} * {apart[loop.name]}' for loop in unrolled)])};"
             for variable, apart in (("block", own), ("array", place.unrolled_strides))]
    return [f"static void __attribute__((noinline)) {name}({kind} *restrict block, {kind} *restrict array, "
            f"{', '.join([*told, 'int back'])})", "{",
            *nested([(f"ps_u_{loop.name}", loop.unroll) for loop in unrolled],
                    [*tiles, *_elements(plan, output, [loop.name for loop in unrolled])], 1), "}", ""]


def nested(loops: Sequence[tuple[str, int]], inside: Sequence[str], depth: int) -> list[str]:
    """Lines of C inside of loops from zero on."""
    heads = ["    " * (depth + at) + f"for (long {name} = 0; {name} < {count}; {name}++) {{"
             for at, (name, count) in enumerate(loops)]
    ends = ["    " * (depth + at) + "}" for at in reversed(range(len(loops)))]
    return [*heads, *("    " * (depth + len(loops)) + line for line in inside), *ends]


def _elements(plan: Plan, output: Variable, unrolled: list[str]) -> Iterator[str]:
    """The copy of what exists of one tile."""
    shape = [int(e) for e in output.shape]
    place = plan.place(output.name)
    yield f"int exists = {' && '.join(conditions_of_tile(plan, place, unrolled)) or '1'};"
    yield from (f"long n{at} = {count};" for at, count in enumerate(counts_of_tile(plan, place, unrolled)))
    # gcc 12 makes masked loads of it; those whose mask it knows become blends, which read past the array
    unknown = ", ".join(f'"+r"(n{at})' for at in range(len(shape)))
    yield from ("#if defined(__AVX512VL__) && !defined(__clang__)", f'__asm__("" : {unknown});', "#endif")
    for at, extent in enumerate(shape):
        yield "    " * at + f"for (long i{at} = 0; i{at} < {extent}; i{at}++)"
    layout = next(v for v in plan.match.layouts if v.operand == output.name)
    here = " + ".join(f"i{at} * {math.prod(shape[at + 1:])}" for at in range(len(shape))) or "0"
    there = " + ".join(f"i{at} * {step or 0}" for at, step in enumerate(layout.strides)) or "0"
    inside = " && ".join(["exists", *(f"i{at} < n{at}" for at in range(len(shape)))])
    pad = "    " * len(shape)
    yield f"{pad}if (!({inside})) {{ if (!back) block_tile[{here}] = 0; }}"
    yield f"{pad}else if (back) array_tile[{there}] = block_tile[{here}];"
    yield f"{pad}else block_tile[{here}] = array_tile[{there}];"


def tile_iteration(loop: NestLoop, unrolled: Sequence[str]) -> str:
    """Which iteration of a loop a tile of the block is."""
    return f"ps_first_{loop.name} + ps_u_{loop.name}" if loop.name in unrolled else f"ps_first_{loop.name}"


def conditions_of_tile(plan: Plan, place: Place, unrolled: Sequence[str]) -> Iterator[str]:
    """Conditions under which a tile of the block exists, and was not stored by the block before."""
    moved = moves(plan)
    yield from (f"{tile_iteration(loop, unrolled)} < {loop.count}" for loop in partial_loops(plan, place))
    yield from (f"ps_u_{loop.name} >= {moved[loop.name]}" for loop in _known_loops(plan, place)
                if loop.name in moved and loop.name in unrolled)


def counts_of_tile(plan: Plan, place: Place, unrolled: Sequence[str]) -> Iterator[str]:
    """How many of a tile's elements exist along each subscript."""
    for loop, extent, total in edge_counts(plan.match, place, list(plan.loops)):
        yield f"{total} - ({tile_iteration(loop, unrolled) if loop else '0'}) * {extent}"
