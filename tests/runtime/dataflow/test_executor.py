"""A worker loads code once."""

import os
import threading

import pytest

from polysched.runtime.dataflow import FunctionCode
from polysched.runtime.dataflow.executor import Executor


def test_code_is_fetched_when_it_is_not_there() -> None:
    executor, code, fetched = Executor(), FunctionCode(function=lambda x: 2 * x), []
    for value in (1, 2):
        (_, seconds), doubled = executor.run(code.key, lambda: fetched.append(1) or code, (value,))
        assert (doubled, seconds >= 0) == (2 * value, True)
    assert fetched == [1]
    assert executor.load(code) == os.getpid()


def test_nodes_of_several_callers_run_one_at_a_time_in_one_thread() -> None:
    executor, inside, most, threads = Executor(), [], [], set()

    def work(value: int) -> int:
        inside.append(value)
        threads.add(threading.get_ident())
        most.append(len(inside))
        inside.remove(value)
        return value
    code, found = FunctionCode(function=work), {}
    executor.load(code)
    callers = [threading.Thread(target=lambda v=v: found.__setitem__(v, executor.run(code.key, None, (v,))[1]))
               for v in range(20)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == {v: v for v in range(20)}
    assert max(most) == 1
    assert len(threads) == 1


def test_an_error_of_code_is_raised_in_the_caller() -> None:
    executor, code = Executor(), FunctionCode(function=lambda: 1 // 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            executor.run(code.key, lambda: code, ())
