"""Matches and plans of products of bytes."""

from __future__ import annotations

from polysched.target import host
from polysched.tensorize import find_intrinsic, match, operators
from polysched.tensorize.emission.plan import Plan, PlanChoice, Tiling, make_plan
from polysched.tensorize.matching.mapping import Match

BYTES = {"dtype": "uint8", "right_dtype": "int8", "accumulator": "int32"}


def product(name: str, *, m: int, n: int, k: int) -> Match:
    """The cheapest match of an instruction in a product of bytes."""
    return match(operators.gmm(m=m, n=n, k=k, **BYTES), find_intrinsic(name)).matches[0]


def plan(found: Match, tiling: Tiling) -> Plan:
    return make_plan(found, emulated=False, target=host(), choice=PlanChoice(tiling=tiling))
