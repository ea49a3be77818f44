"""Several codes of one region for different sizes, behind tests of one parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polysched.emit_c.c_source import CSource, approximated_of
from polysched.emit_c.scalar_code.original_code import inside
from polysched.emit_c.scalar_code.statements import branches
from polysched.errors import UsageError


def with_variants(sources: Sequence[CSource], parameter: str, thresholds: Sequence[int]) -> CSource:
    """One region that runs the code that was chosen for its size.

    Rewrite:  FIRST, SECOND, THIRD  ->  if (n < 90) { FIRST } else { if (n < 700) { SECOND } else { THIRD } }

    Parameters
    ----------
    sources : of the same region, for growing sizes.
    parameter : as C spells it.
    thresholds : from which size on each source but the first runs.

    Raises
    ------
    UsageError : one needs functions outside of the region, or thresholds do not grow.
    """
    if len(sources) != len(thresholds) + 1 or list(thresholds) != sorted(set(thresholds)):
        raise UsageError("variants need growing thresholds between them", witness=str(list(thresholds)))
    if any(source.preamble for source in sources) and len(sources) > 1:
        raise UsageError("a variant has functions of its own outside of the region", witness=parameter,
                         hint="tune it without instructions, or for one size")
    kept = all(source.kept for source in sources)
    bodies = [list(_body(source, alone=kept)) for source in sources]
    lines = bodies[-1]
    for body, threshold in zip(reversed(bodies[:-1]), reversed(thresholds), strict=True):
        lines = branches(f"({parameter}) < {threshold}", map(inside, body), map(inside, lines))
    return replace(sources[-1], text="".join(f"{line}\n" for line in lines), kept=kept,
                   teams=sum(source.teams for source in sources), allocated=tuple(dict.fromkeys(
                       name for source in sources for name in source.allocated)),
                   fallbacks=tuple(dict.fromkeys(f for source in sources for f in source.fallbacks)),
                   approximated=approximated_of(sources))


def _body(source: CSource, *, alone: bool) -> Iterator[str]:
    """The lines of one variant; code as written beside other code says that it has stepped its variables itself."""
    yield from source.text.splitlines()
    if source.kept and not alone and source.scop.source is not None:
        yield from (variable.done for variable in source.scop.source.stepped)
