"""Dependences as HTML for notebooks."""

from __future__ import annotations

from polysched.dependence.dependences import Dependences
from polysched.dependence.picture import draw_dependences
from polysched.dependence.text import dependences_text
from polysched.scop.display import picture_or_reason
from polysched.scop.html import card, folded, paragraph, preformatted, table


def dependences_html(dependences: Dependences) -> str:
    """The domains with an arrow per pair of dependent instances, and every pair of accesses in a table."""
    rows = ((d.kind.value + (" (reduction)" if d.reduction else ""), d.source, d.sink, d.array,
             f"{d.source_reference} → {d.sink_reference}") for d in dependences.pairs)
    exactness = "value-based" if dependences.value_based else "memory-based"
    return card(f"Dependences of {dependences.scop.name}: {len(dependences.pairs)}, {exactness}",
                picture_or_reason(lambda: draw_dependences(dependences)),
                table(("kind", "from", "to", "array", "accesses"), rows),
                *(paragraph(f"less exact: {f}") for f in dependences.fallbacks),
                folded("relations", preformatted(dependences_text(dependences))))
