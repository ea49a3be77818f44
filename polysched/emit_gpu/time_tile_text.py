"""Several steps in a launch as text: loops of the block, values dealt out to work items, a barrier behind each step."""

from __future__ import annotations

from polysched.emit_c.loop_ir.index import Linear
from polysched.emit_c.scalar_code.c_text import Level
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_gpu.body_text import BodyPrinter
from polysched.emit_gpu.names import DeviceNames
from polysched.emit_gpu.time_tile_loops import StepLoop, TimeTileLoops
from polysched.gpu.mapping import Launch
from polysched.records import dataclass


@dataclass(frozen=True, eq=False, kw_only=True)
class TimeTilePrinter:
    """Prints what a block runs.

    Parameters
    ----------
    body : prints loops and values.
    launch : of the block.
    names : of device code.
    item : C of the number of a work item.
    barrier : behind which a block sees what it wrote to the device's memory.
    """

    body: BodyPrinter
    launch: Launch
    names: DeviceNames
    item: str
    barrier: str

    def lines(self, loops: TimeTileLoops) -> list[str]:
        """All of it."""
        found = [*self._shared(loops), self.barrier]
        for step in reversed(loops.steps):
            found = [f"for (long {step.name} = {self._bound(step.first)}; {step.name} < {self._bound(step.end)}; "
                     f"{step.name}++) {{", *(INDENT + line for line in found), "}"]
        return found

    def _shared(self, loops: TimeTileLoops) -> list[str]:
        """The instances of one step, dealt out in the order of memory."""
        fresh, rest = self.names.taken.fresh, self.names.taken.fresh("value")
        lines, inside, total = [], [], "1"
        for own in loops.dealt:
            first, count = fresh(f"first_{own.name}"), fresh(f"count_{own.name}")
            lines += [f"const long {first} = {self._bound(own.first)};",
                      f"const long {count} = {self._count(own, first)};"]
            place = rest if total == "1" else f"{rest} / ({total})"
            place = place if own is loops.dealt[-1] else f"{place} % {count}"
            inside.append(f"const long {own.name} = {first} + {place};")
            total = count if total == "1" else f"{total} * {count}"
        return [*lines, f"for (long {rest} = {self.item}; {rest} < {total}; {rest} += {self.launch.team}) {{",
                *(INDENT + line for line in (*inside, *self.body.lines(loops.loops))), "}"]

    def _count(self, own: StepLoop, first: str) -> str:
        """How many values there are; 0 where the end lies in front of the first."""
        end = self._bound(own.end)
        return f"{end} > {first} ? {end} - {first} : 0"

    def _bound(self, value: Linear) -> str:
        return self.body.index.bound(value).at(Level.ADDITIVE)
