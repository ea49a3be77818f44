"""The best tile of all, by simulating every one: what the model's choice is measured against."""

from __future__ import annotations

from polysched.errors import UnsupportedScopError
from polysched.gpu.scratchpad.choice import Chooser, PlacedGroup, every_edge
from polysched.gpu.scratchpad.decide import chooser_of
from polysched.gpu.scratchpad.mapping import ScratchpadMapping
from polysched.gpu.scratchpad.options import ScratchpadOptions
from polysched.gpu.scratchpad.placement import fits


def exhaustive(mapping: ScratchpadMapping, group: PlacedGroup, *, step: int) -> PlacedGroup:
    """The tile of a group with the fewest simulated cycles, of edges that are multiples of a step, or whole loops.

    Raises
    ------
    UnsupportedScopError : none fits the memories.
    """
    options = ScratchpadOptions(double_buffering=mapping.double_buffering)
    chooser: Chooser = chooser_of(mapping.dependences, mapping.target, mapping.sizes, options)
    planner = chooser.planner(group.plan.launch)
    best: PlacedGroup | None = None
    for edges in every_edge(planner, step):
        plan = planner.plan(edges, slots=chooser.slots)
        placed = chooser.placed(plan, exact=False, weighed=1) if fits(mapping.target, plan.buffers) else None
        if placed is not None and (best is None or placed.cycles < best.cycles):
            best = placed
    if best is None:
        raise UnsupportedScopError("no tile fits the memories", where=mapping.scop.name)
    return best
