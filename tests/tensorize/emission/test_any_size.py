"""One function computes the product at every size that its test of sizes lets through."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.target import host
from polysched.tensorize import match
from polysched.tensorize.emission.any_size import GeneralCode, emit_for_all_sizes
from polysched.tensorize.emission.function import EmissionOptions
from polysched.tensorize.matching.any_size import for_all_sizes
from tests.tensorize.compiled import compiled_for_all_sizes
from tests.tensorize.emission.native import FOUR, SIZES

TEXT = """void f(int m, int n, int q, int C[m][n], int A[m][q], int B[q][n]) {
#pragma scop
for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) for (int k = 0; k < q; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
SHORTER = TEXT.replace("j < n", "j < n - 2").replace("k < q", "k < q - 3")


def made(name: str, least_work: float, *, text: str = TEXT, **options: object) -> GeneralCode:
    dependences = analysed(from_c_text(text), for_instructions=True).dependences
    found = match(dependences.scop, FOUR, dependences=dependences).matches[0]
    general = for_all_sizes(found, dependences, ("m", "n", "q"))
    given = EmissionOptions(target=host(), **options)   # type: ignore[arg-type]
    return emit_for_all_sizes(general, found, name, given, least_work=least_work)


@pytest.fixture(scope="module")
def codes() -> list[GeneralCode]:
    return [made("plain", 1), made("blocks", 1, unroll=(2, 2)), made("zeroed", 1, zero=True), made("worth", 4000),
            made("shorter", 1, text=SHORTER)]


@pytest.fixture(scope="module")
def library(codes: list[GeneralCode], tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled_for_all_sizes(codes, tmp_path_factory.mktemp("sizes"))


@pytest.mark.parametrize("name", ["plain", "blocks", "zeroed"])
def test_every_size_that_fits_has_the_product(name: str, codes: list[GeneralCode], library: ctypes.CDLL) -> None:
    """One after the other in the same buffers, larger and smaller ones in turn."""
    ran, names = 0, next(c.emitted.arrays for c in codes if c.emitted.name == name)
    for m, n, q in SIZES:
        sizes = [ctypes.c_long(x) for x in (m, n, q)]
        if not getattr(library, f"{name}_fits")(*sizes):
            continue
        chooser = np.random.default_rng(m * n + q)
        c, a, b = (chooser.integers(-(1 << 31), 1 << 31, s).astype(np.int32) for s in ((m, n), (m, q), (q, n)))
        wanted, arrays = (0 if name == "zeroed" else c) + a @ b, {"C": c, "A": a, "B": b}
        getattr(library, name)(*(ctypes.c_void_p(arrays[x].ctypes.data) for x in names), *sizes)
        np.testing.assert_array_equal(c, wanted, err_msg=f"{m} {n} {q}")
        ran += 1
    assert ran >= len(SIZES) - 1


def test_too_small_and_impossible_sizes_do_not_fit(library: ctypes.CDLL) -> None:
    for sizes in ((1, 4, 4), (4, 1, 4), (4, 4, 1), (0, 4, 4), (-3, 4, 4), (1 << 41, 4, 4)):
        assert not library.plain_fits(*map(ctypes.c_long, sizes)), sizes
    assert not library.plain_fits(*map(ctypes.c_long, (1 << 30, 1 << 30, 1 << 30))), "no memory has such buffers"


def test_loops_without_an_iteration_are_left_to_ordinary_code(codes: list[GeneralCode], library: ctypes.CDLL) -> None:
    names, ran = next(c.emitted.arrays for c in codes if c.emitted.name == "shorter"), 0
    for m, n, q in [(3, 5, 2), (3, 5, 3), (3, 2, 5), (3, 5, 5), (4, 7, 9), (3, 6, 4)]:
        sizes = [ctypes.c_long(x) for x in (m, n, q)]
        fits = library.shorter_fits(*sizes)
        assert (n > 2 and q > 3) or not fits, "no buffer has a negative size"
        if fits:
            arrays = {"C": np.ones((m, n), np.int32), "A": np.arange(m * q, dtype=np.int32).reshape(m, q),
                      "B": np.arange(q * n, dtype=np.int32).reshape(q, n)}
            wanted = arrays["C"].copy()
            wanted[:, :n - 2] += arrays["A"][:, :q - 3] @ arrays["B"][:q - 3, :n - 2]
            library.shorter(*(ctypes.c_void_p(arrays[x].ctypes.data) for x in names), *sizes)
            np.testing.assert_array_equal(arrays["C"], wanted, err_msg=f"{m} {n} {q}")
            ran += 1
    assert ran > 0


def test_little_work_is_left_to_ordinary_code(library: ctypes.CDLL) -> None:
    for m, n, q in SIZES:
        fits = library.worth_fits(*map(ctypes.c_long, (m, n, q)))
        assert bool(fits) is (m * n * q >= 4000), (m, n, q)
