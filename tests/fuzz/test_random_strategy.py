"""Random strategies: what a user may write, of statements and loops that the program has."""

from __future__ import annotations

import json

import pytest

from polysched.fuzz.generator import generate
from polysched.fuzz.random_strategy import random_strategy, strategy_json
from polysched.scheduling.options import FUSION_POLICIES
from polysched.scheduling.strategy import COSTS
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

COUNT = 300


@pytest.fixture(scope="module")
def scop() -> Scop:
    return next(s for seed in range(50) if len((s := from_c_text(generate(seed).text())).statements) > 2)


def test_every_key_is_drawn_and_names_what_is_there(scop: Scop) -> None:
    loops = {s.name: set(s.iterators) for s in scop.statements}
    met: set[str] = set()
    for seed in range(COUNT):
        value = json.loads(strategy_json(scop, seed))
        met |= set(value)
        assert value.get("fusion", "smart") in FUSION_POLICIES
        for key in ("together", "apart"):
            assert all(set(group) <= set(loops) and len(set(group)) == 2 for group in value.get(key, []))
        assert all(loop in loops[name] for name, loop in value.get("vectorize", {}).items())
        assert all(set(weights) == loops[name] for name, weights in value.get("weights", {}).items())
        for dimension in value["dimensions"]:
            assert 1 <= len(dimension["cost"]) == len(set(dimension["cost"]) & set(COSTS))
            assert all(set(row) <= loops[name] for name, rows in dimension.get("forbidden", {}).items() for row in rows)
    assert met == {"dimensions", "fusion", "together", "apart", "vectorize", "weights"}


def test_weights_are_given_where_a_cost_needs_them(scop: Scop) -> None:
    for seed in range(COUNT):
        value = json.loads(strategy_json(scop, seed))
        assert ("weights" in value) == any("weights" in d["cost"] for d in value["dimensions"])


def test_a_number_gives_one_strategy_that_can_be_read(scop: Scop) -> None:
    texts = [strategy_json(scop, seed) for seed in range(COUNT)]
    assert strategy_json(scop, 7) == texts[7]
    assert len(set(texts)) > COUNT // 2
    for seed in range(0, COUNT, 10):
        assert len(random_strategy(scop, seed).dimensions) == len(json.loads(texts[seed])["dimensions"])


def test_a_program_without_loops_has_costs_alone() -> None:
    scop = from_c_text("void f(int A[1]) {\n#pragma scop\nA[0] = 1;\n#pragma endscop\n}\n")
    for seed in range(60):
        assert set(json.loads(strategy_json(scop, seed))) <= {"dimensions", "fusion", "weights"}
        random_strategy(scop, seed)
