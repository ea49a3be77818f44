"""Constants of `_Float16` and its relatives: the text that the parser reads, and the programs that it gives."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import emit, splice
from polysched.scop import from_c_text
from polysched.scop.body import Literal, statement_expressions, walk
from polysched.scop.c_frontend.text.suffixes import without_suffixes
from polysched.tiling import tile
from tests.emit_c.compiled import load
from tests.schedules import pluto_of


@pytest.mark.parametrize(("text", "read", "spellings"), [
    ("x = y * 1.5f16 + 2.F16;", "x = y * polysched_f16_0 + polysched_f16_1;", ["1.5f16", "2.F16"]),
    ("0x1.8p3f16", "polysched_f16_0", ["0x1.8p3f16"]),
    ("1.5f32 .5F64 1e-3f32x", "1.5f .5 1e-3", []),
    ("char *s = \"1.5f16\"; /* 1.5f16 */ int x1f16 = 0x1f16;", None, []),
    ("1.5f 2.0 0xf16 17", None, []),
    ("f16(1.5f)", None, []),
])
def test_what_the_parser_reads(text: str, read: str | None, spellings: list[str]) -> None:
    found = without_suffixes(text)
    assert found.text == (text if read is None else read)
    assert [*found.spellings.values()] == spellings


def test_a_constant_is_rounded_once_and_printed_as_written() -> None:
    scop = from_c_text("void f(int n, _Float16 *x) {\n#pragma scop\nfor (int i = 0; i < n; i++) "
                       "x[i] = x[i] * 0.1f16 + 4.0f32;\n#pragma endscop\n}")
    (statement,) = scop.statements
    constants = {e.text: e for top in statement_expressions(statement.body) for e in walk(top)
                 if isinstance(e, Literal)}
    assert (constants["0.1f16"].dtype.name, constants["0.1f16"].value) == ("float16", 0.0999755859375)
    assert (constants["4.0f"].dtype.name, constants["4.0f"].value) == ("float32", 4.0)


def test_transformed_constants_compute_what_the_compiler_does(tmp_path: Path) -> None:
    text = ("void f(int n, _Float16 *x) {\n#pragma scop\nfor (int i = 0; i < n; i++) "
            "x[i] = x[i] * 0.1f16 - 65504.0f16 / 7.0f16;\n#pragma endscop\n}\n")
    found = []
    for program in (text, splice(text, [emit(tile(pluto_of(text)))])):
        x = np.arange(37, dtype=np.float16)
        load(program, tmp_path, strict=False).f(37, ctypes.c_void_p(x.ctypes.data))
        found.append(x.tobytes())
    assert found[0] == found[1] != np.arange(37, dtype=np.float16).tobytes()
