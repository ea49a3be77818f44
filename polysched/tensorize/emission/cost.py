"""What a plan costs: executions with their padding, operand loads, copies, and bytes from beyond the caches."""

from __future__ import annotations

import math

from polysched.target import Target
from polysched.tensorize.emission.blocking import pressure, transfer_seconds
from polysched.tensorize.emission.plan import Plan
from polysched.tensorize.match import COPIED_ELEMENT_CYCLES

TABLE_ELEMENT_CYCLES = 4.0   # an element whose address comes out of a table


def plan_cycles(plan: Plan, target: Target) -> float:
    """Cycles of one core for the whole statement; threads share them."""
    match = plan.match
    executions = math.prod(loop.blocks * loop.unroll for loop in plan.loops)
    _, loads, starved = pressure(match, plan.unrolled)
    vector = max(1.0, max(v.elements * v.dtype.bytes for v in match.intrinsic.inputs) * 8 / max(target.vector_bits, 64))
    busy = max(match.intrinsic.cost.issue_cycles * starved, loads * vector / target.ports.loads_per_cycle)
    copies = sum(p.elements * (COPIED_ELEMENT_CYCLES if p.copy is not None else TABLE_ELEMENT_CYCLES)
                 * (2 if p.operand == match.intrinsic.output.name else 1) for p in plan.places if p.packed)
    moved = transfer_seconds(match, plan.loops, target) * target.frequency_hz
    return executions * busy + copies + moved + match.intrinsic.cost.latency_cycles
