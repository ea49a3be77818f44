"""The whole way of one region, the only place that knows its order, with every retry and fallback."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import chain

from polysched.dependence.carried_values import carries_values, substitute_carried
from polysched.dependence.dependences import Dependences
from polysched.dependence.expansion import Expansion, is_affordable
from polysched.dependence.parameter_sizes import largest_parameters
from polysched.dependence.substitution import substitute_temporaries
from polysched.emit_c import (
    CSource,
    EmitOptions,
    Lowered,
    Scan,
    crossover,
    guarded,
    lower,
    original_when_small,
    printed,
    scan,
    untestable,
)
from polysched.emit_c.alternatives.crossover import Crossover, entered
from polysched.emit_c.alternatives.safe import as_written
from polysched.emit_c.alternatives.threads_alone import threads_alone
from polysched.emit_c.alternatives.unit_strides import unit_strides, with_unit_strides
from polysched.emit_c.scalar_code.work import loops_in_lanes, runs_as_much
from polysched.errors import BudgetExceededError, NoLoopsError, PolyschedError
from polysched.pipeline.callers_threads import for_callers_threads
from polysched.pipeline.instructed import (
    Begun,
    Refused,
    by_instruction_alone,
    first_decision,
    for_instructions,
    with_instructions,
)
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.options import BEST, PipelineOptions
from polysched.pipeline.search_choices import with_chosen_schedule
from polysched.pipeline.stages import analysed, scheduled
from polysched.pipeline.timing import timed
from polysched.pipeline.unchanged import reason_for_original
from polysched.records import dataclass
from polysched.scop.construction.rows_in_order import with_rows_in_order
from polysched.scop.scop import Scop
from polysched.target.scratchpads import SCRATCHPADS
from polysched.tiling import tile
from polysched.tiling.lesser_schedules import lesser_schedules
from polysched.tiling.options import TilingOptions
from polysched.tiling.tiled_schedule import TiledSchedule

_LOG = logging.getLogger(__name__)


def optimized_region(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> Optimized:
    """All stages for one region; what was given up on the way is in the values.

    Parameters
    ----------
    seconds : wall time per stage, added to.

    Raises
    ------
    PolyschedError : any stage refuses.
    """
    # the rooms of devices are loaded where one is asked for: they take a tenth of the time to import the pipeline
    if options.device in SCRATCHPADS:
        from polysched.pipeline.accelerator_way import accelerator_region
        return _with_guard(accelerator_region(scop, options, seconds))
    if options.device is not None:
        from polysched.pipeline.device_way import device_region
        return _with_guard(device_region(scop, options, seconds))
    return for_callers_threads(scop, options, lambda chosen: _for_rows(scop, chosen, seconds))


def _for_rows(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> Optimized:
    """The region, with rows of a sparse matrix taken for apart where a loop ahead of it finds them so.

    That loop and a version of the region are worth it where something gains.  Where no loop can look at the rows ahead
    of the region, they are not taken for apart.
    """
    in_order = with_rows_in_order(scop) if scop.source is not None and options.is_by_model else None
    if in_order is not None and not any(a.rows for a in untestable(in_order)):
        made = _for_strides(in_order, options, seconds)
        if not made.as_written and not made.source.preamble:
            return made
    return _for_strides(scop, options, seconds)


def _for_strides(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> Optimized:
    """The region, in two versions where strides that are parameters may be 1 in the running program.

    Compilers are told nothing of lanes where strides are others: they read single elements either way.
    """
    special = unit_strides(scop) if scop.source is not None and options.is_by_model else None
    if special is None:
        return _region(scop, options, seconds)
    unit = _region(special.scop, options, seconds)
    if unit.as_written or unit.source.preamble:
        return _region(scop, options, seconds)
    general = _region(scop, options.but(simd=False), seconds)
    return replace(general, source=with_unit_strides(general.source, unit.source, special.condition))


def _region(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> Optimized:
    """All stages, whoever runs the region."""
    return _started(scop, options, seconds).finished()


@dataclass(frozen=True, eq=False)
class Started:
    """A region whose first instruction is decided; its check may still run.

    Parameters
    ----------
    seconds : wall time per stage so far.
    """

    scop: Scop
    options: PipelineOptions
    expansion: Expansion
    begun: Begun | Refused | None
    seconds: dict[str, float]

    @cached_property
    def alone(self) -> CSource | None:
        """The region by an instruction alone (`by_instruction_alone`); None where it needs its ordinary code."""
        if not isinstance(self.begun, Begun):
            return None
        return by_instruction_alone(self.expansion, self.options, self.begun, _emitted)

    def is_right(self) -> bool:
        """Whether the code with the instruction computes what the region does; waits for the check."""
        assert isinstance(self.begun, Begun)
        return self.begun.verdict is None or self.begun.verdict.result().outcome.equal

    def finished(self) -> Optimized:
        """All stages; behind this nothing runs that nobody waited for."""
        try:
            return _with_original(_made(self.scop, self.expansion, self.begun, self.options, self.seconds))
        finally:
            if isinstance(self.begun, Begun) and self.begun.verdict is not None:
                self.begun.verdict.wait()


def started_region(scop: Scop, options: PipelineOptions) -> Started | None:
    """A region up to its first instruction; None where its code depends on more: a source file, a database, `safe`,
    measured plans, the best of several schedules.

    Choices by hand are refused by the stages of ordinary code, so these come first.
    """
    if scop.source is not None or options.database is not None or options.safe or options.guard:
        return None
    if not options.is_by_model or options.scheduler == BEST:
        return None
    wanted = options.instructions_for(scop)
    if wanted is None or wanted.measure:
        return None
    return _started(scop, options, {})


def _started(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> Started:
    expansion = timed(seconds, "dependences", lambda: analysed(
        scop, expand=options.expand, vector_bytes=options.collapses_for(), row_loss=options.row_loss,
        turn=options.is_by_model))
    return Started(scop, options, expansion, first_decision(scop, expansion, options, seconds), seconds)


def _made(scop: Scop, expansion: Expansion, begun: Begun | Refused | None, options: PipelineOptions,
          seconds: dict[str, float]) -> Optimized:
    """The stages behind the dependences, without the original code."""
    lowered = _lowered(expansion.dependences, options, seconds)
    too_large = {a for a in lowered.allocated if not is_affordable(lowered.scop, a)}
    kept: frozenset[str] = frozenset()
    instead_of = {copied.copy: copied.array for copied in expansion.last_values}
    if too_large:
        kept = frozenset(instead_of.get(a.before, a.before) for a in expansion.arrays if a.name in too_large)
        expansion = timed(seconds, "dependences", lambda: analysed(
            scop, but=kept, vector_bytes=options.collapses_for(), row_loss=options.row_loss,
            turn=options.is_by_model, known=expansion.given))
        lowered = _lowered(expansion.dependences, options, seconds)
    expansion, lowered = _with_values(scop, expansion, lowered, options, seconds, but=kept)
    source = ordinary = timed(seconds, "emitted", lambda: printed(lowered))
    reasons: tuple[str, ...] = ()
    if options.instructions_for(scop) is not None:
        source, reasons = timed(seconds, "tensorized", lambda: with_instructions(
            begun.scop if begun is not None and not kept else for_instructions(scop, expansion, options, kept).scop,
            source, options, given=scop, begun=None if kept else begun, emit=_emitted))
    if source is ordinary:
        source = timed(seconds, "emitted", lambda: _for_threads(lowered, ordinary, options))
    pays = crossover(source, options.target()) if _has_crossover(scop, options) else None
    return Optimized(scop=scop, dependences=expansion.dependences, schedule=source.tiled.schedule, tiled=source.tiled,
                     source=source, options=options, seconds=seconds, expanded=expansion.arrays,
                     unexpanded=tuple(sorted(instead_of.get(a, a) for a in too_large)), instructions=reasons,
                     pays=pays, moved=expansion.moved, collapsed=expansion.collapsed,
                     last_values=expansion.last_values)


def _has_crossover(scop: Scop, options: PipelineOptions) -> bool:
    """Whether it matters from which sizes on the code pays."""
    return scop.source is not None and (options.safe or bool(largest_parameters(scop)))


def _for_threads(lowered: Lowered, ordinary: CSource, options: PipelineOptions) -> CSource:
    """The region's text; of a file, where threads alone gain, without code for sizes for which the original runs."""
    if ordinary.scop.source is None or not options.is_by_model:
        return ordinary
    alone = threads_alone(lowered)
    return ordinary if alone is None else replace(printed(alone[0]), threads_pay=alone[1])


