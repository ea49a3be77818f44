"""Regions that the file's own threads may run: no teams of threads inside of a team."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.emit_c.alternatives.inside_team import alone_inside_team
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.scop.c_frontend.text.parallel_regions import is_called_in_parallel, is_inside_parallel
from polysched.scop.scop import Scop

Made = Callable[[PipelineOptions], Optimized]


def for_callers_threads(scop: Scop, options: PipelineOptions, made: Made) -> Optimized:
    """A region without parallel code where the file's own threads run it; in two versions where they may.

    OpenMP starts a team of one for a parallel construct inside of another, which takes as long as hundreds of
    additions.

    Parameters
    ----------
    made : all stages, with options.
    """
    region = scop.source
    if region is None or not options.parallel:
        return made(options)
    alone = replace(options, tiling=options.tiling.on_one_thread())
    if is_inside_parallel(region.text, region.start):
        return made(alone)
    whole = made(options)
    if not is_called_in_parallel(region.text, region.function or "") or not whole.source.teams:
        return whole
    serial = made(alone)
    if serial.source.preamble:   # functions for instructions stand in the file once
        serial = made(replace(alone, tensorize=None))
    return replace(whole, source=alone_inside_team(whole.source, serial.source))
