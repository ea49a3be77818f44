"""Loops and arrays in other words."""

from __future__ import annotations

import random
from dataclasses import replace

from polysched.fuzz.matches.c_tree import Loop, walk
from polysched.fuzz.matches.loop_words import embedded, interchanged, renamed, unrolled
from polysched.fuzz.matches.units import unit
from polysched.records import whole


def test_names_change_and_nothing_else_does() -> None:
    for seed in range(40):
        function, _ = embedded(random.Random(seed), unit(seed))
        new = renamed(random.Random(seed), function)
        assert sorted(t for _, t in new.arrays) == sorted(t for _, t in function.arrays)
        assert len(list(walk(new.body))) == len(list(walk(function.body)))


def test_loops_change_places_and_keep_their_extents() -> None:
    changed = 0
    for seed in range(60):
        function, _ = embedded(random.Random(seed), unit(seed))
        new = interchanged(random.Random(seed), function)
        if new is not None:
            before, after = (sorted(whole(replace(e, body=())) for e in walk(f.body) if isinstance(e, Loop))
                             for f in (function, new))
            assert before == after
            changed += new != function
    assert changed > 5


def test_what_is_unrolled_has_fewer_iterations_of_more_statements() -> None:
    found = [(f, new) for seed in range(80) for f, _ in [embedded(random.Random(seed), unit(seed))]
             if (new := unrolled(random.Random(seed), f)) is not None]
    assert found
    assert all(len(list(walk(new.body))) > len(list(walk(f.body))) for f, new in found)
