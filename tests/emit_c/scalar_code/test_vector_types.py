"""Vector types: declared once, for types whose lanes compute as C computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.vector_types import VectorTypes, has_vectors
from polysched.scop.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT64, LONGDOUBLE, UINT16, DType
from tests.emit_c.compiled import load


@pytest.mark.parametrize(("dtype", "can"), [
    (FLOAT32, True), (FLOAT64, True), (INT8, True), (UINT16, True), (INT64, True), (FLOAT16, False), (BFLOAT16, False),
    (LONGDOUBLE, False), (BOOL, False)])
def test_element_types(dtype: DType, can: bool) -> None:
    assert has_vectors(dtype) is can


def test_declarations_are_made_on_use_and_compile(tmp_path: Path) -> None:
    types = VectorTypes(TakenNames(used=frozenset(), visible=frozenset()))
    assert not types.declarations
    names = [types.name(FLOAT32, 8), types.name(INT8, 16), types.mask(32, 8), types.name(FLOAT32, 8)]
    assert names[0] == names[3]
    assert len(types.declarations) == 3
    sizes = " && ".join(f"sizeof({name}) == {size}" for name, size in zip(names, (32, 16, 32), strict=False))
    text = "\n".join([*types.declarations.values(),
                      f"int sizes(void) {{ return {sizes}; }}",
                      f"int lanes({names[0]} *x) {{ {names[2]} m = *x < 0; return m[0] + 2 * m[7]; }}\n"])
    library = load(text, tmp_path)
    assert library.sizes() == 1
    assert library.lanes((ctypes.c_float * 9)(-1, 0, 0, 0, 0, 0, 0, 1, 0)) == -1


def test_a_type_that_some_code_does_not_come_to_use_is_marked_unless_another_does() -> None:
    types = VectorTypes(TakenNames(used=frozenset(), visible=frozenset()))
    name = types.name(FLOAT64, 4, optional=True)
    assert "unused" in types.declarations[name]
    types.name(FLOAT64, 4)
    assert "unused" not in types.declarations[name]
    types.name(FLOAT64, 4, optional=True)
    assert "unused" not in types.declarations[name]
