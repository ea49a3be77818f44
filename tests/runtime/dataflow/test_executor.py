"""A worker loads code once."""

import os

from polysched.runtime.dataflow import FunctionCode
from polysched.runtime.dataflow.executor import Executor


def test_code_is_fetched_when_it_is_not_there() -> None:
    executor, code, fetched = Executor(), FunctionCode(function=lambda x: 2 * x), []
    for value in (1, 2):
        (_, seconds), doubled = executor.run(code.key, lambda: fetched.append(1) or code, (value,))
        assert (doubled, seconds >= 0) == (2 * value, True)
    assert fetched == [1]
    assert executor.load(code) == os.getpid()
