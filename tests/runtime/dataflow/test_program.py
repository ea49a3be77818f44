"""Programs send nodes, at once or on demand, on their own workers."""

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.runtime.dataflow import FunctionCode

ADD = FunctionCode(function=lambda x, y: x + y)


def test_a_value_in_the_store_goes_to_several_nodes(in_process) -> None:
    program = in_process().program("p")
    big = program.put(np.arange(5))
    futures = [program.call(ADD, big, n, worker=n) for n in range(2)]
    assert [f.result(30).tolist() for f in futures] == [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]


def test_a_node_on_demand_is_sent_when_its_value_is_wanted(in_process) -> None:
    program = in_process().program("p")
    first = program.call(ADD, 1, 2, on_demand=True)
    second = program.call(ADD, first, 3, on_demand=True)
    assert not first.node.references
    assert "not sent" in repr(first)
    third = program.call(ADD, second, 4)
    assert first.node.references
    assert third.result(30) == 10
    assert first.done
    unused = program.call(ADD, 1, 1, on_demand=True)
    assert not unused.node.references


def test_two_programs_have_their_own_workers(in_process) -> None:
    cluster = in_process(workers=3)
    first, second = cluster.program("a", (0, 2)), cluster.program("b", (1,))
    assert first.call(ADD, 1, 1, worker=1).node.worker == 2
    assert second.call(ADD, 1, 1).node.worker == 1
    assert repr(second) == "<Program b on 1 workers>"
    with pytest.raises(UsageError, match="workers 0 to 0"):
        second.call(ADD, 1, 1, worker=1)


def test_load_brings_code_to_all_processes(in_process) -> None:
    cluster = in_process()
    cluster.program("p").load(ADD)
    assert all(ADD.key in a.executor.loaded for a in cluster._engine.actors)
