"""The C of the nest around the instruction: loops, registers, and the detour of ragged result tiles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from polysched.tensorize.conformance.conformance import fill_in
from polysched.tensorize.description.intrinsic import LoadMode, Operand
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission.addresses import (
    further_arguments,
    moved_blocks,
    operand_type,
    pointer,
    row_multiples,
    row_pointer,
    row_pointers,
    unknown_steps,
)
from polysched.tensorize.emission.blocking import SHORTEST_SUM, pressure
from polysched.tensorize.emission.joined import (
    BLOCK,
    Joined,
    begun_block,
    ended_block,
    joined_arguments,
    joined_functions,
    joined_parameters,
)
from polysched.tensorize.emission.nest import NestLoop, loaded
from polysched.tensorize.emission.place import Place
from polysched.tensorize.emission.plan import Plan, block_cases
from polysched.tensorize.emission.result_blocks import ResultBlock, block_of_results, ragged_helpers
from polysched.tensorize.emission.team import ALWAYS, NEVER, in_team
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.software.sizes import divides, is_general, may_exceed
from polysched.tiling.footprints.streams import fetched_ahead

FAR_ROW_LINES = LIMITS.far_row_lines
LEAST_SHARES = LIMITS.least_shares
UNEQUAL_SHARES = LIMITS.unequal_shares


def nest_c(plan: Plan, name: str, *, emulated: bool, parallel: bool, zero: bool, joined: Joined | None = None) -> str:
    """A static function of the operands' addresses that runs the whole nest.

    What threads execute of the loop that they share is a function of its own: clang's outlined parallel regions have
    none of the instruction sets that the function around them is compiled for.

    Parameters
    ----------
    zero : results start at zero; what memory holds does not count.
    joined : statements that begin and end each block of results.
    """
    heads, shared = [*_tile_heads(plan), *_spatial_heads(plan)], _heads_of_team(plan) if parallel else []
    operands = [*(_parameter(plan, p) for p in read_places(plan, joined)),
                *(joined_parameters(plan.match, joined) if joined is not None else ()),
                *(f"long {argument} __attribute__((unused))" for argument in further_arguments(plan))]
    rest = [head for _, head in heads[len(shared):]]
    if shared:
        functions, body = _part_and_team(plan, name, shared, rest, operands, emulated=emulated, zero=zero,
                                         joined=joined)
    else:
        functions, body = [], _alone(plan, rest, emulated=emulated, zero=zero, joined=joined)
        body = in_team(body) if parallel else body
    ragged = [] if emulated else [*_helpers(plan, name, joined)]
    return "\n".join([*ragged, *functions, f"static void {name}_nest({', '.join(operands)})", "{", *body, "}",
                      ""]).replace("{function}", name)


def _heads_of_team(plan: Plan) -> list[tuple[str, str]]:
    """Variable and head of the loops down to the last one that threads share; none where there is none to share."""
    tiles, spatial = [*_tile_heads(plan)], [*_spatial_heads(plan)]
    return [*tiles, *spatial][:_first_shared(plan) + _shared_loops(plan)] if spatial else []


def read_places(plan: Plan, joined: Joined | None) -> list[Place]:
    """The places of the operands whose addresses the nest gets."""
    return [p for p in plan.places if joined is None or joined.last is None or p.operand not in plan.match.written]


def _helpers(plan: Plan, name: str, joined: Joined | None) -> Iterator[str]:
    """The functions for blocks of results."""
    if joined is None or joined.last is None:
        yield from ragged_helpers(plan, name)
    for number, (_, case) in enumerate(block_cases(plan)):
        yield from joined_functions(case, joined, name, number) if joined is not None else ()


def _first_shared(plan: Plan) -> int:
    """The number of the loop that threads share: the first over tiles where they take these one by one."""
    return 0 if plan.handed_out else sum(may_exceed(loop.tiles, 1) for loop in plan.loops)


def _shared_loops(plan: Plan) -> int:
    """How many loops threads share, from that one on: more where the first ones have too few iterations for them."""
    if plan.handed_out:
        return _handed_out_loops(plan)
    cores, shares, loops = plan.match.target.cores, 1, 0
    least = LEAST_SHARES * cores if is_general(*(loop.count for loop in plan.loops)) else 1
    spatial = [x for x in plan.loops if not x.reduction and may_exceed(x.blocks, 1)]
    for loop in spatial:
        shares, loops = shares * min(int(loop.tile or loop.blocks), int(loop.blocks)), loops + 1
        if shares >= least and -(-shares // cores) * cores <= UNEQUAL_SHARES * shares:
            return loops
    return max(1, loops)


def _handed_out_loops(plan: Plan) -> int:
    """How many loops over tiles make up what threads take one by one: all that leave enough to do in each."""
    match, found = plan.match, 0
    cycles = math.prod(int(loop.count) for loop in plan.loops) * match.intrinsic.cost.cycles
    for loop in (x for x in plan.loops if may_exceed(x.tiles, 1)):
        cycles /= int(loop.tiles)
        if loop.reduction or (found and cycles < match.target.team_work_cycles):
            break
        found += 1
    return found


def _alone(plan: Plan, heads: Sequence[str], *, emulated: bool, zero: bool, joined: Joined | None) -> list[str]:
    """The whole nest, between what the instruction asks for ahead of and behind its executions."""
    writer = _Lines()
    writer.put(*([] if emulated else plan.match.intrinsic.configure.splitlines()))
    _block_c(writer, plan, heads, emulated=emulated, zero=zero, joined=joined)
    writer.put(*_if_any("" if emulated else plan.match.intrinsic.finish))
    return writer.closed()


def _part_and_team(plan: Plan, name: str, shared: Sequence[tuple[str, str]], heads: Sequence[str],
                   operands: Sequence[str], *, emulated: bool, zero: bool,
                   joined: Joined | None) -> tuple[list[str], list[str]]:
    """What threads run of the loop that they share, and the function that every thread calls.

    Parameters
    ----------
    shared : variable and head of the loops down to the one that threads share.
    heads : of the loops inside.
    operands : the declarations of the nest's arguments.
    """
    intrinsic = plan.match.intrinsic
    configure, finish = ("", "") if emulated else (intrinsic.configure, intrinsic.finish)
    part = _Lines()
    _block_c(part, plan, heads, emulated=emulated, zero=zero, joined=joined)
    functions = [*_own_function(f"{name}_configure", configure), *_own_function(f"{name}_finish", finish),
                 f"static void {name}_part({', '.join([*operands, *(f'long {v}' for v, _ in shared)])})", "{",
                 *part.closed(), "}", ""]
    writer = _Lines()
    writer.put(*_if_any(configure and f"{name}_configure();"))
    collapsed = len(shared) - _first_shared(plan)
    for at, (_, head) in enumerate(shared):   # nobody has to wait: the same thread gets the same iterations
        how = "schedule(dynamic)" if plan.handed_out else "schedule(static)"
        how += f" collapse({collapsed})" if collapsed > 1 else ""
        writer.put(*_if_any(f"#pragma omp for {how} nowait" if at == _first_shared(plan) else ""))
        writer.open(head)
    arrays = joined_arguments(plan.match, joined, inside=True) if joined is not None else []
    words = ", ".join([*(p.operand for p in read_places(plan, joined)), *arrays, *further_arguments(plan),
                       *(v for v, _ in shared)])
    writer.put(f"{name}_part({words});")
    writer.close(len(shared))
    writer.put(*_if_any(finish and f"{name}_finish();"))
    return functions, writer.closed()


def _if_any(line: str) -> list[str]:
    return [line] if line else []


def _parameter(plan: Plan, place: Place) -> str:
    """The declaration of an operand's address."""
    constant = "" if place.operand in plan.match.written else "const "
    restrict = "" if _shares_memory(plan, place) else "restrict "
    return f"{constant}{operand_type(plan, place.operand)} *{restrict}{place.operand}"


