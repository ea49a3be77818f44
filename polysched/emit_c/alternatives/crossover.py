"""`crossover`: from which sizes on the transformed code pays, by the models.

Three things cost time whatever is gained by them: starting a team of threads (as often as the loops around it run),
starting an innermost loop (once per row), and memory from the heap.  What is gained is half of the time that the
statements take as they are written, data being in the first cache: two threads halve it, and vectors and tiles do no
less.  Besides, a register block with fewer rows than it has registers for, or sums of a few addends, never gets to
what it is for, and a copy that threads share has to be read by several blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import ceil

import islpy as isl

from polysched.dependence.parameter_sizes import largest_parameters
from polysched.emit_c.c_source import CSource
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.loops import For, Node, ThreadReduction
from polysched.emit_c.loop_ir.traversal import child_nodes, instances, statements_in_blocks, walk_nodes
from polysched.emit_c.register_tiles.shared_panels import shared_panels
from polysched.emit_c.scalar_code.size_text import operand, size_text
from polysched.records import dataclass
from polysched.scheduling.marks import Gaps, LoopMark, Role
from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
from polysched.scop.assumptions import ASSUMED
from polysched.scop.body import Call, statement_expressions
from polysched.scop.body import walk as expression_parts
from polysched.scop.budget import with_budget
from polysched.scop.points import fix_parameters, value_at
from polysched.scop.scop import Scop, Statement
from polysched.target.target import Target
from polysched.tiling.footprints.point_count import point_count
from polysched.tiling.planning.predict import predict
from polysched.tiling.planning.read_in_place import FEWEST_PANEL_READS
from polysched.tiling.tree.distribute import sets_of
from polysched.tiling.tree.loops import loops_below
from polysched.tiling.tree.rows_in_step import ROWS

GAIN = LIMITS.gain_share
FEWEST_STEPS = LIMITS.fewest_steps
SMALL = LIMITS.timed_size
MODEL_OPERATIONS = LIMITS.model_operations
LEAST_SECONDS = LIMITS.least_seconds
INSTRUCTIONS = frozenset(name + suffix for suffix in ("", "f") for name in (
    "abs", "labs", "fabs", "sqrt", "fmin", "fmax", "copysign", "ceil", "floor", "trunc", "rint", "nearbyint"))
"""Functions that compilers make an instruction or two of."""


@dataclass(frozen=True)
class Crossover:
    """From which sizes on transformed code pays.

    Parameters
    ----------
    conditions : in C, over the parameters; all have to hold.  Empty where they hold for all sizes.
    never : no sizes that arrays of constant extents allow are large enough, even if the work itself took no time.
    """

    conditions: tuple[str, ...] = ()
    never: bool = False

    def __str__(self) -> str:
        return " and ".join(self.conditions)


@dataclass(frozen=True, eq=False)
class _Box:
    """The length of the range of each iterator of a statement, over the parameters."""

    statement: Statement
    extents: tuple[isl.PwAff, ...]


def crossover(source: CSource, target: Target) -> Crossover:
    """The sizes for which the models say that the transformed code is no slower than the original.

    The work is that of the statements with the same box around their instances that take longest; where iterations
    have no known bound, nothing is said.

    Parameters
    ----------
    target : the machine that the code was made for.
    """
    scop = source.scop
    found = _most_work(source, target)
    if found is None:
        return Crossover()
    largest, gain, loops = found
    costs = target.costs
    starts = loops * costs.row_cycles / target.frequency_hz
    team = target.team_seconds
    rows = largest.extents[:-1]
    terms: list[tuple[float, tuple[isl.PwAff, ...]]] = []
    for _, around in _entered_teams(source):
        terms += [(team, around), (team, ())]   # once at least, however loops around it round their lengths
    terms += [(costs.allocation_seconds, ())] * (len(source.allocated) + len(shared_panels(source.loops)))
    never = _never(scop, largest, gain / GAIN, terms)
    terms = [*([(starts, rows)] if largest.extents else []), *terms]
    conditions = [_enough(scop, largest, [(seconds / gain, extents) for seconds, extents in terms])]
    fewest: dict[str, int] = {}
    for length, count in (*_fewest(source), *_in_step(source)):
        fewest[length] = max(count, fewest.get(length, 0))
    conditions += [f"{operand(length)} >= {count}" for length, count in fewest.items()]
    return Crossover(tuple(filter(None, conditions)), never)


def entered(source: CSource, target: Target) -> Crossover:
    """The sizes for which the transformed code saves more than it takes to be entered, whatever its loops do.

    Those are memory from the heap, and teams, of one thread where their clause says so.  `crossover` also counts what
    the loops cost that begin, and asks for blocks that are full; here only calls that have next to nothing to do are
    left to the original.
    """
    costs, scop = target.costs, source.scop
    terms = [(target.team_seconds if always else costs.lone_team_seconds, around)
             for always, around in _entered_teams(source)]
    terms += [(costs.small_block_seconds, ())] * (len(source.allocated) + len(shared_panels(source.loops)))
    found = _most_work(source, target) if terms else None
    if found is None:
        return Crossover()
    largest, gain, _ = found
    if all(extent.is_cst() for extent in largest.extents):
        return Crossover()   # `crossover` has said whether it ever pays
    return Crossover(tuple(filter(None, [_enough(scop, largest, [(seconds / gain, around)
                                                                 for seconds, around in terms])])))


def _most_work(source: CSource, target: Target) -> tuple[_Box, float, int] | None:
    """The box around the instances that take longest, the seconds that an iteration saves, and its statements."""
    scop = source.scop
    timed = _times_as_written(source, target)
    boxes = [box for statement in scop.statements if (box := _box(scop, statement)) is not None]
    saved: dict[str, float] = {}
    loops: Counter[str] = Counter()
    for box in boxes:
        text = _product(scop, box.extents)
        saved[text] = saved.get(text, 0.0) + GAIN * timed(box.statement) * _share(box)
        loops[text] += 1
    largest = max(boxes, default=None, key=lambda box: (
        _size(box.extents, ASSUMED.typical_size) * saved[_product(scop, box.extents)]))
    if largest is None:
        return None
    work = _product(scop, largest.extents)
    return largest, saved[work], loops[work]


def _never(scop: Scop, work: _Box, seconds: float, costs: list[tuple[float, tuple[isl.PwAff, ...]]]) -> bool:
    """Whether the work as written takes less than teams and memory at the largest sizes that arrays allow.

    Parameters
    ----------
    seconds : of one execution of the statements as written.
    """
    capped = largest_parameters(scop)
    most = _size_at(work.extents, capped) if capped else None
    times = [_size_at(extents, capped) for _, extents in costs] if most is not None else [None]
    if most is None or None in times:
        return False
    spent = sum(cost * (count or 0) for (cost, _), count in zip(costs, times, strict=True))
    return seconds * most < max(spent, LEAST_SECONDS)


def _enough(scop: Scop, work: _Box, costs: list[tuple[float, tuple[isl.PwAff, ...]]]) -> str:
    """`work >= costs` in C; empty where known sizes are enough."""
    known = 0.0
    repeated: dict[str, float] = {}
    for cost, extents in costs:
        if all(extent.is_cst() for extent in extents):
            known += cost * _size(extents, 1)
        else:
            text = _product(scop, extents)
            repeated[text] = repeated.get(text, 0.0) + cost
    if not repeated and all(extent.is_cst() for extent in work.extents) and _size(work.extents, 1) >= known:
        return ""
    terms = [f"{ceil(cost)} * {text}" for text, cost in repeated.items()]
    return f"{_product(scop, work.extents)} >= {' + '.join([*terms, *([str(ceil(known))] if known else [])]) or 1}"


def work_as_written(scop: Scop) -> tuple[str, ...] | None:
    """The sizes of the boxes around the instances of statements in C, each once; None where one has no bound."""
    boxes = [_box(scop, s) for s in scop.statements if not s.domain.intersect_params(scop.context).is_empty()]
    known = [box for box in boxes if box is not None]
    return tuple(dict.fromkeys(_product(scop, box.extents) for box in known)) if len(known) == len(boxes) else None


def _product(scop: Scop, extents: tuple[isl.PwAff, ...]) -> str:
    return f"(double){' * '.join(f'({size_text(scop, extent)})' for extent in extents) or '1'}"


def _fewest(source: CSource) -> Iterator[tuple[str, int]]:
    """Lengths of loops in C, and how long these have to be for a register block."""
    scop, schedule = source.scop, source.tiled.schedule
    made = statements_in_blocks(source.loops)
    bands = [node for node in walk(from_isl(schedule.tree).root) if isinstance(node, Band)]
    reads = FEWEST_PANEL_READS if shared_panels(source.loops) else 1
    for tiling in source.tiled.bands:
        if tiling.plan is None or tiling.plan.shape is None or tiling.plan.shape.statement not in made:
            continue
        shape, band = tiling.plan.shape, bands[tiling.band]
        members = (*band.members, *loops_below(band))
        domain = scop.statement(shape.statement).domain.intersect_params(scop.context)
        straight = tiling.plan.nest.is_straight(shape.rows, shape.columns)
        least = [(shape.rows, shape.row_count * reads), *((loop, FEWEST_STEPS) for loop in shape.inner[:1])]
        least += [] if straight else [(shape.columns, 2 * shape.column_count)]
        for loop, count in least:
            extent = _extent(domain, members[loop])
            if extent is not None and not extent.is_cst():
                yield size_text(scop, extent), count


def _in_step(source: CSource) -> Iterator[tuple[str, int]]:
    """Lengths of rows in C, and how long these have to be for several rows in step to be busy for some time.

    What is in front of the columns where all rows are busy, and behind them, is computed row by row.
    """
    scop = source.scop
    for node in (n for n in walk_nodes(source.loops) if isinstance(n, For) and n.behind):
        for instance in instances(node.body):
            domain = scop.statement(instance.statement).domain.intersect_params(scop.context)
            moved = [k for k, value in enumerate(instance.iterators) if node.variable in value.variables]
            extent = _length(domain, moved[-1]) if moved else None
            if extent is not None and not extent.is_cst():
                yield size_text(scop, extent), node.behind + ROWS


def _entered_teams(source: CSource) -> Iterator[tuple[bool, tuple[isl.PwAff, ...]]]:
    """Per team of threads whether no clause leaves it one thread, and how often it starts: the lengths around it.

    Teams that stand in a branch of their own start only where that pays.
    """
    functions = _functions(source)
    filling = len(shared_panels(source.loops))
    started = source.teams - len(source.tested_teams) - filling
    found = [(_always_starts(loop), _lengths(around, functions)) for loop, around in _teams(source.loops, ())
             if (loop.mark.band, loop.mark.member) not in source.tested_teams][:max(started, 0)]
    yield from found
    yield from [(False, max((around for _, around in found), key=len, default=()))] * (started - len(found))
    yield from [(False, ())] * filling


def _always_starts(loop: For) -> bool:
    """Whether no clause leaves a loop's team one thread."""
    length, least = loop.upper - loop.lower, loop.mark.least_iterations
    enough = least <= 1 or (length.is_constant and length.constant >= least * loop.step)
    return enough and loop.mark.least_work <= 1


