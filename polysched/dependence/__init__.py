"""Exact dependences between statement instances, and the legality of schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.legality import Violation, band_properties, check_legal, violation
from polysched.dependence.reductions import Reduction, find_reductions
from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.dependence.questions.restarting import restartable

__all__ = ["Dependence", "DependenceKind", "Dependences", "Reduction", "Violation", "analyse", "band_properties",
           "check_legal", "find_reductions", "restartable", "violation"]

__getattr__, __dir__ = loader(__name__, {"restartable": "questions.restarting"})

PROVIDED = {
    "Dependences.carried_by": "questions:carried_by",
    "Dependences.blocking": "questions:blocking",
    "Dependences.__str__": "text:dependences_text",
    "Dependences._repr_html_": "display:dependences_html",
}
"""What methods of values call (`scop.provided`)."""
