"""Exact dependences between statement instances, and the legality of schedules."""

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.legality import Violation, band_properties, check_legal, violation
from polysched.dependence.reductions import Reduction, find_reductions

__all__ = ["Dependence", "DependenceKind", "Dependences", "Reduction", "Violation", "analyse", "band_properties",
           "check_legal", "find_reductions", "violation"]
