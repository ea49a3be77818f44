"""Constants in other files: inside the folder and wholly in the file, or refused."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from polysched.errors import ModelFileError
from polysched.graph.reading.external_data import tensor_array
from polysched.graph.values.element_types import ELEMENT_TYPES, array_type


def external(location: str, dims: tuple[int, ...] = (3,), **entries: int) -> TensorProto:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def test_elements_beside_the_model_are_read(tmp_path: Path) -> None:
    np.arange(5, dtype=np.float32).tofile(tmp_path / "w.bin")
    assert list(tensor_array(external("w.bin", offset=4, length=12), tmp_path)) == [1, 2, 3]


@pytest.mark.parametrize(("tensor", "problem"), [
    (external("../w.bin"), "in the model's folder"), (external("/etc/passwd"), "in the model's folder"),
    (external("w\0.bin"), "in the model's folder"), (external("w" * 5000), "in the model's folder"),
    (external("w.bin", (6,)), "not wholly in its file"), (external("w.bin", offset=-4), "not wholly in its file"),
    (external("w.bin", (2 ** 40,)), "larger than a model may have"), (external("w.bin", length=4), "not wholly"),
    (TensorProto(name="w", data_type=TensorProto.FLOAT, dims=(3,), raw_data=b"1234"), "does not fit its type"),
    (TensorProto(name="w", data_type=TensorProto.FLOAT, dims=(-3,)), "an extent is negative")])
def test_what_lies_elsewhere_or_does_not_fit_is_refused(tensor: TensorProto, problem: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for place in (tmp_path, folder):
        np.arange(5, dtype=np.float32).tofile(place / "w.bin")
    with pytest.raises(ModelFileError, match=problem):
        tensor_array(tensor, folder)


@pytest.mark.parametrize(("name", "size"), [("int4", 3), ("uint2", 2), ("float8_e5m2", 5), ("bfloat16", 10),
                                            ("float4_e2m1fn", 3), ("float6_e2m3fn", 4)])
def test_short_elements_lie_close_together(name: str, size: int, tmp_path: Path) -> None:
    own = array_type(ELEMENT_TYPES[name])
    values = np.array([1, 0, 1, 2 if name == "uint2" else -2, 1]).astype(np.int8).astype(own)
    proto = numpy_helper.from_array(values, "w")
    (tmp_path / "w.bin").write_bytes(proto.raw_data)
    assert len(proto.raw_data) == size
    other = external("w.bin", (5,), length=size)
    other.data_type = proto.data_type
    found = tensor_array(other, tmp_path)
    assert found.dtype == own
    assert found.astype(np.float32).tolist() == values.astype(np.float32).tolist()


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    np.arange(5, dtype=np.float32).tofile(tmp_path / "w.bin")
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    with pytest.raises(ModelFileError, match="in the model's folder"):
        tensor_array(external("link.bin"), folder)


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    for one, other in ("ab", "ba"):
        (tmp_path / one).symlink_to(tmp_path / other)
    with pytest.raises(ModelFileError, match="in the model's folder"):
        tensor_array(external("a"), tmp_path)


def test_elements_in_the_model_itself() -> None:
    assert tensor_array(numpy_helper.from_array(np.eye(2)), None).shape == (2, 2)
