"""`alone_inside_team`: code on threads, and code on one thread for where a thread of a team runs the region."""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_c.c_source import CSource, approximated_of
from polysched.emit_c.scalar_code.original_code import inside


def alone_inside_team(threads: CSource, alone: CSource) -> CSource:
    """The region in two versions.

    Rewrite:  THREADS  ->  if (omp_in_parallel()) { ALONE } else { THREADS }

    Parameters
    ----------
    threads : the region on a team of threads of its own.
    alone : the region on one thread; its preamble is empty.
    """
    lines = ["{", "#ifdef _OPENMP", "  int omp_in_parallel(void);", "#else", "#define omp_in_parallel() 0", "#endif",
             "  if (omp_in_parallel()) {", *(inside(inside(line)) for line in alone.text.splitlines()), "  } else {",
             *(inside(inside(line)) for line in threads.text.splitlines()), "  }", "#ifndef _OPENMP",
             "#undef omp_in_parallel", "#endif", "}"]
    return replace(threads, text="".join(f"{line}\n" for line in lines),
                   fallbacks=tuple(dict.fromkeys((*threads.fallbacks, *alone.fallbacks))),
                   approximated=approximated_of((threads, alone)))
