"""Nodes of several versions of TVM are known by their names."""

from types import SimpleNamespace

from polysched.scop.dtypes import FLOAT32, INT32
from polysched.scop.tir_frontend.nodes import (
    buffer_of,
    called,
    dtype_of,
    has_strides,
    is_buffer,
    key,
    kind,
    shape_of,
    type_name,
)
from tests.scop.tir_frontend.standins import buffer, call, load, node, var


def test_names_of_older_versions() -> None:
    assert kind(node("BufferLoad")) == kind(node("TensorLoad")) == "TensorLoad"
    assert kind(node("Block")) == "SBlock"
    assert kind(node("For")) == "For"


def test_types_are_in_the_new_field_or_the_old_one() -> None:
    assert dtype_of(var("i")) == dtype_of(node("Var", dtype="int32")) == INT32
    assert dtype_of(buffer("A", [], "float32")) == dtype_of(node("Buffer", dtype="float32")) == FLOAT32
    assert type_name(node("Var", ty="T.float32")) == "float32"
    assert dtype_of(node("Var", dtype="handle")) is None


def test_buffers() -> None:
    new, old = buffer("A", [4, 5]), node("Buffer", shape=[4, 5], strides=[1], dtype="float32")
    assert shape_of(new) == shape_of(old) == [4, 5]
    assert is_buffer(new)
    assert is_buffer(old)
    assert not is_buffer(var("n"))
    assert has_strides(old)
    assert not has_strides(new)
    assert buffer_of(load(new)) is new
    assert buffer_of(SimpleNamespace(buffer=old)) is old


def test_keys_are_of_objects() -> None:
    a, b = var("i"), var("i")
    assert key(a) == key(a)
    assert key(a) != key(b)
    assert key(node("Var", id_=7)) == 7
    assert called(call("exp")) == "exp"
