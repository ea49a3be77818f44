"""What is right, wrong and refused; the others who know what a model computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from polysched.errors import UnsupportedGraphError, WrongResultError
from polysched.fuzz.onnx_models import checking
from polysched.fuzz.onnx_models.checking import check_model, node_by_node, wanted, why_differs
from polysched.fuzz.onnx_models.models import RandomModel, random_model


@pytest.mark.parametrize("seed", [1, 2])
def test_a_model_is_right(seed: int) -> None:
    assert check_model(seed).verdict == "right"


def test_another_result_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    original = checking.interpret
    monkeypatch.setattr(checking, "interpret", lambda graph, arrays: {
        name: value + np.ones_like(value) for name, value in original(graph, arrays).items()})
    found = [check_model(seed, compiled=False) for seed in range(3)]
    assert {r.verdict for r in found} == {"wrong"}
    assert found[0].reason.startswith("interpreted: ONNX")


def test_a_refusal_counts_where_another_runs_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(proto: Any) -> Any:
        raise UnsupportedGraphError("nothing is had", where="here")
    monkeypatch.setattr(checking, "load", refuse)
    assert check_model(1).verdict == "refused"
    monkeypatch.setattr(checking, "wanted", lambda proto, arrays: {})
    assert check_model(1).reason == "nobody runs it"


def test_nodes_one_by_one_compute_what_the_model_does() -> None:
    seed = next(s for s in range(100) if len(random_model(s).operators) > 2 and "If" in random_model(s).operators)
    drawn = random_model(seed)
    one_by_one, others = node_by_node(drawn.proto)(drawn.inputs), wanted(drawn.proto, drawn.inputs)
    assert others
    assert all(any(not why_differs({n: own}, {n: o[n]}) for o in others.values()) for n, own in one_by_one.items())


def test_halves_may_differ_by_their_roundings() -> None:
    half = {"y": np.array([1, 2], np.float16)}
    assert not why_differs({"y": half["y"] * np.float16(1.005)}, half)
    assert why_differs({"y": half["y"] * np.float16(1.1)}, half)
    assert "another type" in why_differs({"y": np.zeros(3, np.float16)}, half)


def test_a_further_size_that_no_other_runs_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (onnx.helper.make_tensor_value_info(n, 1, ["N"]) for n in "xy")
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    proto = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [x], [y]), ir_version=8,
                                   opset_imports=[onnx.helper.make_opsetid("", 13)])
    drawn = RandomModel(proto, {"x": np.array([-1, 2], np.float32)}, ("x", 0))
    monkeypatch.setattr(checking, "random_model", lambda seed: drawn)
    assert check_model(0).verdict == "right"
    assert [a["x"].tolist() for a in drawn.calls()] == [[-1, 2], [-1, 2, -1], [-1, 2, -1, 2]]


def _one_relu(monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """What the only model that is drawn computes."""
    x, y = (onnx.helper.make_tensor_value_info(n, 1, [2]) for n in "xy")
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    proto = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [x], [y]), ir_version=8,
                                   opset_imports=[onnx.helper.make_opsetid("", 13)])
    drawn = RandomModel(proto, {"x": np.array([-1, 2], np.float32)})
    monkeypatch.setattr(checking, "random_model", lambda seed: drawn)
    monkeypatch.setattr(checking, "_compiled", lambda graph, drawn: None)
    return np.array([0, 2], np.float32)


@pytest.mark.parametrize("others", [{}, {"one": 0, "another": 1}, {"one": 0}])
def test_a_compiled_model_that_contradicts_the_interpreter_is_wrong(monkeypatch: pytest.MonkeyPatch,
                                                                    others: dict[str, int]) -> None:
    right = _one_relu(monkeypatch)
    monkeypatch.setattr(checking, "wanted", lambda proto, arrays: {n: {"y": right + k} for n, k in others.items()})
    monkeypatch.setattr(checking, "_run", lambda model, arrays, is_first: {"y": right + 1})
    found = check_model(0)
    assert (found.verdict, found.reason.split(":")[0]) == ("wrong", "compiled")
    monkeypatch.setattr(checking, "_run", lambda model, arrays, is_first: {"y": right})
    assert check_model(0).verdict == "right"


def test_a_fault_of_the_compiler_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    _one_relu(monkeypatch)

    def fail(graph: Any, drawn: RandomModel) -> Any:
        raise WrongResultError("another result", witness="y[0]")
    monkeypatch.setattr(checking, "_compiled", fail)
    assert (check_model(0).verdict, check_model(0).reason.split(";")[0]) == ("wrong", "another result: y[0]")
