"""Dependences as text for people."""

from __future__ import annotations

from dataclasses import replace

from polysched.dependence.dependences import Dependences


def dependences_text(dependences: Dependences) -> str:
    """One line per dependence, simplified for parameters within the context."""
    simplified = (replace(d, relation=d.relation.gist_params(dependences.scop.context).coalesce())
                  for d in dependences.pairs)
    return "".join(f"{d}\n" for d in simplified)
