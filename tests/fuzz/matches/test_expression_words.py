"""Expressions in other words."""

from __future__ import annotations

import random

from polysched.fuzz.matches.c_tree import Expr, type_of, walk
from polysched.fuzz.matches.expression_words import expression, other_spellings
from polysched.fuzz.matches.loop_words import embedded
from polysched.fuzz.matches.units import unit


def test_types_are_respelled_and_the_body_stays() -> None:
    function, _ = embedded(random.Random(1), unit(1))
    new = other_spellings(random.Random(1), function)
    assert new.body == function.body
    assert new.text() != function.text()


def test_one_expression_changes_and_what_is_assigned_keeps_its_type() -> None:
    changed = 0
    for seed in range(60):
        function, _ = embedded(random.Random(seed), unit(seed))
        new = expression(random.Random(seed), function)
        if new is None:
            continue
        changed += new.body != function.body
        assert new.arrays == function.arrays
        assert all(type_of(e, new.types) for e in walk(new.body) if isinstance(e, Expr))
    assert changed > 20