def _teams(node: Node, around: tuple[LoopMark, ...]) -> Iterator[tuple[For, tuple[LoopMark, ...]]]:
    """The loops on threads and the loops around each, outermost first."""
    if isinstance(node, ThreadReduction):
        yield node.whole, around
        return
    if isinstance(node, For):
        if node.mark.parallel:
            yield node, around
            return
        around = (*around, node.mark)
    for child in child_nodes(node):
        yield from _teams(child, around)


Functions = dict[tuple[int, int, Role], tuple[isl.Set, isl.UnionPwAff]]
"""By band, member and role: the deepest statement below a loop and the loop's function."""


def _functions(source: CSource) -> Functions:
    tree = from_isl(source.tiled.tree)
    found: Functions = {}
    for node in walk(tree.root):
        if isinstance(node, Band) and node.mark is not None:
            parts = sets_of(tree.domain.intersect(node.members[0].domain()))
            if parts:
                deepest = max(parts, key=lambda part: part.dim(isl.dim_type.set))
                found.setdefault((node.mark.band, node.mark.member, node.mark.role), (deepest, node.members[0]))
    return found


def _lengths(around: tuple[LoopMark, ...], functions: Functions) -> tuple[isl.PwAff, ...]:
    """The lengths of loops; of tiles and what is in them only that of the whole."""
    inner = {(mark.band, mark.member): at for at, mark in enumerate(around)}
    kept = [(mark.band, mark.member, Role.POINT if mark.gaps is Gaps.STEPS else mark.role)
            for at, mark in enumerate(around) if mark.role is Role.WAVEFRONT or inner[mark.band, mark.member] == at]
    found = [_extent(*functions[key]) for key in kept if key in functions]
    return tuple(extent for extent in found if extent is not None)


