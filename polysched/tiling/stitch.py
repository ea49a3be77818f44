"""Code plans of one stitched kernel: which statement is dominant, how large its tiles are, and what that costs.

    plans = code_plans(schedule, target)        # the cheapest first
    stitched = stitch(schedule, target)         # the first of them that every check accepts

The candidates are few: the statements that others read nothing of, and edges of their outer loops.  The cost of each is
projected: bytes over bandwidth, operations over peak, tiles over cores.

Source: Z. Zheng et al., "AStitch", ASPLOS 2022, section 4; "FusionStitching", arXiv 2009.10924, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import islpy as isl

from polysched.dependence.dependences import DependenceKind
from polysched.errors import BudgetExceededError, IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives.images import Image, assumed_values, images
from polysched.scheduling.primitives.stitch import Stitch
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import from_isl
from polysched.scop.body import Binary, Call, Unary, statement_expressions, walk
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
    found: list[CodePlan] = []
    whole = _Whole(scop, values)
    for step in _candidates(schedule, whole):
        try:
            own = images(schedule.dependences, tree, step.dominant, step.sizes)
        except UsageError:
            continue
        if len(own) < len(scop.statements) or any(100 * i.recomputed(values) > step.most_again for i in own):
            continue
        found.append(_projected(whole, step, own, target))
    return tuple(sorted(found, key=lambda p: (p.seconds, -prod(p.step.sizes))))


@dataclass(frozen=True, eq=False)
class _Whole:
    """What all candidates of a program have in common."""

    scop: Scop
    values: Mapping[str, int]

    @cached_property
    def instances(self) -> dict[str, int]:
        """Per statement."""
        return {s.name: _count(s.domain, self.values) for s in self.scop.statements}

    @cached_property
    def array_bytes(self) -> dict[str, int]:
        """The elements of arrays that the program touches, by their box."""
        touched: dict[str, int] = {}
        for access in (a for s in self.scop.statements for a in s.accesses):
            count = _count(access.relation.range(), self.values)
            touched[access.array] = max(count, touched.get(access.array, 0))
        return {a.name: touched.get(a.name, 0) * a.dtype.bytes for a in self.scop.arrays}


def _candidates(schedule: Schedule, whole: _Whole) -> Iterator[Stitch]:
    """Dominant statements, those with the most instances first, and edges of one or two of their loops."""
    scop = schedule.scop
    read = {d.source for d in schedule.dependences.pairs
            if d.kind is DependenceKind.FLOW and d.source != d.sink}
    last = sorted((s for s in scop.statements if s.name not in read),
                  key=lambda s: whole.instances[s.name], reverse=True)
    for statement in last[:LIMITS.most_dominant]:
        for edge in _edges(1, 2):
            yield Stitch(dominant=statement.name, sizes=(edge,))
        if statement.depth > 1:
            for edges in product(_edges(1, 4), _edges(1, 4)[-2:]):
                yield Stitch(dominant=statement.name, sizes=edges)
            for edge in _edges(1, 2)[:-1]:   # few rows of one matrix, whose values on the way are long rows
                yield Stitch(dominant=statement.name, sizes=(1, edge))


def _count(points: isl.Set, values: Mapping[str, int]) -> int:
    """Points in the bounding box, for values of the parameters."""
    points = fix_parameters(points, {**values})
    if points.is_empty():
        return 0
    size = 1
    for k in range(points.dim(isl.dim_type.set)):
        low, high = points.dim_min_val(k), points.dim_max_val(k)
        size *= int(high.to_python()) - int(low.to_python()) + 1 if low.is_int() and high.is_int() else 1
    return size


def _operations(statement: Statement) -> int:
    return max(1, sum(1 for e in statement_expressions(statement.body) for part in walk(e) if
                      isinstance(part, (Binary, Unary, Call))))


def _projected(whole: _Whole, step: Stitch, own: tuple[Image, ...], target: Target) -> CodePlan:
    """A candidate with its cost."""
    scop, values = whole.scop, whole.values
    again = {i.statement: i.recomputed({**values}) for i in own if i.again}
    operations = sum(int(whole.instances[s.name] * (1 + again.get(s.name, 0.0))) * _operations(s)
                     for s in scop.statements)
    lasting = sum(whole.array_bytes[a.name] for a in scop.arrays if not a.is_temporary)
    scratch, spilled = _scratch(whole, own, target)
    tiles = _count(own[0].tiles.range(), values)
    for image in own:
        tiles = max(tiles, _count(image.tiles.range(), values))
    moved = lasting + spilled
    threads = max(1, min(target.cores, tiles))
    memory = moved / (target.bandwidth(0) * threads)
    width = max(a.dtype.bits for a in scop.arrays)
    arithmetic = operations / (target.peak_flops(width) * threads)
    starts = (tiles * len(own) * target.costs.row_cycles / target.frequency_hz / threads
              + target.costs.team_seconds(threads))
    unhidden = (1 - target.costs.hidden_share) * min(memory, arithmetic)
    named = {"memory": memory, "arithmetic": arithmetic, "tiles": starts}
    return CodePlan(step=step, bytes_moved=moved, operations=operations, again=again, scratch_bytes=scratch,
                    tiles=tiles, seconds=max(memory, arithmetic) + unhidden + starts,
                    binding=max(named, key=named.__getitem__))


def _scratch(whole: _Whole, own: tuple[Image, ...], target: Target) -> tuple[int, int]:
    """Bytes of temporaries that a tile keeps, and what goes to memory because they exceed a core's own cache."""
    scop, values, by_name = whole.scop, whole.values, {i.statement: i for i in own}
    kept, every = 0, 0
    for array in (a for a in scop.arrays if a.is_temporary):
        boxes = [0]
        for statement in scop.statements:
            for access in (a for a in statement.writes if a.array == array.name):
                tiles = by_name[statement.name].tiles
                middle = _middle_tile(fix_parameters(tiles.range(), {**values}))
                boxes.append(_count(tiles.intersect_range(middle).domain().apply(access.relation), values))
        kept += max(boxes) * array.dtype.bytes
        every += whole.array_bytes[array.name]
    fits = kept <= target.costs.usable_share * target.last_private.size_bytes
    return kept, 0 if fits else 2 * every


def _middle_tile(numbers: isl.Set) -> isl.Set:
    for k in range(numbers.dim(isl.dim_type.set)):
        low, high = numbers.dim_min_val(k), numbers.dim_max_val(k)
        if low.is_int() and high.is_int():
            middle = (int(low.to_python()) + int(high.to_python())) // 2
            numbers = numbers.fix_val(isl.dim_type.set, k, isl_value(middle))
    return numbers
