"""Items pass through stages on different workers."""

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.runtime.dataflow import FunctionCode, Stage, pipeline

TWICE = FunctionCode(function=lambda x, by: by * x)
SPLIT = FunctionCode(function=lambda x: (x - 1, x + 1), results=2)
JOIN = FunctionCode(function=lambda low, high: low * high)


def test_every_item_passes_all_stages_in_order(in_process) -> None:
    program = in_process(workers=3, crash_before={4}).program("p")
    stages = [Stage(code=TWICE, worker=0, constants=(np.float64(2),)), Stage(code=SPLIT, worker=1),
              Stage(code=JOIN, worker=2)]
    ends = pipeline(program, stages, [(float(n),) for n in range(5)])
    assert [end.result(30) for (end,) in ends] == [4.0 * n * n - 1 for n in range(5)]


def test_a_pipeline_without_stages_is_refused(in_process) -> None:
    with pytest.raises(UsageError, match="at least one stage"):
        pipeline(in_process().program("p"), [], [])
