"""Blocks of results that other statements begin and end hold what the region computes, at every size."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.target import find_compiler, host
from polysched.tensorize.emission.any_size import emit_for_all_sizes
from polysched.tensorize.emission.function import EmissionOptions
from polysched.tensorize.emission.joined import can_be_joined, joined_argument
from polysched.tensorize.joining import with_joined
from polysched.tensorize.program import TensorizedProgram
from tests.tensorize.test_joining import TEXT, program_of

TURNED = TEXT.replace("O[i][j]", "O[j][i]").replace("short O[m][n]", "short O[n][m]")
WIDE = TEXT.replace("short O", "int O")   # whose elements are the sums
ZERO = TEXT.replace("int t = D[j]", "int t = 0")
NAMED = TEXT.replace("int D[n]", "int Y[n]").replace("D[j]", "Y[j]")   # as an operand of the instruction
SIZES = [(2, 2, 2), (3, 4, 5), (4, 5, 3), (19, 23, 29), (5, 7, 31), (8, 16, 2), (17, 3, 4), (2, 33, 9)]


@pytest.fixture(scope="module")
def programs() -> dict[str, TensorizedProgram]:
    return {name: with_joined(program_of(text)) for name, text in (
        ("plain", TEXT), ("turned", TURNED), ("zero", ZERO), ("named", NAMED), ("wide", WIDE))}


@pytest.mark.parametrize("unroll", [None, (3, 2), (7, 2), (1, 1)])
def test_every_size_is_that_of_numpy(unroll: tuple[int, int] | None, programs: dict[str, TensorizedProgram],
                                     tmp_path: Path) -> None:
    codes = {}
    for name, program in programs.items():
        assert program.joined is not None
        assert program.general is not None
        codes[name] = emit_for_all_sizes(program.general, program.match, name, EmissionOptions(
            target=host(), zero=program.zero, joined=program.joined, unroll=unroll), least_work=1)
    text = codes["plain"].emitted.prelude + "".join(
        c.emitted.text + c.fits.replace("static ", "") for c in codes.values())
    (tmp_path / "a.c").write_text(text)
    done = find_compiler().run(["-O0", "-w", "-fwrapv", "-shared", "-fPIC", str(tmp_path / "a.c"), "-o",
                                str(tmp_path / "a.so")])
    assert not done.returncode, done.stderr
    library, ran = ctypes.CDLL(str(tmp_path / "a.so")), 0
    for name, code in codes.items():
        for m, n, q in SIZES:
            sizes = [ctypes.c_long(x) for x in (m, n, q)]
            if not getattr(library, f"{name}_fits")(*sizes):
                continue
            chooser = np.random.default_rng(m * n + q)
            a, b, d = (chooser.integers(-(1 << 31), 1 << 31, s).astype(np.int32) for s in ((m, q), (q, n), n))
            guarded = np.full(m * n + 64, 77, np.int32 if name == "wide" else np.int16)
            arrays = {"A": a, "B": b, "D": d, "Y": d, "O": guarded[32:-32]}
            getattr(library, name)(*(ctypes.c_void_p(arrays[x].ctypes.data) for x in code.emitted.arrays), *sizes)
            wanted = np.maximum((0 if name == "zero" else d) + a @ b, 0).astype(guarded.dtype)
            np.testing.assert_array_equal(arrays["O"].reshape(-1), (wanted.T if name == "turned" else wanted).ravel())
            assert (guarded[:32] == 77).all()
            assert (guarded[-32:] == 77).all()
            ran += 1
    assert ran >= 5 * len(SIZES) - 5


def test_arrays_of_the_program_do_not_take_names_of_operands(programs: dict[str, TensorizedProgram]) -> None:
    joined = programs["named"].joined
    assert joined is not None
    assert "Y" in joined.arrays
    assert joined_argument("Y") != "Y"


def test_loops_of_the_result_alone_can_be_joined(programs: dict[str, TensorizedProgram]) -> None:
    found = programs["plain"].match
    assert can_be_joined(found, ["i", "j"])
    assert not can_be_joined(found, ["i", "k"])