def _with_original(made: Optimized) -> Optimized:
    """The region with its original code: for all sizes, for those where ours does not pay, or for what is assumed."""
    source, options = made.source, made.options
    if reason := reason_for_original(made):
        return replace(made, source=as_written(source), pays=None, as_written=reason)
    pays = Crossover((source.threads_pay,)) if source.threads_pay else made.pays if options.safe else _entered(made)
    made = _with_guard(replace(made, pays=pays), pays)
    if options.safe:
        return made
    return replace(made, pays=None, source=replace(made.source, pays=""))   # one function has both kinds of loops


def _entered(made: Optimized) -> Crossover | None:
    """The sizes for which a region of a file is worth being entered; None where that is no question."""
    region, options = made.scop.source, made.options
    if region is None or not region.whole or not options.is_by_model or made.source.preamble:
        return None
    found = entered(made.source, options.target())
    return found if found.conditions else None


def _with_guard(made: Optimized, pays: Crossover | None = None) -> Optimized:
    """The region with its original code for what is assumed, where that is tested, and where ours does not pay.

    What `Assumption.is_always_tested` says is tested in every region of a file; who calls others sees to their sizes.
    """
    options, scop = made.options, made.scop
    if not options.guard and not (options.is_guarded and scop.source is not None):
        scop = replace(scop, assumptions=tuple(a for a in scop.assumptions if scop.source and a.is_always_tested))
        if not scop.assumptions:
            return made if pays is None else replace(made, source=original_when_small(made.source, pays))
    return replace(made, source=guarded(
        made.source, scop, team_iterations=options.emit_options().team_iterations, pays=pays))


