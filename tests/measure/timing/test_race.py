"""Who comes when in a race, and what its samples claim."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest

import polysched
from polysched.measure.timing.race import Gain, clean_of, decided, gain_of, in_turn, order, pairs, ratios_of


@pytest.mark.parametrize("count", range(1, 10))
def test_each_comes_at_every_place_and_behind_each_other_one_equally_often(count: int) -> None:
    rounds = [order(count, number) for number in range(count * (1 + count % 2))]
    assert all(sorted(each) == list(range(count)) for each in rounds)
    for own in range(count):
        places = [each.index(own) for each in rounds]
        assert len({places.count(place) for place in range(count)}) == 1
    behind = [step for each in rounds for step in pairwise(each)]
    assert len({behind.count((a, b)) for a in range(count) for b in range(count) if a != b}) <= 1
    assert order(count, 4 * count + 1) == order(count, 1)


def test_both_of_a_pair_begin_equally_often() -> None:
    called: list[str] = []
    taken = list(pairs(lambda: called.append("first"), lambda: called.append("own"), most=2, begin=-2))
    assert called == ["first", "own", "own", "first"] * 2
    assert len(taken) == 4
    assert not list(pairs(lambda: 1, lambda: 2, most=0))


def test_nothing_is_sampled_that_nobody_asks_for_or_that_left() -> None:
    called: list[str] = []
    for pair in pairs(lambda: called.append("first"), lambda: called.append("own"), most=9):
        assert (pair.first, pair.own) == (None, None)
        break
    assert called == ["first", "own"]
    left = {"a": lambda: left.pop("b") and 1, "b": lambda: 2}
    assert in_turn(left, 0) == {"a": 1}
    assert in_turn({}, 3) == {}


def test_the_reference_is_kept_unless_an_interval_lies_above_1() -> None:
    clear, noisy, slow = [1.2 + 0.001 * k for k in range(25)], [0.9, 1.3] * 13, [0.8] * 25
    found = decided({"clear": clear, "noisy": noisy, "slow": slow, "none": []})
    assert (found.winner, found.ties) == ("clear", ("noisy",))
    assert found.gain.low > 1.19
    kept = decided({"noisy": noisy, "slow": slow})
    assert (kept.winner, kept.gain, kept.ties) == (None, Gain(), ("noisy",))
    assert decided({"few": [2.0] * 5}).winner is None, "32 ways of five signs: 93.75% at most"
    assert decided({}).winner is None


def test_many_codes_ask_for_wider_intervals() -> None:
    ratios = [1 + 0.01 * (k - 6) for k in range(25)]
    assert decided({0: ratios}).winner == 0
    assert decided(dict.fromkeys(range(40), ratios)).winner is None
    assert gain_of([2.0, 2.1]).low == 1.0


def test_ratios_are_of_pairs_that_nothing_disturbed() -> None:
    seconds = [(2.0, 1.0), (9.0, 1.0), (3.0, 2.0)]
    assert ratios_of(clean_of(seconds, [1])) == (2.0, 1.5)
    assert ratios_of([(1.0, 0.0)]) == (pytest.approx(1e9),)


def test_no_other_module_takes_turns() -> None:
    """Whoever reverses or rotates an order by the number of a round would be a second race."""
    home = Path(polysched.__file__).parent
    found = []
    for path in sorted(home.rglob("*.py")):
        text = path.read_text()
        if "perf_counter" not in text and "wall_seconds" not in text:
            continue
        found += [str(path.relative_to(home)) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.If)
                  and isinstance(node.test, ast.BinOp) and isinstance(node.test.op, ast.Mod)]
    assert not found
