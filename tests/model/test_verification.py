"""Differences of outputs: tolerances, NaN, types, times."""

from pathlib import Path

import numpy as np
import pytest

from polysched.errors import UsageError, WrongResultError
from polysched.graph import from_text, load
from polysched.model import compile_graph
from polysched.model.verification import (
    by_interpreter,
    by_onnxruntime,
    check,
    check_beside,
    check_loss,
    differences,
    error,
    losses,
    random_inputs,
    timed,
)

GRAPH = from_text("graph f(x: float32[2], n: int64[3], b: bool[2]) {\n  let y = Neg(x)\n  return y\n}")


def test_random_inputs_have_the_types_of_the_graph() -> None:
    found = random_inputs(GRAPH)
    assert {n: (a.dtype.name, a.shape) for n, a in found.items()} == {
        "x": ("float32", (2,)), "n": ("int64", (3,)), "b": ("bool", (2,))}
    assert np.array_equal(by_interpreter(GRAPH)(found)["y"], -found["x"])


def test_floats_may_differ_a_little_and_nan_equals_nan() -> None:
    wanted = {"y": np.array([1, np.nan, np.inf, 0], np.float32)}
    near = {"y": np.array([1.0005, np.nan, np.inf, 1e-6], np.float32)}
    assert check(near, wanted, "it") == pytest.approx(5e-4, rel=1e-2)
    assert differences(near, wanted)[0].place is None


@pytest.mark.parametrize("found", [
    np.array([1.01, 2], np.float32), np.array([np.nan, 2], np.float32), np.array([np.inf, 2], np.float32)])
def test_what_differs_is_refused_with_an_element(found: np.ndarray) -> None:
    with pytest.raises(WrongResultError, match="the output 'y' is not what it computes") as refusal:
        check({"y": found}, {"y": np.array([1, 2], np.float32)}, "it")
    assert "element [0]" in str(refusal.value)


def test_whole_numbers_are_equal_and_types_fit() -> None:
    with pytest.raises(WrongResultError):
        check({"y": np.array([1, 3])}, {"y": np.array([1, 2])}, "it")
    with pytest.raises(WrongResultError, match="another type"):
        check({"y": np.array([1.0])}, {"y": np.array([1])}, "it")
    assert check({"y": np.zeros(0)}, {"y": np.zeros(0)}, "it") == 0


@pytest.mark.parametrize(("found", "wanted", "largest"), [
    (np.int64(2 ** 53), np.int64(2 ** 53 + 1), 1), (np.int64(-2 ** 63), np.int64(2 ** 63 - 1), 2 ** 64 - 1),
    (np.uint64(2 ** 64 - 1), np.uint64(2 ** 64 - 2), 1), (np.int8(-128), np.int8(127), 255),
    (np.bool_(True), np.bool_(False), 1), (np.int64(-3), np.int64(4), 7)])
def test_whole_numbers_are_compared_to_the_last_digit(found: np.generic, wanted: np.generic, largest: int) -> None:
    given, right = {"y": np.array([0, found], found.dtype)}, {"y": np.array([0, wanted], found.dtype)}
    (difference,) = differences(given, right)
    assert (difference.largest, difference.place) == (largest, (1,))
    with pytest.raises(WrongResultError) as refusal:
        check(given, right, "it")
    assert f"element [1]: {int(found)}, wanted {int(wanted)}" in str(refusal.value)
    with pytest.raises(WrongResultError):
        check_beside(given, right, lambda: right, "the other")
    assert not check(right, right, "it")


@pytest.mark.filterwarnings("error")
def test_a_single_whole_number_is_compared_without_a_warning() -> None:
    (difference,) = differences({"y": np.array(-3)}, {"y": np.array(4)})
    assert (difference.largest, difference.place) == (7, ())


def test_times_are_ratios() -> None:
    run = by_interpreter(GRAPH)
    times = timed(run, run, random_inputs(GRAPH), rounds=5)
    assert times.seconds > 0
    assert times.interval[0] <= times.ratio <= times.interval[1]


def test_the_more_exact_of_two_is_right() -> None:
    right, other = {"y": np.array([1.0, 2.0])}, {"y": np.array([1.0, 2.5])}
    assert check_beside({"y": np.array([1.0, 2.001])}, other, lambda: right, "the other") > 0.4
    with pytest.raises(WrongResultError, match="is not what the other computes") as refusal:
        check_beside({"y": np.array([1.0, 3.5])}, other, lambda: right, "the other")
    assert "error against float64 is 1.5, that of the other 0.5" in str(refusal.value)


def test_what_is_not_finite_is_an_infinite_error() -> None:
    assert error(np.array([np.nan]), np.array([1.0])) == np.inf
    assert error(np.array([np.nan, np.inf]), np.array([np.nan, np.inf])) == 0


