"""What a plan costs: executions with their padding, operand loads, copies, and bytes from beyond the caches."""

from __future__ import annotations

import math

from polysched.target import Target
from polysched.tensorize.emission.blocking import pressure, transfer_seconds
from polysched.tensorize.emission.copy_c import is_turned
from polysched.tensorize.emission.correction import correction_cycles
from polysched.tensorize.emission.place import Place
from polysched.tensorize.emission.plan import Plan


def plan_cycles(plan: Plan, target: Target) -> float:
    """Cycles of one core for the whole statement; threads share them."""
    match = plan.match
    executions, busy = math.prod(loop.blocks * loop.unroll for loop in plan.loops), busy_cycles(plan, target)
    copies = sum(copy_cycles(plan, p) for p in plan.places if p.packed)
    moved = transfer_seconds(match, plan.loops, target) * target.frequency_hz
    return executions * busy + copies + moved + correction_cycles(match) + match.intrinsic.cost.latency_cycles


def busy_cycles(plan: Plan, target: Target) -> float:
    """Cycles of one execution: until the next one is issued, or until its operands are loaded."""
    intrinsic = plan.match.intrinsic
    _, loads, starved = pressure(plan.match, plan.unrolled)
    widest = max((v.elements * v.dtype.bytes for v in intrinsic.inputs), default=0)
    vector = max(1.0, widest * 8 / max(target.vector_bits, 64))
    return max(intrinsic.cost.cycles * starved, loads * vector / target.ports.loads_per_cycle)


def copy_cycles(plan: Plan, place: Place) -> float:
    """Cycles to fill a buffer, or for results to read and write it back; sums of their own start at zero."""
    return place.elements * element_cycles(plan, place)


def element_cycles(plan: Plan, place: Place) -> float:
    """Cycles to copy one element of a packed operand, both ways for a result."""
    written, costs = place.operand in plan.match.written, plan.match.costs
    if written and plan.match.adds_at_the_end:
        return costs.table_element_cycles if plan.match.overlapping else costs.added_element_cycles
    each = costs.table_element_cycles
    if place.copy is not None:
        each = costs.turned_element_cycles if is_turned(place.copy) else costs.copied_element_cycles
    return each * (2 if written else 1)
