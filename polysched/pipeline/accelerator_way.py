"""The way of one region to an accelerator whose buffers a program fills itself."""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_gpu.scratchpad import emit_scratchpad
from polysched.gpu.scratchpad import ScratchpadOptions, at_sizes, map_to_scratchpad
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed
from polysched.pipeline.timing import timed
from polysched.scop.scop import Scop
from polysched.target.scratchpads import SCRATCHPADS
from polysched.target.scratchpads.description import ScratchpadTarget


def accelerator_region(scop: Scop, options: PipelineOptions, seconds: dict[str, float], *,
                       target: ScratchpadTarget | None = None) -> Optimized:
    """All stages for one region of known sizes.

    Parameters
    ----------
    target : another accelerator than that of the options' name.

    Raises
    ------
    UsageError : a parameter has no size.
    UnsupportedScopError : subscripts that depend on data, an array without an end, buffers that do not fit.
    PolyschedError : any stage refuses.
    """
    target = target or SCRATCHPADS[str(options.device)]
    given = options.tensorize.sizes if options.tensorize is not None else {}
    sizes = {p.name: given[name] for p in scop.parameters for name in (p.spelling, p.name) if name in given}
    fixed = at_sizes(scop, sizes)
    expansion = timed(seconds, "dependences", lambda: analysed(fixed, expand=options.expand))
    mapping = timed(seconds, "mapped", lambda: map_to_scratchpad(
        expansion.dependences, target, sizes, options=chosen_tiles(options)))
    made = timed(seconds, "emitted", lambda: emit_scratchpad(mapping, scop))
    return Optimized(scop=scop, dependences=expansion.dependences, schedule=mapping.schedule, tiled=made.source.tiled,
                     source=made.source, options=options, seconds=seconds, expanded=expansion.arrays,
                     moved=expansion.moved, last_values=expansion.last_values, mapped=mapping.lines(),
                     accelerator=mapping)


def chosen_tiles(options: PipelineOptions) -> ScratchpadOptions:
    """The decisions by hand, with the edges of `tile` for groups that have none of their own."""
    if isinstance(options.tile, str):
        return options.scratchpad
    edges = (options.tile,) if isinstance(options.tile, int) else options.tile
    return replace(options.scratchpad, tiles=(*options.scratchpad.tiles, ("", edges)))
