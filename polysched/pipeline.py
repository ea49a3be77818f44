"""The whole order, and the only place that knows it: source -> Scop -> Dependences -> Schedule -> tiles -> C."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from polysched.dependence import analyse
from polysched.dependence.carried_values import carries_values, substitute_carried
from polysched.dependence.collapsing import CollapsedLoops, collapse_rows
from polysched.dependence.dependences import Dependences
from polysched.dependence.expansion import ExpandedArray, Expansion, expand_temporaries, is_affordable
from polysched.dependence.idle_statements import without_idle_statements
from polysched.dependence.last_values import LastValue, kept_storage
from polysched.dependence.substitution import substitute_temporaries
from polysched.detected_regions import DetectedRegions
from polysched.emit_c import Crossover, CSource, crossover, emit, emit_blocks, guarded, original_when_small, splice
from polysched.emit_c.alternatives.instructions import with_instruction, with_shared_outside
from polysched.emit_c.scalar_code.work import loops_in_lanes
from polysched.emit_c.teams import Team, teams
from polysched.errors import UnsupportedScopError, UsageError
from polysched.pipeline_options import PipelineOptions
from polysched.scheduling import ALGORITHMS, by_strategy
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree_text import tree_text
from polysched.scop import all_from_c_file, from_c_file
from polysched.scop.display import source_text
from polysched.scop.html import beside, c_code, card, folded, paragraph, preformatted
from polysched.scop.scop import Scop
from polysched.scop.shown import Shown
from polysched.tensorize.decision import decide
from polysched.tensorize.preparing.narrowing import narrow_sums
from polysched.tensorize.software.surroundings import KeptLoop, inside_loops
from polysched.tiling import tile
from polysched.tiling.best_schedule import NAME as BEST
from polysched.tiling.best_schedule import best
from polysched.tiling.options import TilingOptions
from polysched.tiling.planning.by_hand import refuse_unused
from polysched.tiling.tiled_schedule import BandTiling, TiledSchedule

if TYPE_CHECKING:
    from polysched.measure.measurement import Listing

logger = logging.getLogger(__name__)
stage_logger = logging.getLogger("polysched.stages")  # told each stage before it begins; progress listens to it

Value = TypeVar("Value")
STAGE_WORDS = {"scop": "reading the program", "dependences": "finding the dependences", "schedule": "scheduling",
               "tiled": "tiling", "emitted": "writing C", "splice": "writing C"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Optimized(Shown):
    """The values of all stages for one region.

    Parameters
    ----------
    options : what was asked for.
    seconds : wall time per stage; a Scop that was passed in has no time.
    expanded : temporaries with a copy per iteration; `dependences` and what follows are of the program with them.
    last_values : arrays of the caller in whose place iterations work in such a temporary.
    instructions : which instruction computes which statement, or why none does; empty when none was asked for.
    unexpanded : temporaries whose copies would have needed more memory than the caller's arrays.
    moved : scalars that live in the element that their result goes to, and its array.
    pays : the sizes for which the transformed code runs; the original code runs for others. None where it is not kept.
    collapsed : pairs of loops over whole rows that became one.
    """

    scop: Scop
    dependences: Dependences
    schedule: Schedule
    tiled: TiledSchedule
    source: CSource
    options: PipelineOptions
    seconds: Mapping[str, float] = field(default_factory=dict)
    expanded: tuple[ExpandedArray, ...] = ()
    last_values: tuple[LastValue, ...] = ()
    unexpanded: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    pays: Crossover | None = None
    instructions: tuple[str, ...] = ()
    collapsed: tuple[CollapsedLoops, ...] = ()

    @property
    def text(self) -> str:
        """The emitted C of the region."""
        return self.source.text

    def steps(self) -> tuple[str, ...]:
        """How the schedule came about, one line per step."""
        on_threads = teams(self.source, threads=self.options.parallel)
        bands = [f"band {b.band}: tiles {'x'.join(map(str, b.sizes)) or 'off'}"
                 f"{f', in strips of {b.strip}' if b.strip else ''}"
                 f"{', wavefront' if b.wavefront else ''}"
                 f"{f', split into {b.pieces} pieces' if b.pieces else ''}"
                 f"{_threads_of(b, on_threads)}"
                 for b in self.tiled.bands]
        return (*self._alternatives(), f"schedule: {self.schedule.algorithm}",
                *(f"candidate: {c}" for c in self.schedule.report.candidates),
                *(f"rung: {r}" for r in self.schedule.report.rungs), *bands,
                *(f"tiling: {r}" for r in self.tiled.fallbacks),
                *(f"loops: {r}" for r in self.source.fallbacks), *(f"instruction: {r}" for r in self.instructions))

    def _alternatives(self) -> Iterator[str]:
        """What became of the temporaries, and when the original code runs, one line each."""
        for loops in self.collapsed:
            yield f"loops {loops}"
        for name, home in self.moved:
            yield f"temporary {name}: in {home}, where its result goes"
        for copied in self.last_values:
            yield str(copied)
        for array in self.expanded:
            place = "on the heap" if array.name in self.source.allocated else "declared in the loops"
            yield f"temporary {array.name}: a copy per iteration of {', '.join(array.loops)}, {place}"
        if self.pays is not None and self.pays.conditions:
            yield f"safe: the original code runs unless {self.pays}"
        yield from kept_storage(self.dependences)
        for name in self.unexpanded:
            yield f"temporary {name}: one for all iterations, since copies would need more memory than all arrays"

    def listing(self) -> Listing:
        """The region before and after as text, for results files."""
        from polysched.measure.measurement import Listing
        return Listing(line=self.scop.statements[0].line if self.scop.statements else 0,
                       original=source_text(self.scop), schedule=tree_text(self.tiled.tree), transformed=self.text)

    def __str__(self) -> str:
        return "\n".join((self.scop.name, *self.steps(), "", self.text))

    def _repr_html_(self) -> str:
        before = c_code(source_text(self.scop)) if self.scop.source is not None else preformatted(str(self.scop))
        times = paragraph(", ".join(f"{stage} {seconds:.3f} s" for stage, seconds in self.seconds.items()))
        return card(f"{self.scop.name}, optimized", *map(paragraph, self.steps()), beside(before, c_code(self.text)),
                    times, folded("dependences", self.dependences._repr_html_()),
                    folded("tiles", self.tiled._repr_html_()))


def _threads_of(band: BandTiling, found: tuple[Team, ...]) -> str:
    """Which member of a band the emitted C runs on threads; a mark alone is only a permission."""
    own = [team for team in found if team.band == band.band]
    if any(team.in_parts for team in own):
        return ", in parts on threads"
    if own:
        return f", member {own[0].member} parallel"
    if band.parallel_member is None or any(band.band in team.inside for team in found):
        return ""
    return ", on one thread"


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformedFile:
    """A C file with all its regions replaced.

    Parameters
    ----------
    path : as the user named it.
    text : the whole file; outside the regions as it was, byte for byte.
    regions : one per region, in textual order.
    seconds : wall time of reading the file, and of putting the regions back.
    """

    path: Path
    text: str
    regions: tuple[Optimized, ...]
    seconds: Mapping[str, float]


def optimize(path_or_scop: str | Path | Scop, options: PipelineOptions | None = None, *,
             alone: bool = True) -> Optimized:
    """All stages for one region: a Scop, or the only region of a C file.

    Example
    -------
    >>> optimized = polysched.optimize("gemm.c", polysched.PipelineOptions(tile=32))  # doctest: +SKIP
    >>> print(optimized.text)  # doctest: +SKIP

    Parameters
    ----------
    alone : the region is all of the program: a choice by hand that none of its bands can use is refused.

    Raises
    ------
    PolyschedError : any stage refuses.
    """
    options = options or PipelineOptions()
    seconds: dict[str, float] = {}
    if isinstance(path_or_scop, Scop):
        scop = path_or_scop
    else:
        scop = _timed(seconds, "scop", lambda: from_c_file(
            str(path_or_scop), include_dirs=options.include_dirs, defines=options.defines, cc=options.cc,
            pure=options.pure, autodetect=options.autodetect))
    check_packed(options, (scop,))
    made = _optimized(scop, options, seconds)
    if alone:
        refuse_unused([made.tiled.unused])
    return made


def check_packed(options: PipelineOptions, scops: Sequence[Scop]) -> None:
    """Refuse names of arrays to pack that no region has.

    Raises
    ------
    UsageError : with the first of them.
    """
    arrays = {array.name for scop in scops for array in scop.arrays if not array.is_scalar}
    if unknown := sorted(set(options.packed or ()) - arrays):
        raise UsageError(f"no array {unknown[0]} to pack", where=", ".join(scop.name for scop in scops),
                         hint=f"arrays are {', '.join(sorted(arrays)) or 'none'}")


def _optimized(scop: Scop, options: PipelineOptions, seconds: dict[str, float]) -> Optimized:
    expansion = _timed(seconds, "dependences", lambda: analysed(
        scop, expand=options.expand, vector_bytes=options.collapses_for(), row_loss=options.row_loss))
    source = _emitted(expansion.dependences, options, seconds)
    too_large = {a for a in source.allocated if not is_affordable(source.scop, a)}
    kept: frozenset[str] = frozenset()
    instead_of = {copied.copy: copied.array for copied in expansion.last_values}
    if too_large:
        kept = frozenset(instead_of.get(a.before, a.before) for a in expansion.arrays if a.name in too_large)
        expansion = _timed(seconds, "dependences", lambda: analysed(
            scop, but=kept, vector_bytes=options.collapses_for(), row_loss=options.row_loss, known=expansion.given))
        source = _emitted(expansion.dependences, options, seconds)
    expansion, source = _with_values(scop, expansion, source, options, seconds, but=kept)
    reasons: tuple[str, ...] = ()
    if options.tensorize is not None:
        source, reasons = _timed(seconds, "tensorized", lambda: _with_instructions(analysed(
            scop, expand=options.expand, but=kept, vector_bytes=options.collapses_for(), row_loss=options.row_loss,
            for_instructions=True, known=expansion.given).dependences.scop, source, options))
    pays = None
    if options.safe and scop.source is not None:
        pays = crossover(source, options.target())
        source = original_when_small(source, pays)
    if options.guard or (options.is_guarded and scop.source is not None):
        source = guarded(source, scop)
    return Optimized(scop=scop, dependences=expansion.dependences, schedule=source.tiled.schedule, tiled=source.tiled,
                     source=source, options=options, seconds=seconds, expanded=expansion.arrays,
                     unexpanded=tuple(sorted(instead_of.get(a, a) for a in too_large)), instructions=reasons,
                     pays=pays, moved=expansion.moved, collapsed=expansion.collapsed,
                     last_values=expansion.last_values)


def _with_values(scop: Scop, expansion: Expansion, source: CSource, options: PipelineOptions,
                 seconds: dict[str, float], *, but: frozenset[str]) -> tuple[Expansion, CSource]:
    """Scalars computed where they are read, if that spares streams or lets loops run in lanes; else what was given."""
    def made(values: Callable[[Dependences], Dependences]) -> tuple[Expansion, CSource]:
        new = _timed(seconds, "dependences", lambda: analysed(
            scop, but=but, vector_bytes=options.collapses_for(), row_loss=options.row_loss, values=values,
            known=expansion.given))
        return new, _emitted(new.dependences, options, seconds)

    if _has_streams(source, expansion):
        other = made(substitute_temporaries)
        if not _has_streams(other[1], other[0]):
            return other
    if options.expand and carries_values(expansion.dependences):
        other = made(substitute_carried)
        if loops_in_lanes(other[1].loops) > loops_in_lanes(source.loops) and not other[1].allocated:
            return other
    return expansion, source


def _has_streams(source: CSource, expansion: Expansion) -> bool:
    """Whether scalars became arrays in memory with an element per iteration, as costly as what the loops compute."""
    scalars = {a.name: len(a.loops) for a in expansion.arrays if a.name in source.allocated}
    depths = {name: {s.depth for s in source.scop.statements if name in {a.array for a in s.accesses}}
              for name in scalars}
    return any(depths[name] == {loops} for name, loops in scalars.items())


def _with_instructions(scop: Scop, source: CSource, options: PipelineOptions,
                       outside: tuple[KeptLoop, ...] = ()) -> tuple[CSource, tuple[str, ...]]:
    """The region with every statement that pays computed by an instruction, and the reasons in words.

    Parameters
    ----------
    outside : loops around the region, which are parameters in `source`.
    """
    assert options.tensorize is not None
    decision = decide(scop, options.tensorize, options.target(), outside=outside)
    if decision.program is None:
        return source, decision.reasons
    parts: list[CSource] = []
    reasons = list(decision.reasons)
    program = with_shared_outside(decision.program)
    for part, loops in program.parts:
        seconds: dict[str, float] = {}
        iteration = inside_loops(part, loops, program.match.fragment.sizes)
        dependences = analysed(iteration, expand=options.expand).dependences
        rest, why = _with_instructions(part, _emitted(dependences, options, seconds), options, loops)
        parts.append(rest)
        reasons += why
    own = program.match.fragment.statement.name
    place = scop.source.start if scop.source is not None else 0
    made = with_instruction(source, program, parts, name=f"polysched_{own}_{place}",
                            parallel=options.parallel, emulated=decision.emulated)
    return made, tuple(reasons)


def analysed(scop: Scop, *, expand: bool = True, value_based: bool = True, inputs: bool = False,
             reductions: Literal["keep", "exact", "reassociate"] = "keep", vector_bytes: int = 0,
             row_loss: Callable[[int], float] | None = None,
             but: frozenset[str] = frozenset(), for_instructions: bool = False,
             values: Callable[[Dependences], Dependences] | None = None,
             known: Dependences | None = None) -> Expansion:
    """The dependences that every command schedules by: of the program with expanded temporaries, if it has any.

    The options are those of `analyse`; memory-based dependences say too little to expand anything.

    Parameters
    ----------
    vector_bytes : loops over rows that end within a vector of so many bytes are collapsed first; 0 for none.
    row_loss : as for `collapse_rows`.
    but : temporaries to leave as they are.
    for_instructions : scalars are replaced by their values, so that a body is one statement, sums are no wider than
        their values, and loops stay loops.
    values : replaces scalars by their values before anything is expanded.
    known : as for `analyse`; `Expansion.given` of this program with other options.

    Raises
    ------
    BudgetExceededError : the dependences need more isl operations than there are.
    """
    plain = not inputs and reductions == "keep"
    if not expand or not value_based:
        return Expansion(dependences=analyse(scop, value_based=value_based, inputs=inputs, reductions=reductions))
    dependences = given = analyse(without_idle_statements(scop), known=known)
    if for_instructions:
        dependences = narrow_sums(substitute_temporaries(dependences))
    elif values is not None:
        dependences = values(dependences)
    dependences, collapsed = collapse_rows(dependences, vector_bytes, row_loss)
    expansion = replace(expand_temporaries(dependences, but=but, write_out=not for_instructions), collapsed=collapsed,
                        given=given)
    return expansion if plain else replace(expansion, dependences=analyse(
        expansion.dependences.scop, inputs=inputs, reductions=reductions))


def scheduled(dependences: Dependences, options: PipelineOptions, *, input_dependences: bool = False,
              parameters: Mapping[str, int] | None = None) -> Schedule:
    """The schedule by the strategy or the scheduler of the options; `best` tiles its candidates to compare them.

    Parameters
    ----------
    input_dependences : keep reads of one element close together, too; they must have been analysed.
    parameters : values that the model of `best` assumes for parameters.

    Raises
    ------
    PolyschedError : the scheduler refuses.
    """
    wanted = replace(options.scheduler_options(), input_dependences=input_dependences)
    if options.strategy is not None:
        return by_strategy(dependences, options.strategy, options=wanted)
    if options.scheduler == BEST:
        tiling = replace(options.tiling_options(), parameters=parameters or {})
        return best(dependences, options=wanted, tiling=tiling).schedule
    return ALGORITHMS[options.scheduler](dependences, options=wanted)


def _emitted(dependences: Dependences, options: PipelineOptions, seconds: dict[str, float]) -> CSource:
    """From dependences to C: the schedule that was asked for; the best of several is found by tiling all of them."""
    stated = dict(options.assumed)
    tiling = replace(options.tiling_options(), parameters={
        p.name: stated[p.spelling] for p in dependences.scop.parameters if p.spelling in stated})
    if options.strategy is None and options.scheduler == BEST:
        def tiled_by(how: TilingOptions) -> TiledSchedule:
            return _timed(seconds, "schedule", lambda: best(
                dependences, options=options.scheduler_options(), tiling=how))
    else:
        schedule = _timed(seconds, "schedule", lambda: scheduled(dependences, options))

        def tiled_by(how: TilingOptions) -> TiledSchedule:
            return _timed(seconds, "tiled", lambda: tile(schedule, how, alone=False))
    return emit_blocks(tiled_by, tiling, lambda tiled: _timed(
        seconds, "emitted", lambda: emit(tiled, options=options.emit_options())))


def transform_file(path: str | Path, options: PipelineOptions | None = None) -> TransformedFile:
    """All stages for every region of a C file.

    Raises
    ------
    PolyschedError : the file has no region, or any stage refuses.
    """
    options = options or PipelineOptions()
    seconds: dict[str, float] = {}
    detected = DetectedRegions(lambda scop: _optimized(scop, options, {}), trusted=options.guard is not None)
    try:
        scops = _timed(seconds, "scop", lambda: all_from_c_file(
            str(path), include_dirs=options.include_dirs, defines=options.defines, cc=options.cc,
            pure=options.pure, autodetect=options.autodetect, usable=detected.usable))
    except UnsupportedScopError as error:
        raise detected.first_refusal or error from None
    detected.tell()
    seconds["scop"] = round(seconds["scop"] - detected.seconds, 6)
    assert scops
    assert scops[0].source is not None
    text = scops[0].source.text
    check_packed(options, scops)
    regions = tuple(detected.regions) if options.autodetect else tuple(
        _optimized(scop, options, {}) for scop in scops)
    refuse_unused([region.tiled.unused for region in regions])
    result = _timed(seconds, "splice", lambda: splice(text, [r.source for r in regions]))
    return TransformedFile(path=Path(path), text=result, regions=regions, seconds=seconds)


def source_to_source(path: str | Path, options: PipelineOptions | None = None) -> str:
    """The text of a C file with every region optimized, everything else as it was."""
    return transform_file(path, options).text


def _timed(seconds: dict[str, float], stage: str, run: Callable[[], Value]) -> Value:
    """Run one stage and add its wall time to that of earlier runs."""
    stage_logger.info(STAGE_WORDS.get(stage, stage))
    started = time.perf_counter()
    value = run()
    taken = time.perf_counter() - started
    seconds[stage] = round(seconds.get(stage, 0.0) + taken, 6)
    logger.info("%s took %.3f s", stage, taken)
    return value
