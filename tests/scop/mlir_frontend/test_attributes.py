"""Types and attributes as values."""

import pytest

from polysched.errors import SourceSyntaxError
from polysched.scop.mlir_frontend.affine_forms import AffineMap
from polysched.scop.mlir_frontend.attributes import read_attribute, read_attributes, read_type
from polysched.scop.mlir_frontend.words import Words


@pytest.mark.parametrize(("text", "value"), [
    ("3 : i32", 3), ("-3", -3), ("1.5e1 : f64", 15.0), ("2 : f32", 2.0), ("true", True), ('"word"', "word"),
    ("[1, 2 : index]", [1, 2]), ("array<i32: 0, 1, -2>", [0, 1, -2]), ("array<i32>", []), ("@f", "f"),
    ("{a = 1, b}", {"a": 1, "b": True}), ("memref<4x?xf32>", "memref<4x?xf32>"), ("0x10 : i32", 16),
])
def test_values(text: str, value: object) -> None:
    assert read_attribute(Words(text, "t.mlir"), {}) == value


def test_aliases_and_maps() -> None:
    found = read_attribute(Words("affine_map<(d0) -> (d0)>", "t.mlir"), {})
    assert isinstance(found, AffineMap)
    assert read_attribute(Words("#map", "t.mlir"), {"#map": found}) is found


@pytest.mark.parametrize(("text", "expected"), [
    ("f32", "f32"), ("memref<?x8xf32, 1>", "memref<?x8xf32, 1>"), ("!a.b<c>", "!a.b<c>"),
    ("(index, f32) -> (f64, i1)", "(index, f32) -> ('f64', 'i1')"),
])
def test_types(text: str, expected: str) -> None:
    assert read_type(Words(text, "t.mlir")) == expected


@pytest.mark.parametrize(("text", "message"), [
    ("0x7FC00000 : f32", "written by its bits"), (")", "a type was expected"), ("{1 = 2}", "the name of an attribute"),
    ("[1, 2", "`,` was expected"),
])
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(SourceSyntaxError, match=message):
        read_attribute(Words(text, "t.mlir"), {})
    with pytest.raises(SourceSyntaxError):
        read_attributes(Words(text[1:], "t.mlir"), {})
