"""The region as it stood in the file, for code that keeps it as an alternative."""

from __future__ import annotations

from polysched.emit_c.scalar_code.c_text import DIRECTIVES
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.scop.scop import Scop


def original_lines(scop: Scop, *, alone: bool = False) -> list[str]:
    """The region as it stood in the file, without its pragmas and its indentation, one level in.

    Where it declares what the code behind it uses, without those declarations.  What it steps itself is not stepped
    again behind it.  A part of a region has no such code: others of its parts have run.

    Parameters
    ----------
    alone : nothing else stands in the region's place.
    """
    region = scop.source
    if region is None:
        raise ValueError(f"{scop.name} does not come from a C file")
    if not region.whole:
        return [INDENT + "void abort(void);", INDENT + "abort();   /* no memory for a part of the region */"]
    stepped = [] if alone else [INDENT + variable.done for variable in region.stepped]
    if region.without_declarations:
        return [*(INDENT + line for line in region.without_declarations.splitlines()), *stepped]
    lines = region.text[region.start:region.end].splitlines()
    pragmas = (["pragma", "scop"], ["pragma", "endscop"])
    code = [line for line in lines if line.replace("#", "", 1).split()[:2] not in pragmas]
    return [*(INDENT + line.removeprefix(region.indent) if line.strip() else line for line in code), *stepped]


def inside(line: str) -> str:
    """A line one level in; preprocessor lines stay where they are, but for pragmas."""
    return line if line.startswith(DIRECTIVES) or not line else INDENT + line
