"""What each pass made of the loops: for people, for `--dump-stages`, and to verify the IR at each border."""

from __future__ import annotations

import difflib
from dataclasses import replace

from polysched.emit_c.c_source import EmitOptions
from polysched.emit_c.loop_ir.loops import Node
from polysched.emit_c.loop_ir.text import loop_text
from polysched.emit_c.lowering import Scan, scan
from polysched.emit_c.pass_context import pass_context, with_bodies
from polysched.emit_c.passes import CODE, STRUCTURE, LoopPass, run_passes
from polysched.records import dataclass
from polysched.tiling.tiled_schedule import TiledSchedule


@dataclass(frozen=True, eq=False, kw_only=True)
class PassRecord:
    """One pass that ran.

    Parameters
    ----------
    loop_pass : the pass.
    before, after : the loops around it.
    """

    loop_pass: LoopPass
    before: Node
    after: Node

    @property
    def changed(self) -> bool:
        """Whether the pass did anything."""
        return self.before != self.after

    def difference(self) -> str:
        """The change as a unified diff of the text form; empty where there is none."""
        name = self.loop_pass.name
        before, after = (loop_text(node).splitlines(keepends=True) for node in (self.before, self.after))
        return "".join(difflib.unified_diff(before, after, fromfile=f"before {name}", tofile=f"after {name}"))


def pass_history(tiled: TiledSchedule, options: EmitOptions, *, own_memory: bool = True,
                 scanned: Scan | None = None) -> tuple[PassRecord, ...]:
    """The passes that run for a schedule, in order, each with the loops before and after it.

    Every pass is a function of its input, so that running them again gives what the emission had.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into `options.max_operations`.
    """
    current = (scanned or scan(tiled, max_operations=options.max_operations)).loops
    found: list[PassRecord] = []

    def watch(each: LoopPass, after: Node) -> None:
        found.append(PassRecord(loop_pass=each, before=found[-1].after if found else current, after=after))

    unverified = replace(options, verify_passes=False)
    context = pass_context(tiled, unverified, own_memory=own_memory)
    loops = run_passes(current, STRUCTURE, context, watch)
    run_passes(loops, CODE, with_bodies(context, loops), watch)
    return tuple(found)
