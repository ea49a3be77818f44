"""Kinds of matches that hold for sizes that only the running program knows: NumPy computes what one function does."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.tensorize.options import TensorizeOptions
from tests.tensorize.imagined_units import DESCRIBED
from tests.tensorize.test_any_size import loaded

Arrays = dict[str, np.ndarray]
SIZES = ((1, 1), (2, 3), (3, 2), (4, 8), (8, 4), (7, 9), (16, 17), (37, 41), (64, 33), (130, 5))
ROWS, SUM = "for (int i = 0; i < m; i++) ", "for (int k = 0; k < n; k++) "
TYPES = {"int32_t": np.int32, "int16_t": np.int16, "float": np.float32}


@dataclass(frozen=True)
class Kind:
    """A unit, a program, and what this leaves in its first array.

    Parameters
    ----------
    operands : of the unit; what their letters are follows.
    arrays : of the program, each with its type and its extents over m and n.
    """

    operands: str
    semantics: str
    arrays: dict[str, tuple[str, str]]
    body: str
    wanted: Callable[[Arrays, int, int], np.ndarray]


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.int32)


def in_order(x: Arrays, m: int, n: int) -> np.ndarray:
    """Every addition is rounded, from the first one on."""
    total = x["C"].copy()
    for k in range(n):
        total = total + x["A"][:, k] * x["B"][k]
    return total


def spread(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What every product adds to the element of its two places together, and an element that gets nothing."""
    return np.append(np.convolve(a.astype(np.int64), b.astype(np.int64)), 0).astype(np.int32)


def diagonals(x: Arrays, m: int, n: int) -> np.ndarray:
    """Each column of the product begins one row further down."""
    result, product = x["C"].copy(), wide(x["A"]) @ wide(x["B"]).T
    for j in range(n):
        result[j: j + m, j] += product[:, j]
    return result


ROW = "int32_t Y[4], const int16_t X[4], const int16_t W[4]", "for (int i = 0; i < 4; i++) Y[i] += X[i] * W[i];"
DOT = ("int32_t Y[4], const int16_t X[4][2], const int16_t W[4][2]",
       "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] += X[i][k] * W[i][k];")
WINDOW = ("int32_t Y[4], const int16_t X[5], const int16_t W[2]",
          "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] += X[i + k] * W[k];")
FLOATS = ("float Y[4], const float X[4][2], const float W[2]",
          "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] = Y[i] + X[i][k] * W[k];")
BUTTERFLY = ("int32_t P[4], int32_t Q[4]",
             "for (int i = 0; i < 4; i++) { int t = P[i]; P[i] = t + Q[i]; Q[i] = t - Q[i]; }")
