"""Constants of C: the first type of the standard's list that holds the value, and the value itself."""

from __future__ import annotations

import ctypes
import math
import random
from pathlib import Path

import numpy as np
import pytest
from pycparser import c_ast

from polysched.scop.body import Literal
from polysched.scop.c_frontend.declarations.literals import integer_constant, literal
from polysched.scop.dtypes import FLOAT16, FLOAT32, FLOAT64, INT32, INT64, LONGDOUBLE, UINT32, UINT64, DType
from polysched.target import find_compiler
from polysched.tensorize.description.python_emulator import constant


@pytest.mark.parametrize(("text", "value", "dtype"), [
    ("0", 0, INT32), ("2147483647", 2**31 - 1, INT32), ("2147483648", 2**31, INT64),
    ("0x7fffffff", 2**31 - 1, INT32), ("0x80000000", 2**31, UINT32), ("0xFFFFFFFFFF", 2**40 - 1, INT64),
    ("0xFFFFFFFFFFFFFFFF", 2**64 - 1, UINT64),
    ("017", 15, INT32), ("0b101", 5, INT32), ("1u", 1, UINT32), ("4294967296u", 2**32, UINT64), ("1l", 1, INT64),
    ("1ULL", 1, UINT64), ("1'000", 1000, INT32),
    ("1.5", 1.5, FLOAT64), ("1.5f", 1.5, FLOAT32), ("1e3L", 1000.0, LONGDOUBLE), (".5F", 0.5, FLOAT32),
    ("0x1.8p1", 3.0, FLOAT64), ("1.0f16", 1.0, FLOAT16),
    ("'a'", 97, INT32), (r"'\n'", 10, INT32), (r"'\xff'", -1, INT32), (r"'\''", 39, INT32),
])
def test_type_and_value(text: str, value: float, dtype: DType) -> None:
    found = literal(text)
    assert found is not None
    assert (found.value, found.dtype) == (value, dtype)


@pytest.mark.parametrize("text", ['"text"', "99999999999999999999", "'ab'", "x", "1.5.5q", "L'a'", "''"])
def test_no_constant_of_a_number(text: str) -> None:
    assert literal(text) is None


@pytest.mark.parametrize(("text", "value"), [("017", 15), ("3u", 3), ("'a'", 97), ("1.5", None), ('"text"', None)])
def test_integers(text: str, value: int | None) -> None:
    assert integer_constant(c_ast.Constant("", text)) == value


def test_other_nodes_are_no_integers() -> None:
    assert integer_constant(None) is integer_constant(c_ast.ID("n")) is None


TWICE = {   # what a double in between would be rounded to a second time
    "16777217.0000000001f": 16777218.0, "1.00000005960464477540f": 1 + 2.0**-23,
    "0x1.000001000000001p0f": 1 + 2.0**-23, "0x1.000001p0f": 1.0, "7.0064923216240853546186479164495806e-46f": 0.0,
    "7.0064923216240853546186479164495807e-46f": 2.0**-149, "3.40282356779733661637539395458142568448e38f": math.inf,
    "3.40282356779733661637539395458142568447e38f": (2 - 2.0**-23) * 2.0**127, "1.f": 1.0, ".1F": 0.10000000149011612,
    "1.99999999999999999999f": 2.0, "0.0f": 0.0, "1e-60f": 0.0, "1e50f": math.inf,
    "0x1p5000f": math.inf, "0x1p5000": math.inf}


@pytest.mark.parametrize("text", TWICE)
def test_a_float_is_rounded_once(text: str) -> None:
    found = literal(text)
    assert found is not None
    assert found.value == TWICE[text]
    assert constant(text)[1] == np.float32(TWICE[text])


def test_a_short_float_is_rounded_once() -> None:
    assert literal("1.00048828125000000000001f16") == Literal(
        "1.00048828125000000000001f16", 1 + 2.0**-10, FLOAT16)
    assert literal("65520.0f16") == Literal("65520.0f16", math.inf, FLOAT16)


def test_floats_are_those_of_the_compiler(tmp_path: Path) -> None:
    chooser = random.Random(3)
    texts = [*TWICE, *(f"{chooser.random():.{chooser.randrange(1, 40)}f}e{chooser.randrange(-46, 39)}f"
                       for _ in range(300))]
    texts += [f"0x1.{chooser.randrange(16**15):015x}p{chooser.randrange(-152, 129)}f" for _ in range(300)]
    library = tmp_path / "f.so"
    (tmp_path / "f.c").write_text(f"const float values[] = {{{', '.join(texts)}}};")
    assert not find_compiler().run(["-w", "-shared", "-fPIC", str(tmp_path / "f.c"), "-o", str(library)]).returncode
    values = (ctypes.c_float * len(texts)).in_dll(ctypes.CDLL(str(library)), "values")
    for text, value in zip(texts, values, strict=True):
        found = literal(text)
        assert found is not None
        assert (found.value, constant(text)[1]) == (value, value), text