def _shares_memory(plan: Plan, place: Place) -> bool:
    """Whether a result is written where another operand is read: both are the same elements of the program."""
    match = plan.match
    apart = [p for p in plan.places if p.operand != place.operand and {p.operand, place.operand} & match.written]
    return not place.packed and any(not p.packed and loaded(match, p.operand) & loaded(match, place.operand)
                                    for p in apart)


def worth_nest(plan: Plan) -> str:
    """The condition under which the nest pays for a team; where sizes are known, whoever asks for one says so."""
    if not _heads_of_team(plan):
        return NEVER
    if not is_general(*(loop.count for loop in plan.loops)):
        return ALWAYS
    executions = " * ".join(f"(double){loop.count}" for loop in plan.loops)
    return f"{executions} >= {plan.match.target.team_iterations(plan.match.intrinsic.cost.cycles)}"


def _tile_heads(plan: Plan) -> Iterator[tuple[str, str]]:
    """Variable and head of every loop over tiles."""
    for loop in plan.loops:
        if may_exceed(loop.tiles, 1):
            yield f"b_{loop.name}", f"for (long b_{loop.name} = 0; b_{loop.name} < {loop.tiles}; b_{loop.name}++) {{"


def _spatial_heads(plan: Plan) -> Iterator[tuple[str, str]]:
    """Variable and head of every loop over blocks of results."""
    for loop in plan.loops:
        if not loop.reduction and may_exceed(loop.blocks, 1):
            yield loop.name, _for(loop)


