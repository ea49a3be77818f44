"""Schedule primitives: one frozen step each, listed in STEPS.

A step rewrites a schedule tree; `polysched.scheduling.steps.apply` decides exactly whether the result is
legal.  A new primitive is one class in one file and one line here.
"""

from __future__ import annotations

from polysched.scheduling.primitives.affine import Reverse, Scale, Shift, Skew
from polysched.scheduling.primitives.annotate import Parallel, Unroll, UnrollAndJam, Vectorize
from polysched.scheduling.primitives.compute_at import ComputeAt
from polysched.scheduling.primitives.fuse import Distribute, Fuse
from polysched.scheduling.primitives.loops import Loop, LoopRef, find_loop, loops
from polysched.scheduling.primitives.privatize import Privatize
from polysched.scheduling.primitives.reorder import Interchange, Reorder
from polysched.scheduling.primitives.requests import BandStep, Pack, RegisterBlock, SplitTiles, UseInstruction
from polysched.scheduling.primitives.split import Peel, SplitAt
from polysched.scheduling.primitives.split_reduction import SplitReduction
from polysched.scheduling.primitives.step import ProgramStep, Step
from polysched.scheduling.primitives.stitch import Stitch
from polysched.scheduling.primitives.strip_mine import StripMine
from polysched.scheduling.primitives.tile import Tile

STEPS: dict[str, type[Step]] = {
    step.NAME: step
    for step in (Tile, Interchange, Fuse, Distribute, Skew, Shift, Reverse, Scale, StripMine, SplitAt, Parallel,
                 Vectorize, Unroll, UnrollAndJam, Peel, Privatize, Reorder, ComputeAt,
                 Stitch, SplitReduction, BandStep, RegisterBlock, Pack, SplitTiles, UseInstruction)
}

__all__ = [
    "STEPS", "BandStep", "ComputeAt", "Distribute", "Fuse", "Interchange", "Loop", "LoopRef", "Pack", "Parallel",
    "Peel", "Privatize", "ProgramStep", "RegisterBlock", "Reorder", "Reverse", "Scale", "Shift", "Skew", "SplitAt",
    "SplitReduction", "SplitTiles", "Step", "Stitch", "StripMine", "Tile", "Unroll", "UnrollAndJam", "UseInstruction",
    "Vectorize", "find_loop", "loops",
]
