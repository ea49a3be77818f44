"""Every operator: its reference, and how it is compiled, on small operands."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Node, interpret
from polysched.graph.operators.families.sequences import STRUCTURED
from polysched.graph.operators.registry import FAMILIES, OPERATORS, operator_of
from polysched.model.planned import planned
from tests.graph.samples import SAMPLES, Sample, graph_of, read_plan


def name_of(case: Sample) -> str:
    return "-".join([case[0], *(f"{k}={v}" for k, v in case[2].items())])


@pytest.mark.parametrize("case", SAMPLES, ids=name_of)
def test_what_is_compiled_is_the_reference(case: Sample) -> None:
    graph, inputs = graph_of(case, OPERATORS[case[0]].steering)
    wanted = interpret(graph, inputs)
    found = read_plan(planned(graph), inputs)
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        tolerance = 2e-3 if array.dtype == np.float16 else 2e-6
        np.testing.assert_allclose(found[name], array, rtol=tolerance, atol=tolerance)


def test_every_operator_has_a_sample() -> None:
    without = {"If", "Loop", "Scan", "Call", "Branch", "Repeat", *STRUCTURED}
    assert set(OPERATORS) - without <= {case[0] for case in SAMPLES}


def test_no_name_stands_in_two_families() -> None:
    assert len(OPERATORS) == sum(len(family.OPERATORS) for family in FAMILIES)


def test_an_unknown_operator_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedGraphError, match="there is no operator Frobnicate"):
        operator_of(Node.of("Frobnicate", ("x",), ("y",)))
