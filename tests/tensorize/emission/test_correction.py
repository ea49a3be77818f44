"""What is added behind a product of bytes makes it the program's sum, for every shape of zero points."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from polysched.scop.body import Load
from polysched.target import Target, find_compiler
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.description.exact_arithmetic import PRELUDE
from polysched.tensorize.emission.correction import (
    correction_arrays,
    correction_c,
    correction_cycles,
    sum_names,
    sums_c,
)
from polysched.tensorize.emission.function import zeros_c
from polysched.tensorize.equality.evaluation import evaluate
from polysched.tensorize.matching.mapping import Match
from tests.tensorize.described import programs_of

M, N, K = 5, 18, 9
HEAD = f"int C[{M}][{N}], {{}} A[{M}][{K}], signed char B[{K}][{N}], int z, int r[{M}], int c[{N}]"
LOOPS = f"for (int i = 0; i < {M}; i++) for (int j = 0; j < {N}; j++) for (int k = 0; k < {K}; k++) "
TEXTS = {
    "left": ("unsigned char", "C[i][j] += (A[i][k] - z) * B[k][j];"),
    "right": ("unsigned char", "C[i][j] += A[i][k] * (B[k][j] + c[j]);"),
    "rows": ("unsigned char", "C[i][j] += (A[i][k] - r[i]) * B[k][j];"),
    "both": ("unsigned char", "C[i][j] += (A[i][k] - r[i]) * (B[k][j] - c[j]);"),
    "constant": ("unsigned char", "C[i][j] += (A[i][k] - 128) * (B[k][j] + 3);"),
    "signed": ("signed char", "C[i][j] += A[i][k] * B[k][j];")}


@pytest.fixture(scope="module")
def matches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Match]:
    scops = programs_of({n: (HEAD.format(t), LOOPS + b) for n, (t, b) in TEXTS.items()},
                        tmp_path_factory.mktemp("correction"))
    return {n: match(s, find_intrinsic("vpdpbusd")).matches[0] for n, s in scops.items()}


@pytest.fixture(scope="module")
def library(matches: dict[str, Match], tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("corrected")
    lines = ["#include <stdlib.h>", PRELUDE, zeros_c(Target())]
    for name, found in matches.items():
        assert found.assignment.correction is not None
        lines.append(sums_c(found, found.assignment.correction, f"{name}_sums", parallel=False))
        lines.append(correction_c(found, found.assignment.correction, f"{name}_correct", parallel=False))
    (folder / "c.c").write_text("\n".join(lines).replace("static void ", "void "))
    done = find_compiler().run(["-O0", "-w", "-fwrapv", "-shared", "-fPIC", str(folder / "c.c"), "-o",
                                str(folder / "c.so")])
    assert not done.returncode, done.stderr
    return ctypes.CDLL(str(folder / "c.so"))


def values(found: Match) -> dict[str, np.ndarray]:
    chooser = np.random.default_rng(3)
    shapes = {"C": (M, N), "A": (M, K), "B": (K, N), "z": (), "r": (M,), "c": (N,)}
    arrays = {}
    for array in found.fragment.scop.arrays:
        low, high = array.dtype.value_range()
        arrays[array.name] = chooser.integers(low, high, shapes[array.name], endpoint=True).astype(array.dtype.name)
    return arrays


def everywhere(found: Match, e: object, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """An expression of the statement at all points [i, j, k]."""
    axes = {"A": (0, 2), "B": (2, 1), "C": (0, 1), "r": (0,), "c": (1,), "z": ()}
    given = {}
    for access in found.fragment.statement.accesses:
        x = arrays[access.array]
        at = axes[access.array]
        shape = [1, 1, 1]
        for place, extent in zip(at, x.shape, strict=True):
            shape[place] = extent
        given[access.reference] = (x.T if at == (2, 1) else x).reshape(shape)
    return evaluate(e, given)   # type: ignore[arg-type]


@pytest.mark.parametrize("name", TEXTS)
def test_product_and_correction_are_the_programs_sum(name: str, matches: dict[str, Match],
                                                     library: ctypes.CDLL) -> None:
    found, arrays = matches[name], values(matches[name])
    correction = found.assignment.correction
    assert correction is not None
    before = arrays["C"].astype(np.int64)
    whole = everywhere(found, found.fragment.update, arrays).astype(np.int64)
    added = np.broadcast_to(whole, (M, N, K)) - before[:, :, None]
    wanted = (before + added.sum(axis=2)).astype(np.int32)
    parts = [np.broadcast_to(everywhere(found, e, arrays).astype(np.int64), (M, N, K))
             for e in (correction.left, correction.right)]
    arrays["C"] = (before + (parts[0] * parts[1]).sum(axis=2)).astype(np.int32)   # what the instruction leaves
    sums = {n: np.zeros({"ps_left": M, "ps_right": N}[n], np.uint32) for n in sum_names(correction)}
    read = [*sums, *correction_arrays(found)]
    for function, names in (("sums", read), ("correct", ["C", *read])):
        handed = (ctypes.c_void_p((arrays | sums)[n].ctypes.data) for n in names)
        getattr(library, f"{name}_{function}")(*handed)
    np.testing.assert_array_equal(arrays["C"], wanted)


def test_the_sums_cost_each_element_once_and_a_pass_of_the_result(matches: dict[str, Match]) -> None:
    left, both = (correction_cycles(matches[n]) for n in ("left", "both"))
    assert left / (K * N + 2 * M * N) == pytest.approx(both / (M * K + K * N + 2 * M * N))
    assert correction_arrays(matches["both"]) == ["A", "B", "c", "r"]
    assert isinstance(matches["left"].result, Load)
