"""What operators of this family refuse."""

from dataclasses import replace
from typing import Any

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Graph, Node
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.control import check_regions
from polysched.graph.operators.registry import OPERATORS
from tests.graph.samples import Sample, floats, graph_of, sample, truths, whole


@pytest.mark.parametrize(("case", "problem"), [
    (sample("If", truths(1)), "1 operands and 0 regions do not fit"),
    (sample("Loop", whole(1), truths(1)), "a number of iterations depends on data"),
    (sample("Scan", floats(1)), "a scan depends on data"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


@pytest.mark.parametrize(("attributes", "problem"), [
    ({"num_scan_inputs": -1}, "do not fit num_scan_inputs=-1"),
    ({"num_scan_inputs": 3}, "2 operands and 1 regions do not fit"),
    ({"num_scan_inputs": 1, "scan_input_axes": (0, 0)}, "scan_input_axes has 2 numbers, not 1"),
    ({"num_scan_inputs": 1, "scan_input_directions": (7, 7, 7)}, "scan_input_directions has 3 numbers, not 1"),
    ({"num_scan_inputs": 1, "scan_output_axes": ()}, "scan_output_axes has 0 numbers, not 1")])
def test_a_scan_of_other_numbers_of_slices_is_refused(attributes: dict[str, Any], problem: str) -> None:
    body = Graph(name="body", inputs=(), parameters=("t", "r"), nodes=(Node.of("Add", ("t", "r"), ("s",)),),
                 outputs=("s", "s"))
    node = replace(Node.of("Scan", ("start", "x"), ("y", "z"), attributes), regions=(body,))
    with pytest.raises(UnsupportedGraphError, match=problem):
        check_regions(node)
