"""Random strategies for a program, as a user writes them: JSON."""

from __future__ import annotations

import json
import random
from typing import Any

from polysched.scheduling.options import FUSION_POLICIES
from polysched.scheduling.strategy import COSTS, Strategy
from polysched.scop.scop import Scop, Statement


def random_strategy(scop: Scop, seed: int) -> Strategy:
    """The strategy of this number for a program, read back from its JSON."""
    return Strategy.from_json(strategy_json(scop, seed))


def strategy_json(scop: Scop, seed: int) -> str:
    """Costs per dimension, a fusion policy, statements together or apart, vector loops, weights, forbidden rows."""
    source = random.Random(f"strategy {seed}")
    deep = [s for s in scop.statements if s.iterators]
    value: dict[str, Any] = {"dimensions": [_dimension(deep, source) for _ in range(source.choice((1, 1, 2, 3)))]}
    if source.random() < 0.6:
        value["fusion"] = source.choice(FUSION_POLICIES)
    if len(scop.statements) > 1 and source.random() < 0.3:
        value[source.choice(("together", "apart"))] = [source.sample([s.name for s in scop.statements], 2)]
    if deep and source.random() < 0.3:
        chosen = source.choice(deep)
        value["vectorize"] = {chosen.name: source.choice(chosen.iterators)}
    if deep and any("weights" in dimension["cost"] for dimension in value["dimensions"]):
        value["weights"] = {s.name: {i: source.randint(0, 5) for i in s.iterators} for s in deep}
    return json.dumps(value)


def _dimension(deep: list[Statement], source: random.Random) -> dict[str, Any]:
    costs = COSTS if deep else [c for c in COSTS if c != "weights"]   # without loops there is nothing to weigh
    dimension: dict[str, Any] = {"cost": source.sample(costs, source.choice((1, 1, 2, 3)))}
    if deep and source.random() < 0.15:
        chosen = source.choice(deep)
        dimension["forbidden"] = {chosen.name: [{source.choice(chosen.iterators): 1}]}
    return dimension
