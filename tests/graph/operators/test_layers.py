"""What layers refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Dense", floats(2, 3), floats(3, 4)), "do not fit together"),
    (sample("BiasAdd", floats(2, 3), floats(2)), "a number per channel"),
    (sample("NllLoss", floats(2, 3), ints(3, dtype="int64")), "a class per element"),
    (sample("NllLoss", floats(2, 3), ints(2, dtype="int64"), reduction="most"), "a reduction most"),
    (sample("AdaptivePool", floats(1, 1, 4), output_size=(2, 2)), "a size of at least 1 per dimension"),
    (sample("PoolGrad", floats(1, 1, 3), floats(1, 1, 4), kernel_shape=(3,)), "another shape than the pool's result"),
    (sample("PoolGrad", floats(1, 1, 2), floats(1, 1, 4), kernel_shape=(3,), ceil_mode=1), "with ceil_mode"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(graph_of(case)[0])