def _extent(domain: isl.Set, member: isl.UnionPwAff) -> isl.PwAff | None:
    """The length of the range of a loop, over the parameters; None where it has no bound."""
    pieces = member.intersect_domain_space(domain.get_space()).get_pw_aff_list()
    if not pieces.n_pw_aff():
        return None
    return _length(domain.apply(isl.Map.from_pw_aff(pieces.get_at(0))), 0)


def _length(domain: isl.Set, at: int) -> isl.PwAff | None:
    one = isl.Val.one(isl.DEFAULT_CONTEXT)
    if domain.is_empty() or not (domain.dim_has_any_lower_bound(isl.dim_type.set, at)
                                 and domain.dim_has_any_upper_bound(isl.dim_type.set, at)):
        return None
    length = domain.dim_max(at).sub(domain.dim_min(at)).add_constant_val(one)
    return _typical(length.project_domain_on_params().coalesce())


def _typical(length: isl.PwAff) -> isl.PwAff:
    """The one expression that a length has at a typical size, at all sizes."""
    pieces = length.get_pieces()
    if len(pieces) == 1:
        return isl.PwAff.from_aff(pieces[0][1])
    here = (aff for where, aff in pieces if not _at(where, ASSUMED.typical_size).is_empty())
    return isl.PwAff.from_aff(next(here, pieces[0][1]))


