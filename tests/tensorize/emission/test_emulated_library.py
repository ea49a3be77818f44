"""A library function in plain C reads the words of its call: transposed matrices, wide rows, steps and both factors."""

from __future__ import annotations

import ctypes
import itertools
from pathlib import Path

import numpy as np

from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.description.exact_arithmetic import PRELUDE
from polysched.tensorize.emission.emulated_library import emulated_library
from polysched.tensorize.emission.library import library_arrays, library_call
from polysched.tensorize.matching.scaling import inside_kept, scaling_statement
from tests.tensorize.described import programs_of

M, N, K = 3, 5, 4
FLAGS = ["-O0", "-w", "-shared", "-fPIC"]


def texts() -> dict[str, tuple[str, str]]:
    found = {}
    loops = f"for (int i = 0; i < {M}; i++) for (int j = 0; j < {N}; j++) "
    for left, right, wide, head in itertools.product((False, True), (False, True), (0, 3), ("", "= 0", "*= beta")):
        a = f"A[{K}][{M + wide}]" if left else f"A[{M}][{K + wide}]"
        b = f"B[{N}][{K + wide}]" if right else f"B[{K}][{N + wide}]"
        body = (f"{loops}C[i][j] {head};\n" if head else "") + (
            f"{loops}for (int k = 0; k < {K}; k++) C[i][j] += 0.5 * {'A[k][i]' if left else 'A[i][k]'} * "
            f"{'B[j][k]' if right else 'B[k][j]'};")
        arrays = f"double C[{M}][{N + wide}], double {a}, double {b}, double beta"
        found[f"{int(left)}{int(right)}{wide}{head}"] = (arrays, body)
    return found


def test_products_are_numpys(tmp_path: Path) -> None:
    scops: dict[str, Scop] = programs_of(texts(), tmp_path)
    lines, jobs = ["#include <stdlib.h>", PRELUDE], []
    plain = emulated_library(find_intrinsic("cblas_dgemm"))
    assert plain.isa.flags == ()
    for at, (name, scop) in enumerate(scops.items()):
        (found, *_) = match(scop, plain).matches
        scale = scaling_statement(found, inside_kept(found.fragment))
        assert (scale is not None) is ("=" in name)
        lines.append(library_call(found, f"call{at}", scale))
        jobs.append((name, scop, library_arrays(found, scale)))
    (tmp_path / "l.c").write_text("\n".join(lines))
    done = find_compiler().run([*FLAGS, str(tmp_path / "l.c"), "-o", str(tmp_path / "l.so")])
    assert not done.returncode, done.stderr
    library = ctypes.CDLL(str(tmp_path / "l.so"))
    for at, (name, scop, names) in enumerate(jobs):
        chooser, given = np.random.default_rng(at), {}
        for array in scop.arrays:
            shape = tuple(int(e.max_val().to_python()) for e in array.extents if e is not None)
            given[array.name] = chooser.integers(-8, 8, shape).astype(np.float64)
        a = given["A"].T[:M, :K] if name[0] == "1" else given["A"][:M, :K]
        b = given["B"].T[:K, :N] if name[1] == "1" else given["B"][:K, :N]
        factor = 0 if "= 0" in name else given["beta"] if "*=" in name else 1
        wanted = given["C"].copy()
        wanted[:, :N] = factor * given["C"][:, :N] + 0.5 * a @ b
        getattr(library, f"call{at}")(*(ctypes.c_void_p(given[n].ctypes.data) for n in names))
        np.testing.assert_array_equal(given["C"], wanted, err_msg=name)
