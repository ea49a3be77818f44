"""Futures: what may be passed on, and what a wait says."""

import pytest

from polysched.errors import RunFailedError, UsageError
from polysched.runtime.dataflow import FunctionCode
from polysched.runtime.dataflow.nodes import timed_out

ADD = FunctionCode(function=lambda x, y: x + y)


@pytest.mark.parametrize("inside", [lambda f: [f], lambda f: (f,), lambda f: {"a": f}])
def test_a_future_inside_of_something_is_refused(in_process, inside) -> None:
    program = in_process().program("p")
    future = program.call(ADD, 1, 2)
    with pytest.raises(UsageError, match="a future stands inside of a"):
        program.call(ADD, inside(future), 2)


def test_a_future_of_another_cluster_is_refused(in_process) -> None:
    future = in_process().program("p").call(ADD, 1, 2)
    with pytest.raises(UsageError, match="of another cluster"):
        in_process().program("q").call(ADD, future, 2)


def test_a_future_shows_where_it_is(in_process) -> None:
    future = in_process().program("p").call(ADD, 1, 2, worker=1)
    future.result(30)
    assert repr(future) == "<Future of p on worker 1, done>"


def test_a_wait_ends() -> None:
    error = timed_out(2.0)
    assert isinstance(error, RunFailedError)
    assert "after 2 seconds" in str(error)
