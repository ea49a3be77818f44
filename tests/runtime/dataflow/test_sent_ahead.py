"""How far ahead nodes are sent."""

from dataclasses import replace
from threading import Event

import pytest

from polysched.errors import RunFailedError
from polysched.runtime.dataflow import FunctionCode, sent_ahead
from polysched.runtime.dataflow.nodes import Future, Node
from polysched.runtime.dataflow.sent_ahead import SentAhead
from polysched.runtime.limits import LIMITS

SLOW, QUICK = FunctionCode(function=abs, key="slow"), FunctionCode(function=abs, key="quick")


def node(code: FunctionCode, *inputs: Node, worker: int = 0, seconds: float = 0.0) -> Node:
    made = Node(code, tuple(Future(None, each, 0) for each in inputs), worker, "p")
    made.seconds = seconds
    return made


def send(ahead: SentAhead) -> list[Node]:
    found = []
    for each in ahead.ready():
        each.references = ["reference"]
        ahead.sent(each)
        found.append(each)
    return found


@pytest.mark.parametrize(("seconds", "count"), [(1.0, 2), (LIMITS.ahead_seconds / 4, 4), (1e-6, 30)])
def test_so_much_work_is_sent_as_hides_the_engine(seconds: float, count: int) -> None:
    ahead = SentAhead()
    ahead.ended(node(SLOW, seconds=seconds))
    nodes = [node(SLOW) for _ in range(30)]
    for each in nodes:
        ahead.add(each)
    assert send(ahead) == nodes[:count]
    nodes[0].seconds = seconds
    ahead.ended(nodes[0])
    assert send(ahead) == nodes[count:count + 1]
    assert ahead.rest() == nodes[count + 1:]
    assert not send(ahead)


def test_of_unknown_code_a_few_are_sent() -> None:
    ahead = SentAhead()
    for _ in range(100):
        ahead.add(node(QUICK))
    assert len(send(ahead)) == LIMITS.unknown_ahead


def test_a_node_waits_for_its_inputs_to_be_sent_and_no_longer() -> None:
    ahead = SentAhead()
    ahead.ended(node(SLOW, seconds=1.0))
    first = [node(SLOW) for _ in range(3)]
    other = node(SLOW, first[2], worker=1)
    for each in (*first, other):
        ahead.add(each)
    assert send(ahead) == first[:2]
    ahead.ended(first[0])
    assert send(ahead) == [first[2], other]


def test_few_nodes_of_long_code_are_sent_again(in_process, monkeypatch) -> None:
    monkeypatch.setattr(sent_ahead, "LIMITS", replace(LIMITS, ahead_seconds=1e-9))
    cluster, gate = in_process(crash_before={30}), Event()
    program = cluster.program("p")
    value = program.call(FunctionCode(function=lambda x: (gate.wait(30), x)[1]), 0)
    for _ in range(50):
        value = program.call(FunctionCode(function=lambda x: x + 1, key="add"), value)
    gate.set()
    assert value.result(30) == 50
    assert len(cluster.losses) == 1
    assert 1 <= cluster.sent_again <= 2   # the one that ran, and the next


def test_what_waits_is_told_of_errors_and_of_the_end(in_process, monkeypatch) -> None:
    monkeypatch.setattr(sent_ahead, "LIMITS", replace(LIMITS, ahead_seconds=1e-9, unknown_ahead=1))
    cluster, gate = in_process(), Event()
    program, send_node = cluster.program("p"), cluster._engine.run

    def run(actor, key: str, *more):
        if key == "bad":
            raise TypeError("it cannot be packed")
        return send_node(actor, key, *more)
    monkeypatch.setattr(cluster._engine, "run", run)
    first = [program.call(FunctionCode(function=lambda x: (gate.wait(3), x)[1]), at) for at in range(4)]
    bad = program.call(FunctionCode(function=abs, key="bad"), first[0])
    then = program.call(FunctionCode(function=abs), bad, worker=1)
    assert "not sent" in repr(first[3])
    gate.set()
    for end in (bad, then):
        with pytest.raises(TypeError, match="it cannot be packed"):
            end.result(30)
    assert [end.result(30) for end in first] == [0, 1, 2, 3]
    gate.clear()
    last = [program.call(FunctionCode(function=lambda x: (gate.wait(1), x)[1]), at) for at in range(4)]
    cluster.close()
    with pytest.raises(RunFailedError, match="the cluster was closed"):
        last[3].result(30)