def _with_values(scop: Scop, expansion: Expansion, lowered: Lowered, options: PipelineOptions,
                 seconds: dict[str, float], *, but: frozenset[str]) -> tuple[Expansion, Lowered]:
    """Scalars computed where they are read, if that spares streams or lets loops run in lanes; else what was given.

    Statements stay together where copies of scalars in memory, one per iteration, would be all that taking them apart
    brings.
    """
    def made(values: Callable[[Dependences], Dependences]) -> tuple[Expansion, Lowered]:
        new = timed(seconds, "dependences", lambda: analysed(
            scop, but=but, vector_bytes=options.collapses_for(), row_loss=options.row_loss, turn=options.is_by_model,
            values=values, known=expansion.given))
        return new, _lowered(new.dependences, options, seconds)

    if _has_streams(lowered, expansion):
        other = made(substitute_temporaries)
        if not _has_streams(other[1], other[0]):
            return other
    if lowered.allocated and options.expand and options.is_by_model and options.fusion != "max":
        together = _lowered(expansion.dependences, options.but(fusion="max"), seconds)
        if not together.allocated and runs_as_much(together.loops, lowered.loops):
            return expansion, together
    if options.expand and carries_values(expansion.dependences):
        other = made(substitute_carried)
        if loops_in_lanes(other[1].loops) > loops_in_lanes(lowered.loops) and not other[1].allocated:
            return other
    return expansion, lowered