def test_losses_are_shares_of_what_is_wanted() -> None:
    wanted = {"y": np.array([3.0, -4.0], np.float32), "none": np.zeros((0, 2), np.float32)}
    (loss,) = losses({"y": np.array([3.0, -4.5], np.float32), "none": wanted["none"]}, wanted)
    assert (loss.output, loss.largest, loss.relative) == ("y", 0.5, 0.125)
    assert loss.root_mean_square == pytest.approx(0.1)
    (nothing,) = losses({"y": np.zeros(2)}, {"y": np.zeros(2)})
    assert nothing.relative == nothing.root_mean_square == 0.0
    (new,) = losses({"y": np.ones(2)}, {"y": np.zeros(2)})
    assert new.relative == float("inf")


@pytest.mark.parametrize("value", [0.9, float("nan"), float("inf")])
def test_too_large_a_loss_is_refused(value: float) -> None:
    wanted = {"y": np.ones(3, np.float32)}
    assert check_loss({"y": np.full(3, 0.96, np.float32)}, wanted, "the reference")
    with pytest.raises(WrongResultError, match="not near what the reference computes"):
        check_loss({"y": np.array([1, 1, value], np.float32)}, wanted, "the reference")


def test_a_sequence_of_onnx_runtime_is_its_elements(tmp_path: Path) -> None:
    helper = pytest.importorskip("onnx").helper
    pytest.importorskip("onnxruntime")
    x = helper.make_tensor_value_info("x", 1, [2, 3])
    made = helper.make_value_info("s", helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, None)))
    graph = helper.make_graph([helper.make_node("SplitToSequence", ["x"], ["s"], axis=0)], "g", [x], [made])
    (tmp_path / "s.onnx").write_bytes(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid(
        "", 18)]).SerializeToString())
    data = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    wanted = by_onnxruntime(tmp_path / "s.onnx", 1)(data)
    assert list(wanted) == ["s[0]", "s[1]"]
    compiled = compile_graph(load(tmp_path / "s.onnx"))
    for name, value in compiled(**data).items():
        assert np.array_equal(value, wanted[name])


def test_what_onnx_runtime_refuses_is_said_in_its_words(tmp_path: Path) -> None:
    helper = pytest.importorskip("onnx").helper
    pytest.importorskip("onnxruntime")
    (tmp_path / "no.onnx").write_bytes(b"nothing")
    with pytest.raises(UsageError, match="ONNX Runtime does not run the model"):
        by_onnxruntime(tmp_path / "no.onnx", 1)
    pool = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[1], strides=[3], auto_pad="SAME_UPPER")
    x, y = (helper.make_tensor_value_info(n, 1, s) for n, s in (("x", [1, 1, 9]), ("y", None)))
    model = helper.make_model(helper.make_graph([pool], "g", [x], [y]), ir_version=9,
                              opset_imports=[helper.make_opsetid("", 19)])
    (tmp_path / "pool.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(UsageError, match="padding values must be non-negative"):
        by_onnxruntime(tmp_path / "pool.onnx", 1)({"x": np.zeros((1, 1, 9), np.float32)})


def test_short_floats_of_onnx_runtime_are_no_bytes(tmp_path: Path) -> None:
    helper = pytest.importorskip("onnx").helper
    pytest.importorskip("onnxruntime")
    x, y = helper.make_tensor_value_info("x", 1, [3]), helper.make_tensor_value_info("y", 17, [3])
    node = helper.make_node("Cast", ["x"], ["y"], to=17)
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), ir_version=9,
                              opset_imports=[helper.make_opsetid("", 19)])
    (tmp_path / "f8.onnx").write_bytes(model.SerializeToString())
    data = {"x": np.array([1.1, -500, 0], np.float32)}
    wanted = by_onnxruntime(tmp_path / "f8.onnx", 1)(data)
    assert wanted["y"].dtype.name == "float8_e4m3fn"
    assert check(compile_graph(load(tmp_path / "f8.onnx"))(**data), wanted, "it") == 0


@pytest.mark.parametrize(("name", "step"), [("bfloat16", 2.0 ** -7), ("float8_e4m3fn", 2.0 ** -3)])
def test_a_short_float_may_be_the_next_one(name: str, step: float) -> None:
    own = getattr(pytest.importorskip("ml_dtypes"), name)
    wanted = {"y": np.array([1, 2]).astype(own)}
    assert check({"y": np.array([1 + step, 2]).astype(own)}, wanted, "it") == step
    with pytest.raises(WrongResultError):
        check({"y": np.array([1 + 2 * step, 2]).astype(own)}, wanted, "it")
