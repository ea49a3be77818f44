"""Reductions: updates of one location that may run in any order."""

from polysched.dependence.reductions.recognition import find_reductions, mark_reductions
from polysched.dependence.reductions.reduction import OVERWRITES, Reduction

__all__ = ["OVERWRITES", "Reduction", "find_reductions", "mark_reductions"]
