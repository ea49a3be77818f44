"""`polysched.compile` of graphs and of what is none."""

import subprocess
import sys

import numpy as np
import pytest

import polysched
from polysched.errors import UsageError
from polysched.graph import from_text
from polysched.model import CompiledModel

GRAPH = from_text("graph f(x: float32[4]) {\n  let y = Relu(x)\n  return y\n}")


def test_a_graph_is_a_model() -> None:
    model = polysched.compile(GRAPH, islands="refuse")
    assert isinstance(model, CompiledModel)
    assert model(x=np.array([-1, 2, -3, 4], np.float32))["y"].tolist() == [0, 2, 0, 4]
    with pytest.raises(UsageError, match="islands are refused or allowed"):
        polysched.compile(GRAPH, islands="sink")


def test_sizes_are_of_graphs() -> None:
    with pytest.raises(UsageError, match="sizes=, values= and likely= are of graphs"):
        polysched.compile(lambda x: x, sizes={"N": 2})
    with pytest.raises(UsageError, match="does not compile"):
        polysched.compile(3)


def test_what_compiles_graphs_is_not_loaded_for_other_programs() -> None:
    code = ("import sys, polysched; compile = polysched.compile; "
            "print([m for m in sys.modules if m.startswith(('polysched.model.comp', 'polysched.graph.op'))])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
