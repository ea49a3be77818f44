"""A Scop as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable

from polysched.errors import UsageError
from polysched.scop.html import beside, c_code, card, drawing, folded, paragraph, preformatted, table
from polysched.scop.picture import Picture, draw_domains
from polysched.scop.scop import Access, Scop
from polysched.scop.text import scop_text


def scop_html(scop: Scop) -> str:
    """The source, the arrays and statements, the iteration domains as dots, and the whole text folded."""
    arrays = table(("array", "type", "extents", "storage"),
                   ((a.name, a.dtype, " × ".join(map(str, a.c_extents)) or "scalar", a.storage.value)
                    for a in scop.arrays))
    statements = table(("statement", "line", "iterators", "reads", "writes"),
                       ((s.name, s.line or "", ", ".join(s.iterators), _arrays(s.reads), _arrays(s.writes))
                        for s in scop.statements))
    source = [c_code(source_text(scop))] if scop.source is not None else []
    return card(f"Scop {scop.name}", beside(*source, statements + arrays),
                picture_or_reason(lambda: draw_domains(scop)), folded("everything", preformatted(scop_text(scop))))


def source_text(scop: Scop) -> str:
    """The region as it stands in the file, without the pragmas' common indentation; empty when there is no file."""
    if scop.source is None:
        return ""
    lines = scop.source.text[scop.source.start:scop.source.end].splitlines()
    body = [line for line in lines if not line.lstrip().startswith("#pragma")]
    common = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
    return "".join(f"{line[common:].rstrip()}\n" for line in body)


def picture_or_reason(draw: Callable[[], Picture]) -> str:
    """The picture, or the reason why there is none."""
    try:
        return drawing(draw().svg)
    except UsageError as refusal:
        return paragraph(f"no picture: {refusal.problem}")


def _arrays(accesses: tuple[Access, ...]) -> str:
    return ", ".join(dict.fromkeys(a.array for a in accesses))
