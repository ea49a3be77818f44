"""Long constants are read apart, and are what protobuf reads; a file that is none is left to it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from polysched.errors import ModelFileError, PolyschedError
from polysched.graph import load
from polysched.graph.limits import LIMITS
from polysched.graph.reading import apart
from polysched.graph.reading.apart import read_apart


@pytest.fixture(autouse=True)
def _short_ones_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "LIMITS", replace(LIMITS, least_apart=100))


def model() -> onnx.ModelProto:
    rng = np.random.default_rng(1)
    weights: dict[str, np.ndarray] = {
        "f": rng.normal(size=(5, 40)).astype(np.float32), "i": np.arange(300), "h": np.ones(99, np.float16),
        "b": rng.integers(0, 2, 200).astype(bool), "n": np.zeros((0, 4), np.float32), "s": np.array([2, -1])}
    initial = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    initial.append(helper.make_tensor("t", TensorProto.BFLOAT16, [70], [1.5] * 70))
    initial.append(helper.make_tensor("q", TensorProto.FLOAT, [60], [0.25] * 60))   # not raw
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [1]), ("y", None)))
    graph = helper.make_graph([helper.make_node("Add", ["x", "f"], ["y"])], "g", [x], [y], initial,
                              doc_string="d" * 500)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_what_is_read_apart_is_what_protobuf_reads(tmp_path: Path) -> None:
    data = model().SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data)
    found = read_apart(tmp_path / "m.onnx")
    assert sorted(array.size for array in found.arrays.values()) == [198, 200, 800, 2400]
    assert len(found.message) < len(data) - 3000
    whole, own = load(data), load(tmp_path / "m.onnx")
    assert list(whole.constants) == list(own.constants)
    for name, array in whole.constants.items():
        assert (own.constants[name].dtype, own.constants[name].shape) == (array.dtype, array.shape)
        assert own.constants[name].tobytes() == array.tobytes()
        assert not own.constants[name].flags.writeable or name in ("n", "s", "t", "q")


def test_a_file_that_is_cut_off_or_changed_reads_as_its_bytes_do(tmp_path: Path) -> None:
    data, rng, path = model().SerializeToString(), np.random.default_rng(2), tmp_path / "m.onnx"
    for _ in range(150):
        changed = bytearray(data)
        changed[int(rng.integers(len(data)))] = int(rng.integers(256))
        path.write_bytes(changed[:int(rng.integers(len(data)))] if rng.random() < 0.2 else changed)
        assert loaded(path) == loaded(path.read_bytes())


def loaded(what: Path | bytes) -> object:
    """The constants of a model, or that it is refused."""
    try:
        return {name: (str(a.dtype), a.shape, a.tobytes()) for name, a in load(what).constants.items()}
    except PolyschedError as error:
        return type(error).__name__


def test_a_length_that_is_not_written_the_shortest_way_is_left_to_protobuf(tmp_path: Path) -> None:
    data, path = model().SerializeToString(), tmp_path / "m.onnx"
    path.write_bytes(data + b"\x32\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00d")   # a doc_string of one letter
    assert not read_apart(path).arrays
    assert loaded(path) == loaded(path.read_bytes())


def test_a_segment_of_a_constant_is_left_to_onnx(tmp_path: Path) -> None:
    made, path = model(), tmp_path / "m.onnx"
    made.graph.initializer[0].segment.begin = 1
    path.write_bytes(made.SerializeToString())
    assert len(read_apart(path).arrays) == 3
    assert loaded(path) == loaded(path.read_bytes()) == "ModelFileError"


def test_a_file_of_very_many_fields_is_left_to_protobuf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.onnx").write_bytes(data := model().SerializeToString())
    monkeypatch.setattr(apart, "LIMITS", replace(LIMITS, least_apart=100, most_fields=20))
    found = read_apart(tmp_path / "m.onnx")
    assert (found.message, found.arrays) == (data, {})


def test_bytes_that_do_not_fit_their_shape_are_refused(tmp_path: Path) -> None:
    made = model()
    made.graph.initializer[0].dims[0] = 6
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(ModelFileError, match="does not fit its type and shape"):
        load(tmp_path / "m.onnx")
