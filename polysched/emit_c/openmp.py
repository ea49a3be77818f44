"""OpenMP pragmas of a loop, from its mark (OpenMP 4.5, sections 2.7.1 and 2.8.1).

Loop variables are declared in the loops themselves, so they are private without a clause.
"""

from __future__ import annotations

from polysched.emit_c.loops import For, is_innermost


def pragmas(loop: For, *, above: tuple[For, ...], threads: bool, simd: bool) -> list[str]:
    """The pragma lines in front of a loop.

    Parameters
    ----------
    above : the loops around it, outermost first; only the outermost parallel one starts a team of threads.
    threads, simd : which kinds of pragma are wanted.
    """
    team = threads and _wants_team(loop) and not any(_wants_team(outer) for outer in above)
    vector = simd and loop.mark.simd and loop.is_canonical and is_innermost(loop)
    if not team and not vector:
        return []
    return ["#pragma omp" + (" parallel for" if team else "") + (" simd" if vector else "")]


def _wants_team(loop: For) -> bool:
    return loop.mark.parallel and loop.is_canonical
