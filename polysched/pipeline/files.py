"""Source to source: every region of a C file, or one region of any origin."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from polysched.emit_gpu.interface import compiler_flags as device_flags
from polysched.errors import (
    PolyschedError,
    SourceLocation,
    UnsupportedScopError,
    UsageError,
)
from polysched.pipeline.detected_regions import DetectedRegions
from polysched.pipeline.file_budget import FileBudget
from polysched.pipeline.optimized import Optimized, spliced
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.promises import told_promises
from polysched.pipeline.timing import timed
from polysched.pipeline.unchanged import told_approximated, told_coarse, told_loops, told_unchanged, told_unmet
from polysched.pipeline.way import optimized_region
from polysched.records import dataclass
from polysched.scop import all_from_c_file, from_c_file
from polysched.scop.c_frontend.detection.left_loops import left_line
from polysched.scop.scop import Scop
from polysched.tiling.planning.by_hand import refuse_unused

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformedFile:
    """A C file with all its regions replaced.

    Parameters
    ----------
    path : as the user named it.
    text : the whole file; outside the regions as it was, byte for byte, but for what `PipelineOptions.portable` adds.
    regions : one per region that is transformed, in textual order.
    refused : one line per marked region that stays as it is, with its place and the reason.
    seconds : wall time of reading the file, and of putting the regions back.
    """

    path: Path
    text: str
    regions: tuple[Optimized, ...]
    seconds: Mapping[str, float]
    refused: tuple[str, ...] = ()


def compiler_flags(regions: Iterable[Optimized]) -> tuple[str, ...]:
    """The flags that the C of some regions is compiled with, beside those of whoever compiles it; each once."""
    flags = [flag for region in regions for flag in region.options.flags]
    flags += [flag for region in regions for flag in device_flags(region.options.device)]
    return tuple(dict.fromkeys(flags))


Region = Callable[[Scop, PipelineOptions, dict[str, float]], Optimized]
"""All stages of one region."""

Check = Callable[[Sequence[Scop]], None]
"""Refuses the regions of a file, as they were read, where something cannot work."""


def optimize(path_or_scop: str | Path | Scop, options: PipelineOptions | None = None, *,
             alone: bool = True, region: Region | None = None) -> Optimized:
    """All stages for one region: a Scop, or the only region of a C file.

    Example
    -------
    >>> optimized = polysched.optimize("gemm.c", polysched.PipelineOptions(tile=32))  # doctest: +SKIP
    >>> print(optimized.text)  # doctest: +SKIP

    Parameters
    ----------
    alone : the region is all of the program: a choice by hand that none of its bands can use is refused.
    region : all stages of a region; `search.lookup` has those that look it up in a database.

    Raises
    ------
    PolyschedError : any stage refuses.
    """
    options = options or PipelineOptions()
    region = _stages(options, region)
    seconds: dict[str, float] = {}
    if isinstance(path_or_scop, Scop):
        scop = path_or_scop
    else:
        scop = timed(seconds, "scop", lambda: from_c_file(
            str(path_or_scop), include_dirs=options.include_dirs, defines=options.defines, cc=options.cc,
            pure=options.pure, autodetect=options.autodetect))
    check_packed(options, (scop,))
    made = region(scop, options, seconds)
    if (line := _told_promises(made)) is not None:
        logger.warning("%s", line)
    if alone:
        refuse_unused([made.tiled.unused])
    return made


def check_packed(options: PipelineOptions, scops: Sequence[Scop]) -> None:
    """Refuse names of arrays to pack that no region has; without regions there is nothing to refuse.

    Raises
    ------
    UsageError : with the first of them.
    """
    arrays = {array.name for scop in scops for array in scop.arrays if not array.is_scalar}
    wanted = {array for own in options.tiling.each() for array in own.packed or ()}
    if scops and (unknown := sorted(wanted - arrays)):
        raise UsageError(f"no array {unknown[0]} to pack", where=", ".join(scop.name for scop in scops),
                         hint=f"arrays are {', '.join(sorted(arrays)) or 'none'}")


def transform_file(path: str | Path, options: PipelineOptions | None = None, *,
                   region: Region | None = None, checked: Check | None = None) -> TransformedFile:
    """All stages for every region of a C file; a region that is refused stays as it is, and a warning says why.

    Parameters
    ----------
    region : as for `optimize`.
    checked : called with the regions that were read, before anything is computed; it refuses what cannot work.

    Raises
    ------
    PolyschedError : the file has no region, every region is refused, or the options do not fit one.
    """
    options = options or PipelineOptions()
    region = _stages(options, region)
    seconds: dict[str, float] = {}
    budget = FileBudget()
    detected = DetectedRegions(lambda scop: budget.run(scop, partial(region, scop, options), found=True),
                               trusted=options.guard is not None, within=budget.tests)
    refusals: list[tuple[SourceLocation, PolyschedError]] = []
    try:
        scops = timed(seconds, "scop", lambda: all_from_c_file(
            str(path), include_dirs=options.include_dirs, defines=options.defines, cc=options.cc,
            pure=options.pure, autodetect=options.autodetect, judge=detected.judge, left=budget.left,
            refused=lambda where, error: refusals.append((where, error))))
    except UnsupportedScopError as error:
        raise detected.first_refusal or error from None
    seconds["scop"] = round(seconds["scop"] - detected.seconds, 6)
    try:
        check_packed(options, scops)
        if checked is not None:
            checked(scops)
        regions = tuple(detected.regions) if options.autodetect else tuple(
            _accepted(scops, options, region, budget, refusals))
        refuse_unused([region.tiled.unused for region in regions])
    except UsageError:
        _told(refusals)
        raise
    if not regions:
        raise refusals[0][1]
    assert regions[0].scop.source is not None
    text = regions[0].scop.source.text
    refused = _told(refusals)
    for line in [*filter(None, map(told_unchanged, regions)), *filter(None, map(_told_promises, regions)),
                 *filter(None, map(told_approximated, regions)),
                 *(line for r in regions for line in (*told_loops(r), *told_coarse(r), *told_unmet(r))),
                 *filter(None, [budget.told(str(path))])]:
        logger.warning("%s", line)
    sources = [region.source for region in regions if not _only_tested(region)]
    result = timed(seconds, "splice", lambda: spliced(text, sources, options))
    return TransformedFile(path=Path(path), text=result, regions=regions, seconds=seconds, refused=refused)


def _told(refusals: Sequence[tuple[SourceLocation, PolyschedError]]) -> tuple[str, ...]:
    """One line per region that stays as it is, each a warning."""
    lines = tuple(left_line(where, "the region stays as it is", error)
                  for where, error in sorted(refusals, key=lambda r: r[0].line))
    for line in lines:
        logger.warning("%s", line)
    return lines


def _told_promises(made: Optimized) -> str | None:
    return None if told_unchanged(made) is not None else told_promises(made.scop, made.options)


def _only_tested(made: Optimized) -> bool:
    """Whether a detected region would be tested at run time for loops that stay as they are: then it is left alone."""
    assumed = made.options.is_guarded and made.options.guard is None and made.scop.assumptions
    return bool(assumed) and told_unchanged(made) is not None


def _stages(options: PipelineOptions, region: Region | None) -> Region:
    """All stages of a region: those given, or the stages themselves for options that name no database."""
    if region is not None:
        return region
    if options.database is not None:
        raise UsageError("the pipeline looks nothing up in a database", witness=options.database,
                         hint="polysched.optimize, polysched.source_to_source and the commands do")
    return optimized_region


def _accepted(scops: Sequence[Scop], options: PipelineOptions, region: Region, budget: FileBudget,
              refusals: list[tuple[SourceLocation, PolyschedError]]) -> Iterator[Optimized]:
    """The marked regions that every stage accepts; the others are added to the refusals."""
    for scop in scops:
        try:
            yield budget.run(scop, partial(region, scop, options))
        except UsageError:
            raise
        except PolyschedError as error:
            assert scop.source is not None
            refusals.append((scop.source.location, error))


def source_to_source(path: str | Path, options: PipelineOptions | None = None) -> str:
    """The text of a C file with every region optimized, everything else as it was."""
    return transform_file(path, options).text
