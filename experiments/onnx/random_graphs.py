"""Random operator graphs, compiled, against the interpreter: `python experiments/onnx/random_graphs.py FIRST COUNT`."""

from __future__ import annotations

import sys
from collections import Counter

from polysched.errors import PolyschedError, WrongResultError
from polysched.fuzz.operator_graphs import graph_inputs, random_graph
from polysched.graph import interpret
from polysched.model.compiling import compile_graph
from polysched.model.verification import check


def outcome(seed: int) -> str:
    """`right`, `wrong`, or why the graph was refused."""
    graph = random_graph(seed)
    inputs = graph_inputs(graph, seed)
    try:
        check(compile_graph(graph).run(inputs), interpret(graph, inputs), "the interpreter")
    except WrongResultError as error:
        print(f"seed {seed}: {error}", flush=True)
        return "wrong"
    except PolyschedError as error:
        print(f"seed {seed}: {error}", flush=True)
        return f"refused: {error.problem}"
    return "right"


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    print(Counter(outcome(seed) for seed in range(first, first + count)))
