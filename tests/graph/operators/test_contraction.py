"""What operators of this family refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Einsum", floats(3, 2), equation="ij,jk->ik"), "does not fit 1 operands"),
    (sample("Einsum", floats(3, 2), equation="i->i"), "does not fit 2 dimensions"),
    (sample("Einsum", floats(3, 2), floats(3, 4), equation="ij,jk->ik"), "the label j has two extents"),
    (sample("Einsum", floats(3, 2), equation="ij->k"), "labels that no operand has"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)
