"""Emission for a check of the order of execution: calls of macros instead of pragmas.

In front of every statement instance stands `NAME_<position>((long)i, (long)j);`, position counting the
statements of the Scop, with the values of the source's iterators.  A loop that would run on threads (1), in
vector lanes (2) or on threads with partial results (3) becomes
`NAME_begin(1); for (...) { NAME_iteration(1); ... } NAME_end(1);`.
"""

from __future__ import annotations

from collections.abc import Sequence

from polysched.emit_c.loop_ir.index import Linear
from polysched.emit_c.scalar_code.c_text import cast
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.scop.dtypes import INT64

THREADS = 1
LANES = 2
PARTS = 3


def instance_call(trace: str, position: int, iterators: Sequence[Linear], index: IndexPrinter) -> str:
    """The line in front of a statement instance."""
    values = ", ".join(cast(INT64.c_name, index.form(form).text).code for form in iterators)
    return f"{trace}_{position}({values});"


def unordered_loop(trace: str, kinds: Sequence[int], header: str, body: list[str]) -> list[str]:
    """A loop whose iterations the real code leaves unordered, for one or both reasons."""
    iterations = [f"{INDENT}{trace}_iteration({kind});" for kind in kinds]
    return [*(f"{trace}_begin({kind});" for kind in kinds),
            f"{header} {{", *iterations, *(INDENT + line for line in body), "}",
            *(f"{trace}_end({kind});" for kind in reversed(kinds))]
