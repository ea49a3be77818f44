"""Outputs on demand: each is had as soon as it is whole, the driver makes early ones early, and failures are told."""

from __future__ import annotations

import ctypes
import socket
import threading
from typing import Any

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.graph import from_text, interpret
from polysched.graph.planning.steps import Kernel
from polysched.model import compile_graph
from polysched.model.driver import outputs_by_step
from polysched.model.running import RunningModel

GRAPH = from_text("""graph f(x: float32[64]) {
  let a = Sigmoid(x)
  let b = Softmax(a)
  let late = Cos(b)
  let early = Neg(x)
  return late, early, x
}""")
X = np.linspace(-1, 1, 64, dtype=np.float32)


class Gate:
    """A call that makes one output, then waits."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.outputs = {"early": np.zeros(3), "late": np.zeros(3)}
        self.error: Exception | None = None

    def __call__(self, flags: Any) -> None:
        ready = ctypes.cast(flags, ctypes.POINTER(ctypes.c_int))
        self.outputs["early"][:] = 1
        ready[0] = 1
        self.open.wait(20)
        if self.error is not None:
            raise self.error
        self.outputs["late"][:] = 2
        ready[1] = 1


def test_one_output_is_had_before_the_others() -> None:
    gate = Gate()
    run = RunningModel("m", gate.outputs, gate)
    assert run.output("early").tolist() == [1, 1, 1]
    assert not run.is_ready("late")
    assert repr(run) == "<RunningModel m: 1 of 2 outputs ready>"
    gate.open.set()
    assert run.output("late").tolist() == [2, 2, 2]
    assert list(run.outputs()) == ["early", "late"]


def test_a_consumer_sends_an_output_while_the_rest_is_computed() -> None:
    gate = Gate()
    sender, receiver = socket.socketpair()
    with sender, receiver:
        run = RunningModel("m", gate.outputs, gate)
        sender.sendall(run.output("early").tobytes())
        assert np.frombuffer(receiver.recv(24)).tolist() == [1, 1, 1]
        assert not run.is_ready("late")   # it was sent before the call had ended
        gate.open.set()
        sender.sendall(run.output("late").tobytes())
        assert np.frombuffer(receiver.recv(24)).tolist() == [2, 2, 2]


def test_a_failure_is_told_to_who_waits_and_what_was_whole_stays() -> None:
    gate = Gate()
    gate.error = UsageError("an index is outside the dimension that it counts")
    run = RunningModel("m", gate.outputs, gate)
    gate.open.set()
    for wait in (lambda: run.output("late"), run.outputs):
        with pytest.raises(UsageError, match="an index is outside"):
            wait()
    assert run.output("early").tolist() == [1, 1, 1]
    with pytest.raises(UsageError, match="the model has no output 'no'"):
        run.output("no")


def test_the_driver_makes_early_outputs_early_and_flags_each_once() -> None:
    model = compile_graph(GRAPH)
    whole = outputs_by_step(model.plan)
    place = next(k for k, names in whole.items() if names == ["early"])
    assert whole[None] == ["x"]
    assert place == 0
    assert [s for s in model.plan.steps if isinstance(s, Kernel)][-1].outputs == ("late",)
    assert [model.c_source.count(f"ready + {k}, 1") for k in range(3)] == [1, 1, 1]


def test_the_outputs_of_a_compiled_model_are_right() -> None:
    model = compile_graph(GRAPH)
    wanted = interpret(GRAPH, {"x": X})
    run = model.start(x=X)
    for name in ("early", "x", "late"):
        np.testing.assert_allclose(run.output(name), wanted[name], rtol=1e-5)
    assert [run.is_ready(n) for n in run.outputs()] == [True] * 3
    np.testing.assert_allclose(model.start({"x": X}).outputs()["late"], model(x=X)["late"])


def test_an_index_outside_is_told_by_output() -> None:
    graph = from_text("""graph f(x: float32[4], i: int64[2]) {
  let g = Gather(x, i)
  let y = Neg(g)
  return y
}""")
    run = compile_graph(graph).start(x=np.ones(4, np.float32), i=np.array([0, 9]))
    with pytest.raises(UsageError, match=r"node 'g', index 'i': an index is outside the dimension"):
        run.output("y")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_the_program_ends_the_wait() -> None:
    def call(flags: object) -> None:
        raise LookupError("a fault")

    run = RunningModel("m", {"y": np.zeros(1)}, call)
    with pytest.raises(RuntimeError, match="ended without its results"):
        run.output("y")
