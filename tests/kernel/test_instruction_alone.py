"""A kernel that an instruction computes is compiled without ordinary code until a call needs that."""

import json
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c.alternatives.instructions import UNFIT
from polysched.errors import BudgetExceededError
from polysched.kernel import FallbackWarning, compiled_scop
from polysched.pipeline import verified_replacements, way
from polysched.target.processor import processor_flags
from tests.kernel.products import loops

pytestmark = pytest.mark.skipif("avx2" not in processor_flags(), reason="this machine does not list AVX2")


def arrays(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    chooser = np.random.default_rng(m + n + k)
    a = chooser.integers(0, 255, (m, k), endpoint=True).astype(np.uint8)
    b = chooser.integers(-128, 127, (k, n), endpoint=True).astype(np.int8)
    return np.full((m, n), 3, np.int32), a, b


def check(product: polysched.kernel, *size: int) -> None:
    c, a, b = arrays(*size)
    product(c, a, b)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


VERDICTS: dict[str, object] = {}
"""Of the tests of this file: the instruction is run beside the product once."""


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(verified_replacements, "_KNOWN", VERDICTS)
    return tmp_path


def entries(cache: Path) -> list[str]:
    """The C of every compiled kernel."""
    return [p.read_text() for p in cache.glob("*/kernel.c")]


def test_large_sizes_take_the_instruction_and_small_ones_plain_loops(cache: Path,
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way.Started, "finished", lambda _: pytest.fail("the ordinary code was made"))
    product = polysched.kernel(loops)
    for size in ((33, 40, 37), (64, 64, 64), (3, 5, 7), (2, 3, 4)):
        check(product, *size)
    (text,) = entries(cache)
    assert f"return {UNFIT};" in text
    assert "band 1: tiles" not in text


def test_ordinary_code_is_made_by_the_call_that_needs_it(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the processor has no such instruction any more."""
    product = polysched.kernel(loops)
    check(product, 33, 40, 37)
    compiled = product.specialise(*arrays(33, 40, 37))
    monkeypatch.setattr(compiled_scop.CompiledScop, "_by_instruction_alone", lambda _: lambda *__: UNFIT)
    del compiled.__dict__["function"]
    check(product, 33, 40, 37)
    assert len(entries(cache)) == 2
    assert "band 1: tiles" in product.c_source
    assert any("verified: S1" in line for line in product.optimized.steps())


def test_another_process_finds_both(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(polysched.kernel(loops), 33, 40, 37)
    monkeypatch.setattr(compiled_scop, "started_region", lambda *_: pytest.fail("decided again"))
    check(polysched.kernel(loops), 34, 41, 38)
    assert len(entries(cache)) == 1
    (record,) = [json.loads(p.read_text()) for p in cache.glob("*/entry.json")]
    assert record["return_type"] == "int"


def test_what_the_check_finds_wrong_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way.Started, "is_right", lambda self: False)
    check(polysched.kernel(loops), 33, 40, 37)
    assert [f"return {UNFIT};" in text for text in entries(cache)] == [False]


def test_kernels_without_an_instruction_have_one_code(cache: Path) -> None:
    def scaled(C, A):  # type: ignore[no-untyped-def]
        for i in range(C.shape[0]):
            C[i] = 2 * A[i]

    c, a = np.zeros(9), np.arange(9.0)
    polysched.kernel(scaled)(c, a)
    np.testing.assert_array_equal(c, 2 * a)
    assert [f"return {UNFIT};" in text for text in entries(cache)] == [False]


def test_ordinary_code_that_cannot_be_made_is_a_reason_to_fall_back(cache: Path,
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise BudgetExceededError("too many loops")

    monkeypatch.setattr(compiled_scop.CompiledScop, "_by_instruction_alone", lambda _: lambda *__: UNFIT)
    monkeypatch.setattr(compiled_scop.CompiledScop, "_build", refused)
    with pytest.raises(BudgetExceededError, match="too many loops"):
        check(polysched.kernel(loops), 3, 4, 5)
    careful = polysched.kernel(loops, fallback=True)
    with pytest.warns(FallbackWarning, match="loops runs as plain Python: too many loops"):
        check(careful, 3, 4, 5)


def test_sizes_are_told_apart_from_variables_of_the_program(cache: Path) -> None:
    def product(C, A, B):  # type: ignore[no-untyped-def]
        for ps_size_M in range(C.shape[0]):
            for ps_size_N in range(C.shape[1]):
                for ps_size_K in range(A.shape[1]):
                    C[ps_size_M, ps_size_N] += np.int32(A[ps_size_M, ps_size_K]) * np.int32(B[ps_size_K, ps_size_N])

    own = polysched.kernel(product)
    for size in ((3, 4, 5), (33, 40, 37)):
        c, a, b = arrays(*size)
        own(c, a, b)
        np.testing.assert_array_equal(c, 3 + a.astype(np.int32) @ b.astype(np.int32))