def _box(scop: Scop, statement: Statement) -> _Box | None:
    domain = statement.domain.intersect_params(scop.context)
    extents = [_length(domain, k) for k in range(statement.depth)]
    known = tuple(extent for extent in extents if extent is not None)
    return _Box(statement, known) if len(known) == len(extents) and not domain.is_empty() else None


def _size(extents: tuple[isl.PwAff, ...], value: int) -> int:
    """The number of points of a box where every parameter has one value."""
    size = 1
    for extent in extents:
        at = _at(isl.Set.from_pw_aff(extent), value)
        size *= 0 if at.is_empty() else int(at.dim_max_val(0).to_python())
    return size


def _size_at(extents: tuple[isl.PwAff, ...], values: Mapping[str, int]) -> int | None:
    """The number of points of a box for values of parameters; None where that depends on others."""
    size = 1
    for extent in extents:
        names = [extent.get_dim_name(isl.dim_type.param, k) or "" for k in range(extent.dim(isl.dim_type.param))]
        if any(name not in values and extent.involves_dims(isl.dim_type.param, k, 1) for k, name in enumerate(names)):
            return None
        size *= value_at(extent, {name: values.get(name, 1) for name in names})
    return size


def _at(points: isl.Set, value: int) -> isl.Set:
    """The set where every parameter has one value."""
    names = (points.get_dim_name(isl.dim_type.param, k) for k in range(points.dim(isl.dim_type.param)))
    return fix_parameters(points, {name: value for name in names if name is not None})


def _share(box: _Box) -> float:
    """The part of its box that a statement fills, where all parameters are `SMALL`; at most all of it."""
    whole = _size(box.extents, SMALL)
    points = with_budget(MODEL_OPERATIONS, lambda: point_count(
        _at(box.statement.domain, SMALL))) if whole > 0 else None
    return min(1.0, points / whole) if points else 1.0


def _times_as_written(source: CSource, target: Target) -> Callable[[Statement], float]:
    """Seconds that one execution of a statement takes in the order as written, the data being in the first cache."""
    scop = source.scop
    made = with_budget(MODEL_OPERATIONS, partial(
        predict, source.tiled.schedule.dependences, scop.schedule, target=target,
        parameters={p.name: SMALL for p in scop.parameters}))

    def seconds(statement: Statement) -> float:
        own = [nest for nest in (made.nests if made else ()) if statement.name in nest.statements]
        executions = sum(nest.nest.instances * nest.nest.density for nest in own)
        calls = sum(isinstance(part, Call) and part.function not in INSTRUCTIONS
                    for top in statement_expressions(statement.body) for part in expression_parts(top))
        known = sum(nest.core_seconds for nest in own) / executions if executions else 0.0
        called = calls * target.costs.call_cycles / target.frequency_hz
        return (known or target.costs.unknown_statement_seconds) + called

    return seconds
