"""Exact dependences between statement instances, and the legality of schedules."""

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.legality import Violation, band_properties, check_legal, violation

__all__ = ["Dependence", "DependenceKind", "Dependences", "Violation", "analyse", "band_properties", "check_legal",
           "violation"]
