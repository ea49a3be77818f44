"""The one parallel region of a match: a team of threads shares every step of it, and waits between steps.

    parallel:   copy operands, add them up   |   run the nest   |   write results back   |   correct them

Every function of a step is called by all threads.  Loops in it that they share have `SHARED`; without such a loop one
thread does all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from polysched.records import dataclass
from polysched.tensorize.software.sizes import is_general

SHARED = "#pragma omp for"
NEVER, ALWAYS = "0", "1"


@dataclass(frozen=True, kw_only=True)
class Step:
    """Calls that do not wait for each other.

    Parameters
    ----------
    lines : the calls, as C.
    worth : C conditions on the sizes under which one of the calls pays for a team; `NEVER` and `ALWAYS` are known.
    """

    lines: tuple[str, ...]
    worth: tuple[str, ...] = ()


def worth_from(count: int, least: int) -> str:
    """The condition that a count pays for a team; where sizes are not known, samples of them decide whether it may."""
    if int(count) < least:
        return NEVER
    return f"{count} >= {least}" if is_general(count) else ALWAYS


def in_team(body: Sequence[str]) -> list[str]:
    """The body of a function that all threads call."""
    if any(line.lstrip().startswith(SHARED) for line in body):
        return [*body]
    return ["#pragma omp single nowait", "{", *(f"    {line}" for line in body), "}"]


def region(steps: Iterable[Step], *, parallel: bool) -> Iterator[str]:
    """The steps one after the other, by a team of threads where one of them pays for it.

    Without that it is a team of one: what stands in the functions of the steps must not mean a team of the caller's.

    Parameters
    ----------
    parallel : the functions of the steps are for a team.
    """
    apart = [step for step in steps if step.lines]
    if not parallel:
        yield from (line for step in apart for line in step.lines)
        return
    worth = list(dict.fromkeys(w for step in apart for w in step.worth if w != NEVER))
    yield "#pragma omp parallel" + ("" if ALWAYS in worth else f" if({' || '.join(worth) or NEVER})")
    yield "{"
    for number, step in enumerate(apart):
        yield from ["    #pragma omp barrier"] if number else []
        yield from (f"    {line}" for line in step.lines)
    yield "}"
