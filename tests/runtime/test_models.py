"""Models stopped behind every step give the results of an uninterrupted run, bit for bit."""

import ctypes
from functools import lru_cache

import numpy as np
import onnx
import pytest
from onnx import helper

from polysched.errors import PolyschedError, RunFailedError, UsageError
from polysched.graph import load
from polysched.model import compile as compile_model
from polysched.runtime import Job, PreemptibleModel, ServeOptions, preemptible_model, serve
from tests.runtime.test_serving import real_time

RNG = np.random.default_rng(3)


@lru_cache
def model() -> PreemptibleModel:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("Transpose", ["b"], ["c"], perm=[1, 0]), helper.make_node("MatMul", ["c", "v"], ["d"]),
             helper.make_node("Softmax", ["d"], ["e"]), helper.make_node("MatMul", ["e", "w"], ["y"])]
    w, v = (np.random.default_rng(n).random(shape, dtype=np.float32) for n, shape in enumerate([(24, 20), (16, 24)]))
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [16, 24])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [20, 20])],
        [onnx.numpy_helper.from_array(w, "w"), onnx.numpy_helper.from_array(v, "v")])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return preemptible_model(compile_model(load(proto), fusion="greedy"))


def inputs() -> dict[str, np.ndarray]:
    return {"x": RNG.random((16, 24), dtype=np.float32) - np.float32(0.5)}


def test_stopped_behind_every_step() -> None:
    made = model()
    given = inputs()
    expected = made.model(**given)
    found = {n: np.full_like(v, -1) for n, v in expected.items()}
    packed, stop, done, calls = made.packed({**given, **found}), ctypes.c_int(1), ctypes.c_long(0), 1
    while made.entry(packed.addresses, stop, done) == 1:
        assert done.value == calls
        calls += 1
    assert calls == len(made.model.plan.steps) > 1
    assert done.value == 0
    assert all(found[n].tobytes() == expected[n].tobytes() for n in expected)
    assert f"{calls} steps" in repr(made)


@pytest.mark.parametrize("workers", [1, 2])
def test_two_jobs_of_one_model_beside_requests(workers: int) -> None:
    made, jobs, expected = model(), [], []
    for name in ("one", "two"):
        given = inputs()
        expected.append(made.model(**given))
        found = {n: np.zeros_like(v) for n, v in expected[-1].items()}
        jobs.append(Job(name=name, kernel=made, arguments={**given, **found}, requests=50))
    served = serve([real_time(20, period=0.0005), *jobs], ServeOptions(workers=workers, reset=True))
    assert [j.runs for j in served] == [20, 50, 50]
    assert all(j.resets == 0 for j in served)
    for job, wanted in zip(jobs, expected, strict=True):
        assert all(job.arguments[n].tobytes() == v.tobytes() for n, v in wanted.items())


def test_an_output_needs_an_array() -> None:
    made, given = model(), inputs()
    (name,) = made.model.plan.graph.outputs
    whole = made.model(**given)[name]
    for wrong in (None, whole.astype(np.float64), whole[:1], whole.T, np.asfortranarray(whole)):
        with pytest.raises(UsageError, match=f"the output {name} needs an array"):
            made.packed({**given, name: wrong})


def test_a_missing_input_is_named() -> None:
    made = model()
    with pytest.raises(PolyschedError, match="is missing"):
        made.packed({})


def test_a_model_with_islands_is_refused() -> None:
    with pytest.raises(UsageError, match="compiled as a whole"):
        preemptible_model("model.onnx")


def test_a_job_that_fails_says_why() -> None:
    made = model()
    failing = PreemptibleModel(model=made.model, library=made.library, machine_code=b"")
    from polysched.runtime.scheduler_rows import RUN
    vars(failing)["entry"] = RUN(lambda *_: 2)
    given = inputs()
    found = {n: np.zeros_like(v) for n, v in made.model(**given).items()}
    with pytest.raises(RunFailedError, match="an index is outside"):
        serve([Job(name="poor", kernel=failing, arguments={**given, **found}, requests=1)])
