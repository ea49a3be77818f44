"""Updates and sums in other words."""

from __future__ import annotations

import random

from polysched.fuzz.matches.c_tree import Assign, Declare, walk
from polysched.fuzz.matches.loop_words import embedded
from polysched.fuzz.matches.sum_words import local_dropped, spelled_out
from polysched.fuzz.matches.units import unit


def test_spelling_an_update_out_twice_gives_it_back() -> None:
    changed = 0
    for seed in range(60):
        function, _ = embedded(random.Random(seed), unit(seed))
        new = spelled_out(random.Random(seed), function)
        if new is None or any(a.op not in ("=", "+=") for a in walk(function.body) if isinstance(a, Assign)):
            continue
        assert spelled_out(random.Random(seed), new) == function
        changed += new != function
    assert changed > 5


def test_a_dropped_local_is_not_declared() -> None:
    found = 0
    for seed in range(200):
        function, _ = embedded(random.Random(seed), unit(seed))
        new = local_dropped(random.Random(seed), function)
        if new is not None:
            before, after = (sum(1 for e in walk(f.body) if isinstance(e, Declare)) for f in (function, new))
            assert after < before
            found += 1
    assert found > 5
