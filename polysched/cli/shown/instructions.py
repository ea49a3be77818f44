"""What `--intrinsic` came to, in words."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polysched.pipeline import Optimized
    from polysched.tensorize.decision import Decision


def show_instructions(arguments: argparse.Namespace, regions: Iterable[Optimized]) -> None:
    """One line per statement that was looked at, unless `--quiet`; nothing without `--intrinsic`."""
    if arguments.quiet:
        return
    for region in regions:
        for reason in region.instructions:
            print(f"polysched: {reason}", file=sys.stderr)


def instruction_lines(decision: Decision, *, explain: bool) -> Iterator[str]:
    """What `--intrinsic` came to, as text: the reasons, and with `explain` the match, its operands and its loops."""
    from polysched.target import host
    for reason in decision.reasons:
        yield f"instruction: {reason}"
    if not explain or decision.program is None:
        return
    found = decision.program.match
    yield f"  match: {found}"
    executions = found.executions * found.fragment.times
    yield (f"  executed {executions} times, {found.utilisation:.0%} of its work used, at least "
           f"{found.cost_cycles:.0f} cycles")
    plan = decision.plan(host())
    if plan is None:
        kept = " and ".join(f"loop {n}" for n in found.fragment.kept)
        yield f"  calls of the library function in every iteration of {kept}" if kept else \
            "  one call of the library function"
        return
    yield f"  loops, outermost first: {plan}"
    for layout in found.layouts:
        place = plan.place(layout.operand)
        where = f"packed into {place.elements} elements" if place.packed else "in place"
        once = decision.program.preparations.get(layout.operand)
        if place.packed and once is not None:
            where += f", once ahead of loop {decision.program.loops[once].name}"
        yield f"  operand {layout.operand}: {layout.array or 'computed'}, {layout.mode.value}, {where}"
    for assumption in found.assumptions:
        yield f"  takes for granted: {assumption}"
