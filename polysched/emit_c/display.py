"""Emitted C as HTML for notebooks."""

from __future__ import annotations

from polysched.emit_c.c_source import CSource
from polysched.scop.html import c_code, card, paragraph


def c_source_html(source: CSource) -> str:
    """The C, in colour where Pygments is installed, and what had to be left out."""
    return card(f"C of {source.scop.name}: {len(source.text.splitlines())} lines", c_code(source.text),
                *(paragraph(f"left out: {fallback}") for fallback in source.fallbacks))
