"""What stands for a sequence is resolved, never inferred or run as an operator on tensors."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.families.sequences import OPERATORS, STRUCTURED
from polysched.graph.operators.operator import Site
from polysched.graph.values.graph import Node


def test_types_are_not_inferred() -> None:
    graph = from_text("graph f(x: float32[3]) {\n  let s = SequenceConstruct(x)\n  return s\n}")
    with pytest.raises(UnsupportedGraphError, match="the structure of a sequence depends on data"):
        infer(graph)


@pytest.mark.parametrize("name", sorted(STRUCTURED))
def test_there_is_no_reference_on_tensors(name: str) -> None:
    operator = next(o for o in OPERATORS if o.name == name)
    site = Site(node=Node.of(name, ("x",), ("y",)), inputs=(None,), known=(None,))
    with pytest.raises(UnsupportedGraphError, match="run by the interpreter"):
        operator.reference(site, np.zeros(2))