def _has_streams(lowered: Lowered, expansion: Expansion) -> bool:
    """Whether scalars became arrays in memory with an element per iteration, as costly as what the loops compute."""
    scalars = {a.name: len(a.loops) for a in expansion.arrays if a.name in lowered.allocated}
    depths = {name: {s.depth for s in lowered.scop.statements if name in {a.array for a in s.accesses}}
              for name in scalars}
    return any(depths[name] == {loops} for name, loops in scalars.items())


def _emitted(dependences: Dependences, options: PipelineOptions) -> CSource:
    """From dependences to C."""
    return printed(_lowered(dependences, options, {}))


def _lowered(dependences: Dependences, options: PipelineOptions, seconds: dict[str, float]) -> Lowered:
    """From dependences to loops: the schedule asked for; the best of several is found by tiling all of them."""
    tiling = options.tiling_of(dependences.scop)
    if options.strategy is None and options.scheduler == BEST:
        def tiled_by(how: TilingOptions) -> TiledSchedule:
            return timed(seconds, "schedule", lambda: with_chosen_schedule(
                dependences, options.scheduler_options(), how))
    else:
        schedule = timed(seconds, "schedule", lambda: scheduled(dependences, options))

        def tiled_by(how: TilingOptions) -> TiledSchedule:
            return timed(seconds, "tiled", lambda: tile(schedule, how, alone=False))
    emission = options.emit_options()
    return lowered_blocks(tiled_by, tiling, lambda tiled: timed(
        seconds, "emitted", lambda: lowered_with_fallbacks(tiled, emission)))


def emit_blocks(tiled_by: Callable[[TilingOptions], TiledSchedule], tiling: TilingOptions,
                options: EmitOptions) -> CSource:
    """Tile, lower until every register block is vector code, and emit; parameters as for `lowered_blocks`."""
    return printed(lowered_blocks(tiled_by, tiling, lambda tiled: lowered_with_fallbacks(tiled, options)))


def lowered_blocks(tiled_by: Callable[[TilingOptions], TiledSchedule], tiling: TilingOptions,
                   lowered_by: Callable[[TiledSchedule], Lowered]) -> Lowered:
    """Tile and lower, until every register block is vector code; `TiledSchedule.fallbacks` says for which statements.

    Parameters
    ----------
    tiled_by : tiles the program, as the options say.
    lowered_by : what makes the loops.

    Raises
    ------
    PolyschedError : tiling or lowering refuses.
    """
    while True:
        lowered = lowered_by(tiled_by(tiling))
        if not lowered.blocks_without_code:
            return lowered
        tiling = replace(tiling, unblocked=tiling.unblocked | lowered.blocks_without_code)


def lowered_with_fallbacks(tiled: TiledSchedule, options: EmitOptions) -> Lowered:
    """The loops of a schedule, or of what is left of it where isl's generator finds none.

    Raises
    ------
    BudgetExceededError, NoLoopsError : as for `scanned_with_fallbacks`.
    """
    tiled, scanned = scanned_with_fallbacks(tiled, max_operations=options.max_operations)
    return lower(tiled, options=options, scanned=scanned)


def scanned_with_fallbacks(tiled: TiledSchedule, *,
                           max_operations: int = EmitOptions.max_operations) -> tuple[TiledSchedule, Scan]:
    """The first schedule for which isl's generator finds loops, of the given one and lesser ones, and these loops.

    What was given up is in `Scan.fallbacks`.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into `max_operations` for any of them.
    NoLoopsError : none of the loops that it found visit exactly the instances of the program, in order.
    """
    given_up: list[str] = []
    refusals: list[PolyschedError] = []
    for lost, version in chain([("", tiled)], lesser_schedules(tiled)):
        if refusals:
            given_up.append(f"{lost}: {refusals[-1].problem}")
            _LOG.warning("function %s: %s", tiled.schedule.scop.name, given_up[-1])
        try:
            found = scan(version, max_operations=max_operations)
        except (BudgetExceededError, NoLoopsError) as error:
            refusals.append(error)
            continue
        return version, replace(found, fallbacks=(*given_up, *found.fallbacks))
    raise next((error for error in refusals if isinstance(error, NoLoopsError)), refusals[0])
