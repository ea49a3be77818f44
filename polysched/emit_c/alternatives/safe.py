"""`original_when_small`: where there is too little to do for the transformed code to pay, the original runs."""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_c.alternatives.crossover import Crossover
from polysched.emit_c.c_source import CSource
from polysched.emit_c.scalar_code.original_code import inside, original_lines
from polysched.emit_c.scalar_code.statements import INDENT, branches
from polysched.errors import UsageError

JOINED = "\n    && "
"""Between conditions of sizes, each of which is long."""


def original_when_small(source: CSource, crossover: Crossover) -> CSource:
    """Put the region behind a test of its sizes, with the original code as the other branch.

    Rewrite:  NEW  ->  if (the sizes are large enough) { NEW } else { ORIGINAL }

    A region without conditions stays as it is.

    Raises
    ------
    UsageError : the region does not come from a C file.
    """
    scop = source.scop
    if scop.source is None:
        raise UsageError("the original code is not at hand", where=scop.name, hint="--safe is for regions of C files")
    if not crossover.conditions:
        return source
    pays = JOINED.join(crossover.conditions)
    lines = branches(pays, map(inside, source.text.splitlines()), original_lines(scop))
    return replace(source, pays=pays, text="".join(f"{line}\n" for line in lines))


def as_written(source: CSource) -> CSource:
    """The region as it stood in the file; nothing of the emitted code is left.

    Rewrite:  NEW  ->  ORIGINAL
    """
    lines = (line.removeprefix(INDENT) for line in original_lines(source.scop, alone=True))
    return replace(source, kept=True, text="".join(f"{line}\n" for line in lines), preamble="", allocated=(), teams=0,
                   tested_teams=(), threads_pay="", approximated=())
