"""What a marked region takes for granted without a test at run time, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.emit_c.alternatives.guard import untestable
from polysched.pipeline.limits import LIMITS
from polysched.pipeline.options import PipelineOptions
from polysched.scop.scop import Assumption, Scop

SAID_BY_PRAGMA = frozenset({"no-alias", "stated"})
"""Kinds that whoever writes `#pragma scop`, or a remark in the region, is known to mean."""


def told_promises(scop: Scop, options: PipelineOptions) -> str | None:
    """The line for what nobody tests; None where there is nothing, or the options take it for granted by name.

    Memory that must not overlap is what every marked region promises.  With `--guard` it is the rest, which C cannot
    test.
    """
    if scop.source is None or options.autodetect or options.guard is False:
        return None
    taken = untestable(scop) if options.is_guarded else tuple(
        a for a in scop.assumptions if a.kind not in SAID_BY_PRAGMA and not a.is_always_tested)
    if not taken:
        return None
    hint = "no test at run time can tell" if options.is_guarded else "--guard tests what can be tested at run time"
    return f"{scop.source.location}: the region takes for granted: {_named(taken)}; {hint}"


def _named(taken: Sequence[Assumption]) -> str:
    words = "; ".join(a.text for a in taken[:LIMITS.told_promises])
    return f"{words}; and {len(taken) - LIMITS.told_promises} more" if len(taken) > LIMITS.told_promises else words
