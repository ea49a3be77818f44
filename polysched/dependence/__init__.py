"""Exact dependences between statement instances, and the legality of schedules."""

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.legality import Violation, band_properties, check_legal, violation
from polysched.dependence.reductions import Reduction, find_reductions

__all__ = ["Dependence", "DependenceKind", "Dependences", "Reduction", "Violation", "analyse", "band_properties",
           "check_legal", "find_reductions", "violation"]

PROVIDED = {
    "Dependences.carried_by": "questions:carried_by",
    "Dependences.blocking": "questions:blocking",
    "Dependences.__str__": "text:dependences_text",
    "Dependences._repr_html_": "display:dependences_html",
}
"""What methods of values call (`scop.provided`)."""
