"""The C of a region that can be stopped behind every tile, and goes on there when it is called again.

A thread sets `polysched_preemption.stop` to a flag, and calls the function of the region.  Behind each tile the flag is
loaded (relaxed).  Where it is not zero, the region is left: `stopped` is 1, and `done` says how many tiles are done.
The next call with the same arguments goes over those without doing them.  At the end `stopped` and `done` are 0.  Every
call does at least one tile that is left.
"""

from __future__ import annotations

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.records import dataclass

STATE = "polysched_preemption"
"""The C name of what a thread and its regions say to each other."""

PREAMBLE = f"""\
#ifndef POLYSCHED_PREEMPTION
#define POLYSCHED_PREEMPTION
/* {STATE} belongs to a thread: `stop` is the flag that stops a region behind a tile; `stopped` says that it
   did, and `done` how many tiles are done; a call goes on there */
static const int polysched_never = 0;
__attribute__((weak)) _Thread_local struct polysched_preemption {{
  const int *stop;
  long done;
  int stopped;
}} {STATE} = {{&polysched_never, 0, 0}};
#endif
"""


@dataclass(frozen=True, kw_only=True)
class StopNames:
    """The C names that a region makes up to be stopped: the flag, tiles to go over, tiles so far, where it is left."""

    stop: str
    resume: str
    tile: str
    left: str

    def around(self, lines: list[str]) -> list[str]:
        """A region's lines, with what they need before and behind."""
        return ["{", *(INDENT + line if not line.startswith("#") else line for line in (
            f"const int *const {self.stop} = {STATE}.stop;", f"const long {self.resume} = {STATE}.done;",
            f"long {self.tile} = 0;", f"{STATE}.stopped = 0;", *lines, f"{STATE}.done = 0;", "if (0) {",
            f"{self.left}:", f"{INDENT}{STATE}.stopped = 1;", f"{INDENT}{STATE}.done = {self.tile};", "}")), "}"]

    def tile_lines(self, body: list[str]) -> list[str]:
        """The lines of a tile: gone over where it is done, and followed by a look at the flag."""
        return [f"if ({self.tile}++ < {self.resume})", f"{INDENT}continue;", *body,
                f"if (__atomic_load_n({self.stop}, __ATOMIC_RELAXED))", f"{INDENT}goto {self.left};"]


def stop_names(taken: TakenNames) -> StopNames:
    """Names that no identifier around the region has."""
    return StopNames(**{name: taken.fresh(f"polysched_{name}") for name in ("stop", "resume", "tile", "left")})
