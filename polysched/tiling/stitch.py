"""Code plans of one stitched kernel: which statement is dominant, how large its tiles are, and what that costs.

    plans = code_plans(schedule, target)        # the cheapest first
    stitched = stitch(schedule, target)         # the first of them that every check accepts

The candidates are few: the statements that others read nothing of, and edges of their outer loops.  The cost of each is
projected: bytes over bandwidth, operations over peak, tiles over cores.

Source: Z. Zheng et al., "AStitch", ASPLOS 2022, section 4; "FusionStitching", arXiv 2009.10924, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import ceil, prod

import islpy as isl

from polysched.dependence.dependences import DependenceKind
from polysched.errors import BudgetExceededError, IllegalScheduleError, UsageError
from polysched.records import dataclass
from polysched.scheduling import steps
from polysched.scheduling.primitives.images import Image, assumed_values, images, loops_around
from polysched.scheduling.primitives.stitch import Stitch
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import LoopTree, from_isl
from polysched.scop.body import Binary, Call, IteratorRef, Unary, assignments, statement_expressions, walk
from polysched.scop.dtypes import FLOAT64
from polysched.scop.points import fix_parameters, isl_value
from polysched.scop.scop import Scop, Statement
from polysched.target.target import Target, host
from polysched.tiling.limits import LIMITS


def _edges(least: int, factor: int) -> tuple[int, ...]:
    """Powers of a factor up to the largest edge."""
    found = [least]
    while found[-1] * factor <= LIMITS.largest_stitched_edge:
        found.append(found[-1] * factor)
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class CodePlan:
    """One way to stitch a kernel, with its projected cost.

    Parameters
    ----------
    step : the step that makes it.
    bytes_moved : from and to memory.
    operations : arithmetic operations, those that are made again included.
    again : per statement the share of its instances that run again; only where there is one.
    scratch_bytes : values that one tile keeps.
    tiles : how many there are.
    seconds : projected.
    binding : what the time goes to: `memory`, `arithmetic` or `tiles` (their starts, or too few for the cores).
    """

    step: Stitch
    bytes_moved: int
    operations: int
    again: Mapping[str, float]
    scratch_bytes: int
    tiles: int
    seconds: float
    binding: str

    def __str__(self) -> str:
        edges = "x".join(map(str, self.step.sizes))
        again = ", ".join(f"{share:.0%} of {name}" for name, share in self.again.items()) or "nothing"
        return (f"tiles of {edges} of {self.step.dominant}: {self.bytes_moved} bytes, {self.operations} operations, "
                f"{again} again, {self.scratch_bytes} bytes of scratch, {self.seconds:.2e} s, bound by {self.binding}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Stitched:
    """A schedule in tiles of one statement.

    Parameters
    ----------
    schedule : after the step.
    plan : that was taken.
    refused : cheaper plans, and why not.
    """

    schedule: Schedule
    plan: CodePlan
    refused: tuple[tuple[CodePlan, str], ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class _Amounts:
    """What all plans of a program have in common, for values of its parameters.

    Parameters
    ----------
    points : instances of each statement, by their box.
    operations : of one instance.
    bits : of the widest element that a statement touches: a sum in double halves its own lanes, no others'. One that
        touches none computes in the widest type.
    bytes_touched : of each array.
    """

    points: Mapping[str, int]
    operations: Mapping[str, int]
    bits: Mapping[str, int]
    bytes_touched: Mapping[str, int]

    @staticmethod
    def of(scop: Scop, values: Mapping[str, int]) -> _Amounts:
        return _Amounts(
            points={s.name: _count(s.domain, values) for s in scop.statements},
            operations={s.name: _operations(s) for s in scop.statements},
            bits={s.name: max((scop.array(a.array).dtype.bits for a in s.accesses), default=FLOAT64.bits)
                  for s in scop.statements},
            bytes_touched={a.name: _array_bytes(scop, a.name, values) for a in scop.arrays})


def stitch(schedule: Schedule, target: Target | None = None, *,
           parameters: Mapping[str, int] | None = None) -> Stitched | None:
    """The schedule by its cheapest plan that is legal; None where there is none.

    Parameters
    ----------
    parameters : values that the model assumes for symbolic sizes.
    """
    refused: list[tuple[CodePlan, str]] = []
    for plan in code_plans(schedule, target, parameters=parameters):
        try:
            return Stitched(schedule=steps.apply(schedule, plan.step), plan=plan, refused=tuple(refused))
        except (BudgetExceededError, IllegalScheduleError, UsageError) as error:
            refused.append((plan, str(error)))
    return None


def code_plans(schedule: Schedule, target: Target | None = None, *,
               parameters: Mapping[str, int] | None = None) -> tuple[CodePlan, ...]:
    """The candidates, the cheapest first; those whose images overlap by too much are left out."""
    target = target or host()
    scop = schedule.scop
    values = {**assumed_values(scop), **(parameters or {})}
    tree = from_isl(schedule.tree)
    amounts = _Amounts.of(scop, values)
    found: list[CodePlan] = []
    for step in _candidates(schedule, tree, values, target.cores):
        try:
            own = images(schedule.dependences, tree, step.dominant, step.sizes)
        except UsageError:
            continue
        if len(own) < len(scop.statements) or any(100 * i.recomputed(values) > step.most_again for i in own):
            continue
        found.append(_projected(scop, step, own, values, target, amounts))
    return tuple(sorted(found, key=lambda p: (p.seconds, -prod(p.step.sizes))))


def _candidates(schedule: Schedule, tree: LoopTree, values: Mapping[str, int], cores: int) -> Iterator[Stitch]:
    """Dominant statements, those with the most instances first, and edges of one or two of their loops."""
    scop = schedule.scop
    read = {d.source for d in schedule.dependences.pairs
            if d.kind is DependenceKind.FLOW and d.source != d.sink}
    last = sorted((s for s in scop.statements if s.name not in read),
                  key=lambda s: _count(s.domain, values), reverse=True)
    for statement in last[:LIMITS.most_dominant]:
        for edge in _edges(1, 2):
            yield Stitch(dominant=statement.name, sizes=(edge,))
        if statement.depth > 1:
            for edges in product(_edges(1, 4), _edges(1, 4)[-2:]):
                yield Stitch(dominant=statement.name, sizes=edges)
            for edge in _edges(1, 2)[:-1]:   # few rows of one matrix, whose values on the way are long rows
                yield Stitch(dominant=statement.name, sizes=(1, edge))
        for sizes in _equal_parts(_lengths(tree, statement, values), cores):
            yield Stitch(dominant=statement.name, sizes=sizes)


def _lengths(tree: LoopTree, statement: Statement, values: Mapping[str, int]) -> list[int]:
    """Iterations of the first two loops around a statement; none where it stands in several places."""
    try:
        around = list(loops_around(tree.root, statement))[:2]
    except UsageError:
        return []
    return [_count(isl.Map.from_pw_aff(f).intersect_domain(statement.domain).range(), values) for f in around]


def _equal_parts(lengths: Sequence[int], cores: int) -> Iterator[tuple[int, ...]]:
    """Edges of tiles of equal length, a few for each core, along one of the first two loops.

    Others leave a short tile at the end, whose blocks are cut off.
    """
    for k, length in enumerate(lengths):
        for parts in (cores * 2 ** n for n in range(LIMITS.most_parts_per_core.bit_length())):
            edge = -(-length // parts)
            if edge > 1 and edge & (edge - 1) and edge <= LIMITS.largest_stitched_edge:
                yield (*lengths[:k], edge)


def _count(points: isl.Set, values: Mapping[str, int]) -> int:
    """Points in the bounding box, for values of the parameters."""
    points = fix_parameters(points, values)
    if points.is_empty():
        return 0
    size = 1
    for k in range(points.dim(isl.dim_type.set)):
        low, high = points.dim_min_val(k), points.dim_max_val(k)
        size *= int(high.to_python()) - int(low.to_python()) + 1 if low.is_int() and high.is_int() else 1
    return size


def _rows_of_tiles(numbers: isl.Set, values: Mapping[str, int]) -> int:
    """Iterations of the loop that runs on threads: the outermost one over tiles that has more than one."""
    own = fix_parameters(numbers, values)
    for k in range(own.dim(isl.dim_type.set)):
        rows = _count(own.project_out(isl.dim_type.set, k + 1, own.dim(isl.dim_type.set) - k - 1).project_out(
            isl.dim_type.set, 0, k), {})
        if rows > 1:
            return rows
    return _count(own, {})


def _operations(statement: Statement) -> int:
    computed = sum(isinstance(part, (Binary, Unary, Call)) for e in statement_expressions(statement.body)
                   for part in walk(e))
    return max(1, computed + sum(item.op is not None for item in assignments(statement.body)))


def _cut_rows(statement: Statement, values: Mapping[str, int], lanes: int) -> float:
    """What lanes that short rows leave idle cost a sum, as a share of its operations; 0 where they are idle alone, too.

    A kernel of such a sum alone computes all rows of an image as one (`collapse_rows`), which a tile by rows forbids.
    A sum of rows (`s[i][0] += x[i][j]`) has no row. What is left of a row takes two shorter vectors, or one.
    """
    target = next(iter(statement.writes), None)
    if target is None or len(target.subscripts) < 2 or all(item.op is None for item in assignments(statement.body)):
        return 0.0
    last = target.subscripts[-1]
    along = [part for part in walk(last) if isinstance(part, IteratorRef)]
    own = [a for a in statement.accesses if any(part in walk(e) for e in a.subscripts for part in along)]
    if not along or any(a.subscripts[-2:] != target.subscripts[-2:] for a in own):
        return 0.0
    whole, rest = divmod(_count(target.relation.range().project_out(
        isl.dim_type.set, 0, target.relation.dim(isl.dim_type.out) - 1), values), lanes)
    vectors = whole + min(2, rest.bit_count())
    return max(0.0, vectors * lanes / max(1, whole * lanes + rest) - 1.0)


def _projected(scop: Scop, step: Stitch, own: tuple[Image, ...], values: Mapping[str, int],
               target: Target, amounts: _Amounts) -> CodePlan:
    """A candidate with its cost."""
    again = {i.statement: i.recomputed({**values}) for i in own if i.again}
    counts = {s: int(amounts.points[s.name] * (1 + again.get(s.name, 0.0))) * amounts.operations[s.name]
              for s in scop.statements}
    lasting = sum(amounts.bytes_touched[a.name] for a in scop.arrays if not a.is_temporary)
    scratch, spilled = _scratch(scop, own, values, target, amounts)
    most = max((i.tiles.range() for i in own), key=lambda numbers: _count(numbers, values))
    tiles, rows = _count(most, values), _rows_of_tiles(most, values)
    moved = lasting + spilled
    threads = max(1, min(target.cores, rows))
    busy = rows / ceil(rows / threads) if rows else 1.0
    memory = moved / (target.bandwidth(0) * busy)
    arithmetic = sum(count * (1 + _cut_rows(s, values, target.lanes(amounts.bits[s.name])))
                     / target.peak_flops(amounts.bits[s.name]) for s, count in counts.items()) / busy
    starts = (tiles * len(own) * target.costs.row_cycles / target.frequency_hz / busy
              + target.costs.team_seconds(threads))
    unhidden = (1 - target.costs.hidden_share) * min(memory, arithmetic)
    named = {"memory": memory, "arithmetic": arithmetic, "tiles": starts}
    return CodePlan(step=step, bytes_moved=moved, operations=sum(counts.values()), again=again, scratch_bytes=scratch,
                    tiles=tiles, seconds=max(memory, arithmetic) + unhidden + starts,
                    binding=max(named, key=named.__getitem__))


def _array_bytes(scop: Scop, name: str, values: Mapping[str, int]) -> int:
    """The elements of an array that the program touches, by their box."""
    array = scop.array(name)
    touched = [a.relation.range() for s in scop.statements for a in s.accesses if a.array == name]
    return max((_count(t, values) for t in touched), default=0) * array.dtype.bytes


def _scratch(scop: Scop, own: tuple[Image, ...], values: Mapping[str, int], target: Target,
             amounts: _Amounts) -> tuple[int, int]:
    """Bytes of temporaries that a tile keeps, and what goes to memory because they exceed a core's own cache."""
    by_name = {i.statement: i for i in own}
    kept, whole = 0, 0
    for array in (a for a in scop.arrays if a.is_temporary):
        boxes = [0]
        for statement in scop.statements:
            for access in (a for a in statement.writes if a.array == array.name):
                tiles = by_name[statement.name].tiles
                middle = _middle_tile(fix_parameters(tiles.range(), {**values}))
                boxes.append(_count(tiles.intersect_range(middle).domain().apply(access.relation), values))
        kept += max(boxes) * array.dtype.bytes
        whole += amounts.bytes_touched[array.name]
    fits = kept <= target.costs.usable_share * target.last_private.size_bytes
    return kept, 0 if fits else 2 * whole


def _middle_tile(numbers: isl.Set) -> isl.Set:
    for k in range(numbers.dim(isl.dim_type.set)):
        low, high = numbers.dim_min_val(k), numbers.dim_max_val(k)
        if low.is_int() and high.is_int():
            middle = (int(low.to_python()) + int(high.to_python())) // 2
            numbers = numbers.fix_val(isl.dim_type.set, k, isl_value(middle))
    return numbers
