"""What a plan costs: executions with their padding, operand loads, copies, and bytes from beyond the caches."""

from __future__ import annotations

import math

from polysched.target import Target
from polysched.tensorize.emission.blocking import pressure, transfer_seconds
from polysched.tensorize.emission.copy_c import is_turned
from polysched.tensorize.emission.correction import correction_cycles
from polysched.tensorize.emission.place import Place
from polysched.tensorize.emission.plan import Plan
from polysched.tensorize.matching.mapping import COPIED_ELEMENT_CYCLES

TURNED_ELEMENT_CYCLES = 1.0  # one of neighbours in the array that are none in the buffer
TABLE_ELEMENT_CYCLES = 4.0   # an element whose address comes out of a table
ADDED_ELEMENT_CYCLES = 1.0   # a partial sum that is added to its neighbours at the end


def plan_cycles(plan: Plan, target: Target) -> float:
    """Cycles of one core for the whole statement; threads share them."""
    match = plan.match
    executions = math.prod(loop.blocks * loop.unroll for loop in plan.loops)
    _, loads, starved = pressure(match, plan.unrolled)
    widest = max((v.elements * v.dtype.bytes for v in match.intrinsic.inputs), default=0)
    vector = max(1.0, widest * 8 / max(target.vector_bits, 64))
    busy = max(match.intrinsic.cost.issue_cycles * starved, loads * vector / target.ports.loads_per_cycle)
    copies = sum(copy_cycles(plan, p) for p in plan.places if p.packed)
    moved = transfer_seconds(match, plan.loops, target) * target.frequency_hz
    return executions * busy + copies + moved + correction_cycles(match) + match.intrinsic.cost.latency_cycles


def copy_cycles(plan: Plan, place: Place) -> float:
    """Cycles to fill a buffer, or for results to read and write it back; sums of their own start at zero."""
    written = place.operand in plan.match.written
    if written and plan.match.adds_at_the_end:
        return place.elements * (TABLE_ELEMENT_CYCLES if plan.match.overlapping else ADDED_ELEMENT_CYCLES)
    each = TABLE_ELEMENT_CYCLES
    if place.copy is not None:
        each = TURNED_ELEMENT_CYCLES if is_turned(place.copy) else COPIED_ELEMENT_CYCLES
    return place.elements * each * (2 if written else 1)
