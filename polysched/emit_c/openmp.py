"""OpenMP pragmas of a loop, from its mark (OpenMP 4.5, sections 2.7.1 and 2.8.1).

Loop variables are declared in the loops themselves, so they are private without a clause.
"""

from __future__ import annotations

from polysched.emit_c.index import Comparison, constant
from polysched.emit_c.index_printer import IndexPrinter
from polysched.emit_c.loops import For, is_innermost


def pragmas(loop: For, *, above: tuple[For, ...], threads: bool, simd: bool, index: IndexPrinter) -> list[str]:
    """The pragma lines in front of a loop.

    Parameters
    ----------
    above : the loops around it, outermost first; only the outermost parallel one starts a team of threads.
    threads, simd : which kinds of pragma are wanted.
    index : prints the condition under which a team is worth its start.
    """
    team = threads and runs_on_threads(loop, above)
    vector = simd and runs_in_lanes(loop)
    if not team and not vector:
        return []
    clause = _if_clause(loop, index) if team else ""
    return ["#pragma omp" + (" parallel for" if team else "") + (" simd" if vector else "") + clause]


def _if_clause(loop: For, index: IndexPrinter) -> str:
    least = loop.mark.least_iterations
    if least <= 1:
        return ""
    enough = Comparison(">=", loop.upper - loop.lower, constant(least * loop.step))
    return f" if({'parallel: ' if loop.mark.simd and is_innermost(loop) else ''}{index.condition(enough)})"


def runs_on_threads(loop: For, above: tuple[For, ...]) -> bool:
    """Whether the loop is the outermost parallel one."""
    return _wants_team(loop) and not any(_wants_team(outer) for outer in above)


def runs_in_lanes(loop: For) -> bool:
    """Whether the loop is an innermost one whose iterations are independent."""
    return loop.mark.simd and loop.is_canonical and is_innermost(loop)


def _wants_team(loop: For) -> bool:
    return loop.mark.parallel and loop.is_canonical
