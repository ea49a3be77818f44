"""Each rule computes the same, by the interpreter over random shapes: bit for bit, or within the bound of roundings."""

from __future__ import annotations

import random

import numpy as np
import pytest

from polysched.scop.expression import Symbol, axis, compute, placeholder
from polysched.scop.expression import sum as sum_over
from polysched.search.rewriting.errors import error_bound
from polysched.search.rewriting.rules import RULES, Keeps, factor_out
from polysched.search.rewriting.terms import key, stages, with_stage
from tests.search.rewriting.programs import PROGRAMS, run, values_of

FITS = {"map fusion": {"maps"}, "split and join": {"chain", "windows", "maps", "scaled_sum", "plane", "long_sum",
                                                   "summed_sides", "common_factor"},
        "layout": {"chain", "windows", "plane", "scaled_sum", "summed_sides", "maps", "long_sum"},
        "im2col": {"windows", "plane"}, "split reduction": {"chain", "long_sum"}, "factor": {"scaled_sum",
                                                                                             "common_factor"},
        "distribute": {"summed_sides"}, "chain order": {"chain"}, "Winograd F(2x2, 3x3)": {"windows", "plane"}}


def rewritten(rule, output):
    return [with_stage(output, stage, new) for stage in stages(output) for new in rule.rewrite(stage)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_keeps_the_value(rule):
    draw = random.Random(rule.name)
    seen = set()
    for program in PROGRAMS:
        if program.__name__ not in FITS[rule.name]:
            continue
        winograd = rule.name.startswith("Winograd")
        for dtype in ("float32", "float64") if winograd else ("uint32", "float32"):
            output = program(draw, dtype)
            values = values_of(output, draw.randrange(1 << 30))
            expected = run(output, values)
            for new in rewritten(rule, output):
                seen.add(program.__name__)
                assert key(new) != key(output)
                result = run(new, values)
                if rule.keeps is Keeps.ORDER or dtype == "uint32":
                    assert np.array_equal(result, expected), (program.__name__, key(new))
                else:
                    assert np.all(np.abs(result.astype(np.float64) - expected) <= tolerance(output, new, values))
    assert seen, "the rule fits nothing"


def tolerance(before, after, values):
    """Both are so far from the exact value at most; the magnitudes are rounded themselves, hence the factor."""
    bounds = [error_bound(term) for term in (before, after)]
    return sum(1.001 * b.share * run(b.magnitude, values).astype(np.float64) for b in bounds)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_fits_nothing_else(rule):
    draw = random.Random(1)
    for program in PROGRAMS:
        if program.__name__ not in FITS[rule.name]:
            assert not rewritten(rule, program(draw, "float32")), program.__name__


@pytest.mark.parametrize(("dtype", "fits"), [("float32", False), ("uint32", True)])
def test_a_float_leaves_no_sum_that_may_be_empty(dtype: str, fits: bool) -> None:
    """`a * 0` is no number where `a` is infinite; a sum of nothing is 0 beside it."""
    size, j = Symbol("n"), axis("j")
    a, b = placeholder("A", (3,), dtype), placeholder("B", (3, size), dtype)
    scaled = compute((3,), lambda i: sum_over(a[i] * b[i, j], over=j), name="O")
    assert bool(list(factor_out(scaled))) is fits
