"""A loop that starts a team of threads only where there is enough to do, in two branches.

Rewrite:  #pragma omp parallel for if(work >= least)       if (work >= least) {
          LOOP                                        ->     #pragma omp parallel for
                                                             LOOP
                                                           } else
                                                             LOOP

A region that its `if` clause keeps from starting a team is entered all the same: the loop is a function of its own
that the OpenMP runtime calls (OpenMP 4.5, section 2.5: one thread executes it), which takes longer than adding two
thousand floats.  The second branch is a plain loop, which the compiler sees whole.  The loop stands there twice, so
long ones do not.
"""

from __future__ import annotations

from collections.abc import Sequence

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.openmp import pragmas, team_condition, unrolling
from polysched.emit_c.scalar_code.statements import INDENT, branches

MOST_LINES = LIMITS.most_repeated_lines


def with_pragmas(loop: For, lines: Sequence[str], *, above: tuple[For, ...], threads: bool, simd: bool,
                 index: IndexPrinter, tested: list[tuple[int, int]]) -> list[str]:
    """A loop's lines with its pragmas, which are those of `pragmas`: a clause or two branches say when threads pay.

    Parameters
    ----------
    tested : gets band and member of a loop in two branches.
    """
    condition = team_condition(loop, above=above, index=index) if threads else None
    if condition is None or len(lines) > MOST_LINES:
        return [*(pragmas(loop, above=above, threads=threads, simd=simd, index=index) or unrolling(loop)), *lines]
    tested.append((loop.mark.band, loop.mark.member))
    team = pragmas(loop, above=above, threads=True, simd=simd, index=index, tested=True)
    alone = pragmas(loop, above=above, threads=False, simd=simd, index=index) or unrolling(loop)
    return branches(condition, (INDENT + line for line in (*team, *lines)),
                    (INDENT + line for line in (*alone, *lines)))
