"""The rules of all operators, by name; one without a rule is differentiated as its composition."""

from __future__ import annotations

from polysched.graph.passes.differentiation import derivatives, functions, moves, sums
from polysched.graph.passes.differentiation.derivatives import Rule

RULES: dict[str, Rule] = {**derivatives.RULES, **functions.RULES, **moves.RULES, **sums.RULES}
