"""A text evaluated in Python: random expressions and loops as gcc computes them, and what is refused in words."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import BudgetExceededError, SourceSyntaxError, UndefinedDescriptionError
from polysched.target import find_compiler
from polysched.tensorize.description import python_emulator
from polysched.tensorize.description.python_emulator import INT, CType, common, constant, emulated, run_emulated

TYPES = {"u": "uint8_t", "s": "int8_t", "a": "int16_t", "h": "uint16_t", "x": "int32_t", "w": "uint32_t",
         "q": "int64_t", "p": "uint64_t"}
COUNT, EXPRESSIONS = 24, 100


def expression(chooser: random.Random, depth: int) -> str:
    kind = chooser.random()
    if not depth or kind < 0.15:
        return chooser.choice([f"{n}[i]" for n in TYPES] * 2 + [
            "0", "1", "7u", "0x80", "077", "0xffffffff", "2147483648", "3L", "0xFFul", "i"])
    first, second = expression(chooser, depth - 1), expression(chooser, depth - 1)
    if kind < 0.3:
        return f"({chooser.choice([*TYPES.values(), 'short', 'unsigned', 'long'])})({first})"
    if kind < 0.38:
        return f"{chooser.choice('-~!+')}({first})"
    if kind < 0.48:
        return f"(({first}) {chooser.choice(['<', '>=', '!='])} ({second}) ? ({second}) : ({first}))"
    if kind < 0.58:
        return f"(({first}) {chooser.choice(['<<', '>>'])} (({second}) & 31))"
    if kind < 0.66:   # neither by zero nor the least by -1
        return f"(({first}) {chooser.choice('/%')} ((({second}) & 15) + 1))"
    op = chooser.choice(["+", "-", "*", "&", "|", "^", "<", "<=", ">", "==", "&&", "||"])
    return f"(({first}) {op} ({second}))"


def operands() -> dict[str, np.ndarray]:
    chooser, found = np.random.default_rng(3), {}
    for name, c_type in TYPES.items():
        dtype = np.dtype(c_type.removesuffix("_t"))
        ends = np.iinfo(dtype)
        found[name] = chooser.integers(ends.min, ends.max, COUNT, dtype=dtype, endpoint=True)
        found[name][::2] = chooser.choice(np.array([ends.min, ends.max, 0, 1, ends.max // 2 + 1], dtype), COUNT // 2)
    return found


def by_gcc(text: str, arrays: list[np.ndarray], folder: Path) -> None:
    source, library = folder / "e.c", folder / "e.so"
    source.write_text(f"#include <stdint.h>\n{text}")
    done = find_compiler().run(["-O0", "-fwrapv", "-ffp-contract=off", "-w", "-shared", "-fPIC", str(source), "-o",
                                str(library)])
    assert not done.returncode, done.stderr
    ctypes.CDLL(str(library)).e(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))


def test_random_expressions_are_those_of_gcc(tmp_path: Path) -> None:
    chooser = random.Random(5)
    expressions = [expression(chooser, 3) for _ in range(EXPRESSIONS)]
    body = "".join(f"        out[{at}][i] = {e};\n" for at, e in enumerate(expressions))
    parameters = ", ".join(f"const {t} {n}[{COUNT}]" for n, t in TYPES.items())
    text = (f"void e(int64_t out[{EXPRESSIONS}][{COUNT}], {parameters}) {{\n"
            f"    for (int i = 0; i < {COUNT}; i++) {{\n{body}    }}\n}}\n")
    given, expected = operands(), np.zeros((EXPRESSIONS, COUNT), np.int64)
    by_gcc(text, [expected, *given.values()], tmp_path)
    found = run_emulated(emulated(text), {"out": np.zeros_like(expected), **given}, ["out"], {})["out"]
    wrong = np.flatnonzero((found != expected).any(axis=1))
    assert not wrong.size, expressions[wrong[0]]


BODIES = {   # on int32_t o[6], float f[6], double d[2], int8_t t[2][3]
    "down": "for (int i = 5; i >= 1; --i) o[i] += o[i - 1];",
    "from a loop around": "for (int i = 0; i < 2; i++) for (int j = i; j <= 2; ++j) o[j] -= t[i][j] * o[i];",
    "siblings of one name": "for (int i = 0; i < 6; i++) { int32_t z = o[i]; o[i] = z * z; } "
                            "for (int i = 5; i > 2; i--) { float z = f[i]; f[i] = z * z; }",
    "compound assignments": "o[0] <<= 3; o[1] >>= 1; o[2] ^= 0xff; o[3] |= t[1][1]; o[4] %= 7; o[5] /= 3; "
                            "t[0][0] += 200; t[1][2] *= t[1][2];",
    "lists": "int32_t z[2][2] = {0}; int8_t y[3] = {300, 2}; z[1][0] = y[0]; o[0] = z[1][0] + z[0][1] + y[1] + y[2];",
    "floats": "f[0] = f[1] * 0.1 + f[2] / 3; f[3] = -f[4] + 1; d[0] = f[5] * f[5]; d[1] += 16777217; f[1] = o[1];",
    "no numbers": "f[0] = f[0] / (f[0] - f[0]); o[0] = f[0] == f[0]; o[1] = !f[0]; o[2] = f[0] && 1; o[3] = f[0] < 1;",
    "infinities": "f[0] = f[1] / 0.0f; f[2] = -f[1] / 0.0f; o[0] = f[0] > f[2]; d[0] = 1e300 * 1e300; f[3] = 1e300;",
    "big numbers to floats": "f[0] = 16777217; f[1] = 9007199791611905L; d[0] = 9223372036854775807L; f[2] = 0x1.8p3f;",
}


@pytest.mark.parametrize("body", BODIES)
def test_statements_are_those_of_gcc(body: str, tmp_path: Path) -> None:
    text = f"void e(int32_t o[6], float f[6], double d[2], int8_t t[2][3]) {{ {BODIES[body]} }}"
    given = {"o": np.array([5, -7, 100, 1 << 30, -(1 << 31), 12], np.int32),
             "f": np.array([1.5, -2.25, 0.1, 7, 1e10, 3], np.float32), "d": np.array([0.5, 0.25]),
             "t": np.array([[100, -3, 5], [-128, 127, 9]], np.int8)}
    expected = {n: a.copy() for n, a in given.items()}
    by_gcc(text, list(expected.values()), tmp_path)
    found = run_emulated(emulated(text), given, list(given), {})
    for name, a in expected.items():
        np.testing.assert_array_equal(found[name], a)


def test_sizes_are_numbers_of_the_text() -> None:
    text = "void e(int n, int64_t o[n][3]) { for (int i = 0; i < n; i++) o[i][2] = n * 10 + i; }"
    found = run_emulated(emulated(text), {"o": np.zeros((4, 3), np.int64)}, ["o"], {"n": 4})
    assert found["o"].tolist() == [[0, 0, 40 + i] for i in range(4)]


@pytest.mark.parametrize(("text", "kind", "bits", "signed", "value"), [
    ("2147483647", "int", 32, True, 2147483647), ("2147483648", "int", 64, True, 1 << 31),
    ("0x80000000", "int", 32, False, 1 << 31), ("037777777777", "int", 32, False, (1 << 32) - 1),
    ("4294967295u", "int", 32, False, (1 << 32) - 1), ("4294967296u", "int", 64, False, 1 << 32),
    ("1l", "int", 64, True, 1), ("0xffffffffffffffff", "int", 64, False, (1 << 64) - 1),
    ("0x1fp-1f", "float", 32, True, 15.5), ("0x1f", "int", 32, True, 31), ("1e3", "float", 64, True, 1000.0),
    (".5F", "float", 32, True, 0.5)])
def test_types_of_constants(text: str, kind: str, bits: int, signed: bool, value: float) -> None:
    made, number = constant(text)
    assert made == CType(kind, bits, signed)
    assert number == value


def test_common_types_are_those_of_the_standard() -> None:
    names = python_emulator.NAMES
    assert common(names["uint8_t"], names["int8_t"]) == INT
    assert common(names["uint16_t"], names["int16_t"]) == INT
    assert common(names["uint32_t"], names["int"]) == names["uint32_t"]
    assert common(names["uint32_t"], names["long"]) == names["long"]
    assert common(names["uint64_t"], names["long"]) == names["uint64_t"]
    assert common(names["float"], names["uint64_t"]) == names["float"]
    assert common(names["int"], names["double"]) == names["double"]


@pytest.mark.parametrize(("body", "words"), [
    ("for (int i = 0; i < 6; i += 2) o[i] = 1;", "such a loop"),
    ("for (int i = 6; i > 0; i -= 1) o[i] = 1;", "such a loop"),
    ("for (;;) o[0] = 1;", "such a loop"), ("for (int i = 0, j = 0; i < 2; i++) o[i] = j;", "such a loop"),
    ("for (int i = 0; i < 2; o[0]++) o[i] = 1;", "such a loop"),
    ("for (int i = 0; i < 2; i++) for (int i = 0; i < 2; i++) o[i] = 1;", "i stands for two things"),
    ("int32_t z = 1; { int32_t z = 2; o[0] = z; } o[1] = z;", "z stands for two things"),
    ("int32_t z[n]; o[0] = n;", "so many elements"),
    ("while (o[0]) o[0] = 1;", "such a statement"), ("if (b[0]) o[0] = 1;", "a short float is no number"),
    ("o[0]++;", "such a statement"), ("o[0] = (o[1] = 2);", "such an expression"),
    ("o[0] = puts(0);", "such an expression"),
    ("o[0] = sizeof(o[0]);", "such an operator"), ("o[0] = ~f[0];", "no operand"), ("o[0] = f[0] % 2;", "no operands"),
    ("o[0] = 'a';", "such a constant"), ("o[0] = abs(1, 2);", "1 argument is expected"),
    ("o[0] = (char *)0;", "the type char"), ("b[0] = o[0] ? b[0] : b[1];", "a short float is no number"),
    ("f[0] = b[0] + 1;", "a short float is no number")])
def test_what_is_not_evaluated_is_quoted(body: str, words: str) -> None:
    with pytest.raises(SourceSyntaxError, match=words):
        emulated(f"void e(int n, int32_t o[6], float f[6], bf16 b[2]) {{ {body} }}")


@pytest.mark.parametrize(("body", "words"), [
    ("o[0] = 1 / (o[0] - o[0]);", "a division by zero"), ("o[0] = o[1] / -1;", "does not fit"),
    ("o[0] = 1 << (o[0] + 32);", "a shift by 32 of 32 bits"), ("o[0] = 1 >> -1;", "a shift by -1"),
    ("o[0] = o[n];", "outside of its 2 elements"), ("o[n - 3] = 1;", "outside"),
    ("int32_t z; o[0] = z;", "before it has"),
    ("int32_t z[2]; z[0] = 1; o[0] = z[1];", "before it has"), ("o[0] = f[0];", "a float is converted")])
def test_what_c_leaves_undefined_is_refused_once_it_happens(body: str, words: str) -> None:
    made = emulated(f"void e(int n, int32_t o[2], float f[1]) {{ {body} }}")
    given = {"o": np.array([0, -(1 << 31)], np.int32), "f": np.array([1.5], np.float32)}
    with pytest.raises(UndefinedDescriptionError, match=words):
        run_emulated(made, given, ["o"], {"n": 2})


def test_what_a_choice_or_a_condition_leaves_out_is_not_evaluated() -> None:
    text = "void e(int64_t o[3]) { o[0] = o[0] ? 1 / o[0] : 7; o[1] = o[1] && 1 / o[1]; o[2] = 1 || 1 / o[2]; }"
    assert run_emulated(emulated(text), {"o": np.zeros(3, np.int64)}, ["o"], {})["o"].tolist() == [7, 0, 1]


def test_long_executions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_emulator, "MOST_ASSIGNMENTS", 10)
    made = emulated("void e(int32_t o[6]) { for (int i = 0; i < 6; i++) for (int j = 0; j < 2; j++) o[i] += j; }")
    with pytest.raises(BudgetExceededError, match="more than 10 assignments"):
        run_emulated(made, {"o": np.zeros(6, np.int32)}, ["o"], {})
