"""Random graphs against the interpreter: plans read in Python, and some compiled."""

import numpy as np
import pytest

from polysched.fuzz.operator_graphs import graph_inputs, random_graph
from polysched.graph import from_text, interpret, to_text
from polysched.model.compiling import compile_graph
from polysched.model.planned import planned
from polysched.model.verification import check
from tests.graph.samples import read_plan

PLAIN = [seed for seed in range(90) if not any(n.regions for n in random_graph(seed, nodes=6).nodes)][:30]
"""Without branches and loops: the plans of others are read by compiled models only."""


@pytest.mark.parametrize("seed", PLAIN)
def test_a_plan_is_the_graph(seed: int) -> None:
    graph = random_graph(seed, nodes=6)
    inputs = graph_inputs(graph, seed)
    assert to_text(from_text(to_text(graph))) == to_text(graph)
    check(read_plan(planned(graph), inputs), interpret(graph, inputs), "the interpreter")


@pytest.mark.parametrize("seed", range(100, 106))
def test_a_compiled_model_is_the_graph(seed: int) -> None:
    graph = random_graph(seed)
    inputs = graph_inputs(graph, seed)
    check(compile_graph(graph).run(inputs), interpret(graph, inputs), "the interpreter")


def test_draws_repeat_and_differ() -> None:
    assert to_text(random_graph(3)) == to_text(random_graph(3)) != to_text(random_graph(4))
    assert len({n.op for seed in range(60) for n in random_graph(seed).nodes}) > 25
    assert all(np.array_equal(a, b) for a, b in zip(graph_inputs(random_graph(5), 1).values(),
                                                    graph_inputs(random_graph(5), 1).values(), strict=True))
