"""Operations on numbers compute what LLVM's arithmetic does: widths, signs, and comparisons with no numbers."""

import math

import numpy as np
import pytest

from polysched.scop.construction.values import CannotExpress, constant_of
from polysched.scop.interpreter import execute
from polysched.scop.mlir_frontend import from_mlir
from polysched.scop.mlir_frontend.arithmetic import constant
from polysched.scop.mlir_frontend.operations import Operation

FLOATS = [1.5, -2.0, math.nan, 0.0, math.inf]


def binary(line: str, kind: str, result: str, pairs: list[tuple[float, float]]) -> np.ndarray:
    count = len(pairs)
    text = f"""func.func @f(%x: memref<{count}x{kind}>, %y: memref<{count}x{kind}>, %z: memref<{count}x{result}>) {{
      affine.for %i = 0 to {count} {{
        %a = affine.load %x[%i] : memref<{count}x{kind}>
        %b = affine.load %y[%i] : memref<{count}x{kind}>
        {line}
        affine.store %r, %z[%i] : memref<{count}x{result}>
      }}
      return
    }}"""
    types = {"i1": bool, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f32": np.float32,
             "f64": np.float64}
    x, y = (np.array([pair[k] for pair in pairs], dtype=types[kind]) for k in (0, 1))
    z = np.zeros(count, dtype=types[result])
    execute(from_mlir(text), {}, {"x": x, "y": y, "z": z})
    return z


@pytest.mark.parametrize(("predicate", "test"), [
    ("olt", lambda a, b: a < b), ("oge", lambda a, b: a >= b), ("une", lambda a, b: a != b),
    ("one", lambda a, b: a < b or a > b), ("ueq", lambda a, b: not (a < b or a > b)),
    ("ult", lambda a, b: not a >= b), ("uge", lambda a, b: not a < b), ("ugt", lambda a, b: not a <= b),
    ("ule", lambda a, b: not a > b), ("ord", lambda a, b: a == a and b == b), ("uno", lambda a, b: a != a or b != b),
    ("oeq", lambda a, b: a == b),
])
def test_comparisons_of_floats(predicate: str, test: object) -> None:
    assert callable(test)
    pairs = [(a, b) for a in FLOATS for b in FLOATS]
    found = binary(f"%c = arith.cmpf {predicate}, %a, %b : f64\n%r = arith.extui %c : i1 to i32", "f64", "i32", pairs)
    assert [bool(v) for v in found] == [test(a, b) for a, b in pairs]


BYTES = [(a, b) for a in (-128, -7, -1, 1, 5, 127) for b in (-128, -3, 1, 2, 127)]


@pytest.mark.parametrize(("name", "function"), [
    ("addi", lambda a, b: a + b), ("subi", lambda a, b: a - b), ("muli", lambda a, b: a * b),
    ("divui", lambda a, b: (a % 256) // (b % 256)), ("remui", lambda a, b: (a % 256) % (b % 256)),
    ("remsi", lambda a, b: int(math.fmod(a, b))), ("floordivsi", lambda a, b: a // b),
    ("ceildivsi", lambda a, b: -(-a // b)),
    ("ceildivui", lambda a, b: -(-(a % 256) // (b % 256))), ("andi", lambda a, b: a & b), ("xori", lambda a, b: a ^ b),
    ("maxsi", max), ("minui", lambda a, b: min(a % 256, b % 256)), ("maxui", lambda a, b: max(a % 256, b % 256)),
])
def test_bytes(name: str, function: object) -> None:
    assert callable(function)
    found = binary(f"%r = arith.{name} %a, %b : i8", "i8", "i8", BYTES)
    expected = [((function(a, b) + 128) % 256) - 128 for a, b in BYTES]
    assert found.tolist() == expected


@pytest.mark.parametrize(("line", "kind", "result", "pairs", "expected"), [
    ("%r = arith.maximumf %a, %b : f64", "f64", "f64", [(1, math.nan), (2, 3)], [math.nan, 3]),
    ("%r = arith.maxnumf %a, %b : f64", "f64", "f64", [(1, math.nan), (2, 3)], [1, 3]),
    ("%r = math.powf %a, %b : f64", "f64", "f64", [(2, 10)], [1024]),
    ("%r = math.rsqrt %a : f64", "f64", "f64", [(16, 0)], [0.25]),
    ("%r = arith.trunci %a : i32 to i8", "i32", "i8", [(300, 0)], [44]),
    ("%c = arith.trunci %a : i32 to i1\n%r = arith.extsi %c : i1 to i32", "i32", "i32", [(3, 0), (2, 0)], [-1, 0]),
    ("%r = arith.uitofp %a : i8 to f64", "i8", "f64", [(-1, 0)], [255]),
    ("%r = arith.fptosi %a : f64 to i32", "f64", "i32", [(-2.7, 0)], [-2]),
    ("%k = arith.index_cast %i : index to i32\n%r = arith.muli %k, %b : i32", "i32", "i32", [(0, 5), (0, 7)], [0, 7]),
])
def test_others(line: str, kind: str, result: str, pairs: list[tuple[float, float]], expected: list[float]) -> None:
    assert np.array_equal(binary(line, kind, result, pairs), np.array(expected), equal_nan=result[0] == "f")


def test_constants() -> None:
    assert constant_of(constant(7, "index")) == 7
    assert constant_of(constant(255, "i8")) is None or constant(255, "i8").dtype.bits == 8
    with pytest.raises(CannotExpress, match="no number of its type"):
        constant("word", "f32")
    with pytest.raises(CannotExpress, match="does not fit"):
        constant(1 << 40, "i32")
    with pytest.raises(CannotExpress, match="f80"):
        constant(1.0, "f80")
    assert Operation("x", 1).operands == ()