MATRIX = {"C": ("int32_t", "m"), "A": ("int16_t", "m, n"), "B": ("int16_t", "n")}
KINDS = {
    "partial sums in lanes": Kind(
        *DOT, {"C": ("int32_t", "1"), "A": ("int16_t", "n"), "B": ("int16_t", "n")}, SUM + "C[0] += A[k] * B[k];",
        lambda x, m, n: x["C"] + wide(x["A"]) @ wide(x["B"])),
    "operands of iterators": Kind(
        *ROW, MATRIX, ROWS + SUM + "C[i] += A[i][k] * ((k & 3) + 1);",
        lambda x, m, n: x["C"] + wide(x["A"]) @ ((np.arange(n, dtype=np.int32) & 3) + 1)),
    "operands of sizes": Kind(
        *ROW, MATRIX, ROWS + SUM + "C[i] += A[i][k] * (int16_t)(B[k] + m);",
        lambda x, m, n: x["C"] + wide(x["A"]) @ wide((wide(x["B"]) + m).astype(np.int16))),
    "windows": Kind(
        *WINDOW, {"C": ("int32_t", "m"), "A": ("int16_t", "m + 1"), "B": ("int16_t", "2")},
        ROWS + "for (int r = 0; r < 2; r++) C[i] += A[i + r] * B[r];",
        lambda x, m, n: x["C"] + wide(x["A"][:-1]) * x["B"][0] + wide(x["A"][1:]) * x["B"][1]),
    "windows from a size on": Kind(
        *WINDOW, {"C": ("int32_t", "m"), "A": ("int16_t", "m + n + 1"), "B": ("int16_t", "2")},
        "for (int i = n; i < m + n; i++) for (int r = 0; r < 2; r++) C[i - n] += A[i + r] * B[r];",
        lambda x, m, n: x["C"] + wide(x["A"][n:-1]) * x["B"][0] + wide(x["A"][n + 1:]) * x["B"][1]),
    "sums that meet": Kind(
        *ROW, {"C": ("int32_t", "m + n"), "A": ("int16_t", "m"), "B": ("int16_t", "n")},
        ROWS + SUM + "C[i + k] += A[i] * B[k];",
        lambda x, m, n: x["C"] + spread(x["A"], x["B"])),
    "sums that meet, from zero": Kind(
        *ROW, {"C": ("int32_t", "m + n - 1"), "A": ("int16_t", "m"), "B": ("int16_t", "n")},
        "for (int i = 0; i < m + n - 1; i++) C[i] = 0;\n" + ROWS + SUM + "C[i + k] += A[i] * B[k];",
        lambda x, m, n: spread(x["A"], x["B"])[:-1]),
    "sums of pairs that meet": Kind(
        *DOT, {"C": ("int32_t", "m + n"), "A": ("int16_t", "m, 5"), "B": ("int16_t", "n, 5")},
        ROWS + SUM + "for (int c = 0; c < 5; c++) C[i + k] += A[i][c] * B[k][c];",
        lambda x, m, n: x["C"] + sum(spread(x["A"][:, c], x["B"][:, c]) for c in range(5))),
    "floats that meet": Kind(
        *FLOATS, {"C": ("float", "m + n"), "A": ("float", "m, 3"), "B": ("float", "3")},
        ROWS + SUM + "for (int c = 0; c < 3; c++) C[i + k] += A[i][c] * B[c];",
        lambda x, m, n: x["C"] + np.append(np.convolve(x["A"] @ x["B"], np.ones(n, np.float32)), 0)),
    "blocks of rows": Kind(
        *DOT, {"C": ("int32_t", "6 * m"), "A": ("int16_t", "6 * m, n"), "B": ("int16_t", "n")},
        ROWS + "for (int ii = 0; ii < 6; ii++) " + SUM + "C[6 * i + ii] += A[6 * i + ii][k] * B[k];",
        lambda x, m, n: x["C"] + wide(x["A"]) @ wide(x["B"])),
    "diagonals": Kind(
        *DOT, {"C": ("int32_t", "m + n, n"), "A": ("int16_t", "m, 7"), "B": ("int16_t", "n, 7")},
        ROWS + "for (int j = 0; j < n; j++) for (int k = 0; k < 7; k++) C[i + j][j] += A[i][k] * B[j][k];", diagonals),
    "several products": Kind(
        *ROW, {"C": ("int32_t", "m"), "A": ("int16_t", "m, n"), "B": ("int16_t", "n"), "D": ("int16_t", "n, m"),
               "E": ("int16_t", "n")},
        ROWS + SUM + "C[i] += A[i][k] * B[k] + D[k][i] * E[k];",
        lambda x, m, n: x["C"] + wide(x["A"]) @ wide(x["B"]) + wide(x["D"]).T @ wide(x["E"])),
    "sums in order": Kind(
        *FLOATS, {"C": ("float", "m"), "A": ("float", "m, n"), "B": ("float", "n")},
        ROWS + SUM + "C[i] = C[i] + A[i][k] * B[k];", in_order),
    "halves of rows": Kind(
        *ROW, MATRIX, ROWS + "for (int k = 0; k < n / 2; k++) C[i] += A[i][k + (n + 1) / 2] * B[k + n % 2 + n / 2];",
        lambda x, m, n: x["C"] + wide(x["A"][:, (n + 1) // 2:]) @ wide(x["B"][(n + 1) // 2:])),
    "the shorter of two sizes": Kind(
        *DOT, {"C": ("int32_t", "m"), "A": ("int16_t", "m, n"), "B": ("int16_t", "n")},
        "for (int i = 0; i < m && i < n; i++) for (int k = 0; k < n && k < 2 * m; k++) C[i] += A[i][k] * B[k];",
        lambda x, m, n: x["C"] + np.pad(wide(x["A"][:n, :2 * m]) @ wide(x["B"][:2 * m]), (0, max(0, m - n)))),
    "from the later of two sizes": Kind(
        *ROW, MATRIX, ROWS + "for (int k = m > 30 ? m - 30 : 0; k < n; k++) C[i] += A[i][k] * B[k];",
        lambda x, m, n: x["C"] + wide(x["A"][:, max(m - 30, 0):]) @ wide(x["B"][max(m - 30, 0):])),
    "results in one array": Kind(
        *BUTTERFLY, {"P": ("int32_t", "2 * m")},
        ROWS + "{ int t = P[2 * i]; P[2 * i] = t + P[2 * i + 1]; P[2 * i + 1] = t - P[2 * i + 1]; }",
        lambda x, m, n: np.stack([x["P"][::2] + x["P"][1::2], x["P"][::2] - x["P"][1::2]], 1).ravel()),
}


def transformed(kind: Kind, folder: Path) -> str:
    """The C of the program, with the unit for all sizes."""
    names = [part.split("[")[0].split()[-1] for part in kind.operands.split(",")]
    (folder / "units.py").write_text(DESCRIBED.format(parameters=kind.operands, body=kind.semantics,
                                                      names="".join(names)))
    declared = [f"{t} {name}{''.join(f'[{e}]' for e in extents.split(', '))}"
                for name, (t, extents) in kind.arrays.items()]
    (folder / "program.c").write_text(
        "#include <stdint.h>\n#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
        f"void program(int m, int n, {', '.join(declared)}) {{\n#pragma scop\n{kind.body}\n#pragma endscop\n}}\n")
    done = transform_file(folder / "program.c", PipelineOptions(
        verify_instructions="never", tensorize=TensorizeOptions(intrinsic="unit", files=(str(folder / "units.py"),))))
    assert "by unit */" in done.text, done.regions[0].instructions
    return done.text


@pytest.mark.parametrize("name", KINDS)
def test_one_function_for_all_sizes(name: str, tmp_path: Path) -> None:
    kind, ran = KINDS[name], 0
    text = transformed(kind, tmp_path)
    text = re.sub(r"    if \(!\([^;]*\(double\)[^;]* >= [^;]*\)\) return 0;\n", "", text)   # whether or not it pays
    asked = re.search(r"&& (polysched_\w+_fits)\(([^;{]*)\)\) \{|if \((polysched_\w+_fits)\(([^;{]*)\)\) \{", text)
    assert asked is not None
    fits, sizes = (asked[1], asked[2]) if asked[1] else (asked[3], asked[4])
    library = loaded(text.replace("static int polysched_", "int polysched_"), tmp_path)
    chooser = np.random.default_rng(11)
    for m, n in SIZES:
        arrays: Arrays = {}
        for array, (dtype, extents) in kind.arrays.items():
            shape = eval(f"({extents},)", {"m": m, "n": n})
            drawn = chooser.integers(-(1 << 15), 1 << 15, shape)
            whole = drawn % 16 if "meet" in name else drawn / 1000   # sums of these are exact in any order
            arrays[array] = (whole if dtype == "float" else drawn).astype(TYPES[dtype])
        with np.errstate(over="ignore"):
            wanted = kind.wanted(arrays, m, n)
        library.program(m, n, *(ctypes.c_void_p(x.ctypes.data) for x in arrays.values()))
        np.testing.assert_array_equal(next(iter(arrays.values())), wanted, err_msg=f"{m} {n}")
        ran += getattr(library, fits)(*({"m": m, "n": n}[x] for x in re.findall(r"\(([mn])\)", sizes)))
    assert ran >= len(SIZES) - 3   # the unit computes all but those of an extent of 1, or 2
