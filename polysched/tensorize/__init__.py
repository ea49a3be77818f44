"""Tensorize: programs computed by described instructions and library calls.

    from polysched.tensorize import MatchOptions, Rule, find_intrinsic, match

    found = match(scop, find_intrinsic("mma_16x16x16"), MatchOptions(rule=Rule.EXACT))
    found.count, found.matches[0], found.to_json()
"""

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.matching.encoding import Extents, Rule
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.match import Matches, MatchOptions, match
from polysched.tensorize.registry import INTRINSICS, find_intrinsic, load_intrinsics

__all__ = ["INTRINSICS", "Extents", "Intrinsic", "Match", "MatchOptions", "Matches", "Rule", "find_intrinsic",
           "load_intrinsics", "match"]