def _own_function(name: str, text: str) -> Iterator[str]:
    if text:
        yield from (f"static void {name}(void)", "{", *(f"    {line}" for line in text.splitlines()), "}", "")


def _block_c(writer: _Lines, plan: Plan, heads: Sequence[str], *, emulated: bool, zero: bool,
             joined: Joined | None) -> None:
    """The loops that threads do not share, around the reductions and what is executed."""
    for head in heads:
        writer.open(head)
    reductions = [loop for loop in plan.loops if loop.reduction]
    cases = [("", plan)] if emulated else block_cases(plan)
    for number, (condition, case) in enumerate(cases):
        writer.case(condition, first=case is cases[0][1], last=case is cases[-1][1])
        before, body, after = _emulated(case, zero=zero) if emulated else _executed(
            case, number, zero=zero, joined=joined)
        writer.put(*before)
        for loop in reductions:
            writer.open(_for(loop))
        writer.put(*body)
        writer.close(len(reductions))
        writer.put(*after)
    writer.close((len(cases) > 1) + len(heads))


class _Lines:
    """Lines of C, indented by the blocks that are open."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1

    def put(self, *texts: str) -> None:
        self.lines += ["    " * self.depth + text for text in texts]

    def open(self, *texts: str) -> None:
        self.put(*texts)
        self.depth += 1

    def case(self, condition: str, *, first: bool, last: bool) -> None:
        """One branch of several; nothing where there is only one."""
        if first and last:
            return
        self.depth -= 0 if first else 1
        head = "} else {" if last else f"{'' if first else '} else '}if ({condition}) {{"
        self.open(head)

    def close(self, count: int) -> None:
        for _ in range(count):
            self.depth -= 1
            self.put("}")

    def closed(self) -> list[str]:
        """The lines, with every block closed."""
        self.close(self.depth - 1)
        return self.lines


def _for(loop: NestLoop) -> str:
    if not may_exceed(loop.tiles, 1):
        return f"for (long {loop.name} = 0; {loop.name} < {loop.blocks}; {loop.name}++) {{"
    first, end = f"b_{loop.name} * {loop.tile}", f"b_{loop.name} * {loop.tile} + {loop.tile}"
    if not divides(loop.tile, loop.blocks):
        end = f"({end} < {loop.blocks} ? {end} : {loop.blocks})"
    return f"for (long {loop.name} = {first}; {loop.name} < {end}; {loop.name}++) {{"


def _first_block(plan: Plan) -> str:
    """True in C where no earlier block of a reduction has been added; "" when there is only one."""
    return " && ".join(f"b_{loop.name} == 0" for loop in plan.loops if loop.reduction and may_exceed(loop.tiles, 1))


def _emulated(plan: Plan, *, zero: bool) -> tuple[list[str], list[str], list[str]]:
    arguments = []
    for v in plan.match.intrinsic.parsed.operands:
        shape = "".join(f"[{e}]" for e in v.shape[1:])
        constant = "" if v.written else "const "
        cast = f"({constant}{C_NAMES[v.dtype.name]} (*){shape})" if shape else ""
        arguments.append(f"{cast}({pointer(plan, plan.place(v.name), {})})")
    first, before = _first_block(plan), []
    for output in plan.match.intrinsic.outputs if zero else ():
        if _shares_memory(plan, plan.place(output.name)):   # what is read there is still to come
            continue
        clear = f"memset({pointer(plan, plan.place(output.name), {})}, 0, {output.elements * output.dtype.bytes});"
        before.append(f"if ({first}) {clear}" if first else clear)
    return before, [f"emulated_{plan.match.intrinsic.name}({', '.join(arguments)});"], []


def _executed(plan: Plan, number: int, *, zero: bool, joined: Joined | None) -> tuple[list[str], list[str], list[str]]:
    """Loads of the accumulators, the unrolled executions, stores.

    Parameters
    ----------
    number : of the plan among those of the nest.
    """
    intrinsic, outputs = plan.match.intrinsic, [v.name for v in plan.match.intrinsic.outputs]
    names = _Registers(plan)
    before, after = _accumulators(plan, names, number, zero=zero, joined=joined)
    before = [*moved_blocks(plan), *before, *row_multiples(plan)]
    body = [*unknown_steps(plan), *row_pointers(plan), *_announced_results(plan, names), *_streamed_panels(plan)]
    points = list(_visited(plan, turning=bool(names.numbers)))
    needed = pressure(plan.match, plan.unrolled)[0]
    held: dict[str, tuple[str, str]] = {}   # what each register holds
    inputs = [o.name for o in intrinsic.operands if o.name not in outputs]
    for at in points:
        registers = {output: names.name(output, at) for output in outputs}
        for operand in inputs:
            register = registers[operand] = names.name(operand, at)
            key = (operand, str(sorted((k, v) for k, v in at.items() if k in names.loops(operand))))
            if held.get(register) != key:
                held[register] = key
                body += names.declare(operand, register)
                place = plan.place(operand)
                kind = intrinsic.operand(operand).register
                body.append(fill_in(kind.load, register=register, pointer=row_pointer(plan, place, at),
                                    stride=str(place.row_stride_bytes)))
                if kind.hold and needed < kind.count and len({names.name(operand, x) for x in points}) < len(points):
                    body.append(fill_in(kind.hold, register=register))
        body.append(fill_in(intrinsic.template, **registers))
    return before, body, after


def _accumulators(plan: Plan, names: _Registers, number: int, *, zero: bool,
                  joined: Joined | None) -> tuple[list[str], list[str]]:
    """What makes the accumulators of all results ready, and what stores them."""
    intrinsic, first = plan.match.intrinsic, _first_block(plan)
    before: list[str] = []
    after: list[str] = []
    drains: list[str] = []
    for output in (v.name for v in intrinsic.outputs):
        kind = intrinsic.operand(output).register
        cleared = _cleared(intrinsic.operand(output))
        clears = zero and bool(cleared) and not (joined is not None and joined.begins)
        reads = "0" if not intrinsic.contraction.accumulates else "" if not clears else f"!({first})" if first else "0"
        from_there, there = _blocks(plan, output, number, joined, reads)
        before += [*there.before, *from_there.before]
        before += _fetched_results(plan, names, there, unread=clears or joined is not None)
        drains += there.after
        for at in names.points(output):
            register = names.name(output, at)
            before += names.declare(output, register)
            load, store = (fill_in(t, register=register, pointer=x.pointer(at), stride=x.row_stride)
                           for t, x in ((kind.load, from_there), (kind.store, there)))
            if clears:
                clear = fill_in(cleared, register=register)
                before += [f"if ({first}) {{ {clear} }} else {{ {load} }}" if first else clear]
            elif intrinsic.contraction.accumulates:
                before.append(load)
            after.append(store)
    return before, [*after, *drains]


def _fetched_results(plan: Plan, names: _Registers, there: ResultBlock, *, unread: bool) -> Iterator[str]:
    """Prefetches for writing of what a block is stored to, where nothing has read it and sums take a while."""
    operand, place = there.place.operand, there.place
    steps = math.prod(int(loop.tile or loop.blocks) for loop in plan.loops if loop.reduction)
    if not unread or place.packed or there.at.startswith(BLOCK) or steps < SHORTEST_SUM \
            or not plan.match.intrinsic.operand(operand).register.c_type:
        return
    for at in names.points(operand):
        yield f"__builtin_prefetch({there.pointer(at)}, 1);"


def _cleared(operand: Operand) -> str:
    """C that clears a result's register; "" for one that is numbered, or lies in a scratchpad, and has no such text."""
    variable = operand.register.c_type and operand.mode is not LoadMode.SCRATCHPAD
    return operand.register.zero or ("memset(&{register}, 0, sizeof {register});" if variable else "")


def _blocks(plan: Plan, output: str, number: int, joined: Joined | None,
            reads: str) -> tuple[ResultBlock, ResultBlock]:
    """Where registers are loaded from, and where they are stored to."""
    if joined is not None:
        return begun_block(plan, joined, number), ended_block(plan, joined, number)
    block = block_of_results(plan, output, number, reads=reads)
    return replace(block, before=()), block


def _visited(plan: Plan, *, turning: bool) -> Iterator[dict[str, int]]:
    """The unrolled points; when turning each is one loop away from the one before, whose other operand stays loaded."""
    loops = plan.unrolled
    for at in itertools.product(*(range(loop.unroll) for loop in loops)):
        turned, number = {}, 0
        for loop, i in zip(loops, at, strict=True):
            turned[loop.name] = loop.unroll - 1 - i if turning and number % 2 else i
            number = number * loop.unroll + i
        yield turned


def _announced_results(plan: Plan, names: _Registers) -> Iterator[str]:
    """Prefetches for writing of the lines that the tiles will be stored to, spread over the innermost loop.

    Rows of a tile that lie in lines of their own are stored by one instruction, which would wait for all of them.
    """
    output = plan.match.intrinsic.output
    place, inner = plan.place(output.name), next((loop for loop in reversed(plan.loops) if loop.reduction), None)
    rows = int(output.shape[0]) if len(output.shape) > 1 else 1
    if inner is None or not _stores_far_rows(plan, place) or is_general(inner.blocks) or inner.tiles > 1 \
            or inner.blocks < 2:
        return
    each = -(-rows // inner.blocks)
    row = inner.name if each == 1 else f"({inner.name} * {each} + ps_row)"
    if each > 1:
        yield f"for (long ps_row = 0; ps_row < {each}; ps_row++)"
    guards = [*_first_of_others(plan, inner), *([f"{row} < {rows}"] if inner.blocks * each > rows else [])]
    yield f"if ({' && '.join(guards)}) {{" if guards else "{"
    for at in names.points(output.name):
        line = f"(const char *)({pointer(plan, place, at)}) + {row} * {place.row_stride_bytes}"
        yield f"    __builtin_prefetch({line}, 1);"
    yield "}"


def _first_of_others(plan: Plan, inner: NestLoop) -> list[str]:
    """Conditions for the first iterations of the reductions around the innermost one."""
    return [f"{loop.name} == 0" for loop in plan.loops
            if loop.reduction and loop is not inner and may_exceed(loop.blocks, 1)]


def _stores_far_rows(plan: Plan, place: Place) -> bool:
    """Whether a tile register is stored in place, each of its rows to lines of its own."""
    return not (plan.match.intrinsic.operand(place.operand).register.c_type or place.packed
                or is_general(place.row_stride_bytes)) and (
                    place.row_stride_bytes >= FAR_ROW_LINES * plan.match.target.line_bytes)


def _streamed_panels(plan: Plan) -> Iterator[str]:
    """The rows of packed operands that the first cache does not hold, fetched ahead; tile registers gain nothing."""
    reductions = [loop for loop in plan.loops if loop.reduction]
    for operand in plan.match.intrinsic.inputs if reductions else ():
        place, inner = plan.place(operand.name), reductions[-1]
        row = operand.elements * math.prod(loop.unroll for loop in plan.unrolled if plan.uses(operand.name, loop))
        bytes_ = row * operand.dtype.bytes
        if not plan.match.intrinsic.operand(operand.name).register.c_type or not place.packed \
                or place.block_strides.get(inner.name) != row or bytes_ < plan.match.target.line_bytes:
            continue
        steps = math.prod(int(loop.tile or loop.blocks) for loop in reductions if plan.uses(operand.name, loop))
        yield from fetched_ahead(f"({pointer(plan, place, {})})", row_bytes=bytes_, panel_bytes=steps * bytes_,
                                 target=plan.match.target)


class _Registers:
    """Names of registers: variables `rA_0_1`, or numbers where the instruction set numbers them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.declared: set[str] = set()
        self.numbers: dict[str, int] = {}
        for operand in plan.match.intrinsic.operands:
            if not operand.register.c_type:
                self._number(operand.name)

    def _number(self, operand: str) -> None:
        """Numbers for an operand's registers; inputs are reloaded into the same few, as the plan says.

        A processor renames few tile registers: each name that is not used lets the loads of one step overlap with the
        executions of the one before.
        """
        first = max(self.numbers.values(), default=-1) + 1
        if operand in self.plan.match.written:
            self.numbers |= {self._label(operand, at): first + i for i, at in enumerate(self.points(operand))}
        else:
            self.numbers |= {self._label(operand, at): first for at in self.points(operand)}

    def loops(self, operand: str) -> tuple[str, ...]:
        return tuple(loop.name for loop in self.plan.unrolled if self.plan.uses(operand, loop))

    def points(self, operand: str) -> Iterator[dict[str, int]]:
        mine = [loop for loop in self.plan.unrolled if self.plan.uses(operand, loop)]
        for point in itertools.product(*(range(loop.unroll) for loop in mine)):
            yield dict(zip((loop.name for loop in mine), point, strict=True))

    def _label(self, operand: str, at: dict[str, int]) -> str:
        return "_".join([f"r{operand}", *(str(at[n]) for n in self.loops(operand))])

    def name(self, operand: str, at: dict[str, int]) -> str:
        label = self._label(operand, at)
        return str(self.numbers[label]) if label in self.numbers else label

    def declare(self, operand: str, register: str) -> list[str]:
        c_type = self.plan.match.intrinsic.operand(operand).register.c_type
        if not c_type or register in self.declared:
            return []
        self.declared.add(register)
        return [f"{c_type} {register};"]
