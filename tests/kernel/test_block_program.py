"""Block programs beside NumPy: as loops in Python, compiled, and on devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polysched
import polysched.scop.block_frontend.language as bl
from polysched.errors import UnsupportedScopError, UsageError
from tests.emit_gpu.emitted import EXACT, needs_device
from tests.kernel import masked_programs
from tests.kernel.block_programs import EXAMPLES, philox, softmax, vector_add
from tests.tiers import and_campaign


def difference(name: str, run: Any, size: int) -> float:
    """The largest difference to NumPy."""
    example = EXAMPLES[name]
    arguments = example.arguments(size, np.random.default_rng(size))
    expected = example.expected(**arguments)
    with np.errstate(over="ignore"):
        run(**arguments)
    return float(np.abs(arguments[example.result] - expected).max())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_loops_compute_what_the_mathematics_says(name: str) -> None:
    program = polysched.block_program(EXAMPLES[name].function)
    assert difference(name, program.with_constants().function, 17) < 1e-13


@pytest.mark.parametrize("name", and_campaign(["vector_add", "dropout"], [
    "softmax", "matmul", "layer_norm", "attention", "grouped_matmul"]))
def test_compiled(name: str) -> None:
    program = polysched.block_program(EXAMPLES[name].function)
    for size in (7, 16, 33):
        assert difference(name, program, size) < 1e-13


@pytest.mark.parametrize("name", and_campaign(["vector_add"], [
    "softmax", "matmul", "layer_norm", "attention", "dropout", "grouped_matmul"]))
def test_on_a_device(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    program = polysched.block_program(EXAMPLES[name].function, target="opencl")
    for size in (7, 33):
        assert difference(name, program, size) < 1e-13


@pytest.mark.parametrize("name", and_campaign(["dropout"], [
    "vector_add", "softmax", "matmul", "layer_norm", "attention", "grouped_matmul"]))
def test_on_cuda_by_the_headers_of_the_cpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    monkeypatch.setenv("POLYSCHED_CUDA_BUILD", "--fmad=false")
    program = polysched.block_program(EXAMPLES[name].function, target="cuda")
    assert difference(name, program, 17) < 1e-13


def test_the_words_of_philox() -> None:
    assert philox(0, 0) == 0x6627E8D5   # the known answers of Random123


def twice(x, out, before, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    own = bl.load(bl.block(x, (n,), (at,), (BLOCK,)))
    bl.store(bl.block(out, (n,), (at,), (BLOCK,)), own + 1)
    bl.store(bl.block(before, (n,), (at,), (BLOCK,)), own)


def test_one_array_under_two_names_is_loaded_before_it_is_written() -> None:
    x, before = np.arange(11.0), np.zeros(11)
    polysched.block_program(twice)(x, x, before)
    assert np.array_equal(before, np.arange(11.0))
    assert np.array_equal(x, before + 1)


def weighted(weights, x, out, BLOCK=8, COLUMNS=4):
    n, m = x.shape
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    w = bl.load(bl.block(weights, (n, m), (at, 0), (BLOCK, COLUMNS)))
    total = bl.sum(w * bl.load(bl.block(x, (n, m), (at, 0), (BLOCK, COLUMNS))), 1)
    bl.store(bl.block(out, (n,), (at,), (BLOCK,)), total)


@pytest.mark.parametrize("types", [("i4", "f8"), ("f4", "f8"), ("i1", "f4")])
def test_integers_and_floats_make_floats(types: tuple[str, str]) -> None:
    w, x = np.arange(36).reshape(9, 4).astype(types[0]), np.linspace(0, 1, 36).reshape(9, 4).astype(types[1])
    out = np.zeros(9)
    polysched.block_program(weighted)(w, x, out)
    assert np.allclose(out, (w * x).sum(1), rtol=1e-6)


def overlapping(x, out, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    bl.store(bl.block(out, (n,), (at,), (BLOCK + 1,)), bl.load(bl.block(x, (n,), (at,), (BLOCK + 1,))))


def neighbour(out, BLOCK=8):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    bl.store(bl.block(out, (n,), (at,), (BLOCK,)), bl.load(bl.block(out, (n,), (at + 1,), (BLOCK,))))


def same_for_all(out, BLOCK=8):
    n = out.shape[0]
    row = bl.program_id(0, n)
    bl.store(bl.block(out, (n,), (0 * row,), (BLOCK,)), bl.zeros((BLOCK,)))


@pytest.mark.parametrize(("function", "arguments", "words"), [
    (overlapping, (np.zeros(20), np.zeros(20)), "two programs write one element of out"),
    (neighbour, (np.zeros(20),), "two programs write and read one element of out"),
    (same_for_all, (np.zeros(20),), "two programs write one element of out")])
def test_two_programs_at_one_element_are_refused(function: Any, arguments: Any, words: str) -> None:
    with pytest.raises(UnsupportedScopError, match=words) as refused:
        polysched.block_program(function)(*arguments)
    assert "reach out[" in str(refused.value)


@pytest.mark.parametrize("function", masked_programs.APART, ids=lambda f: f.__name__)
def test_masks_that_keep_programs_apart_are_seen(function: Any) -> None:
    kernel = polysched.block_program(function).with_constants()
    assert kernel.specialised(kernel.types_of({"": "float64"}))


@pytest.mark.parametrize("function", masked_programs.TOGETHER, ids=lambda f: f.__name__)
def test_masks_that_leave_one_element_to_two_programs_are_refused(function: Any) -> None:
    kernel = polysched.block_program(function).with_constants()
    with pytest.raises(UnsupportedScopError, match="two programs write one element of out"):
        kernel.specialised(kernel.types_of({"": "float64"}))


def test_constants_of_a_call() -> None:
    program = polysched.block_program(vector_add)
    x = np.arange(9.0)
    out = np.zeros(9)
    program.with_constants(BLOCK=3).function(x, x, out)
    assert np.array_equal(out, 2 * x)
    assert "range(3)" in program.with_constants(BLOCK=3).loops.text
    with pytest.raises(UsageError, match="BLOCK=0 is no edge of a block"):
        program(x, x, out, BLOCK=0)
    with pytest.raises(UsageError, match="vector_add has no constant EDGE"):
        program.with_constants(EDGE=3)


def test_a_row_that_does_not_fit_its_tile_is_masked() -> None:
    program = polysched.block_program(softmax).with_constants(COLUMNS=4)
    X, Y = np.ones((2, 6)), np.full((2, 6), 9.0)
    program.function(X, Y)
    assert np.array_equal(Y, [[0.25] * 4 + [9] * 2] * 2)


def test_it_says_what_it_is() -> None:
    assert repr(polysched.block_program(vector_add)) == "<block program vector_add(x, y, out) over 1 axes>"


def test_words_have_no_meaning_outside() -> None:
    with pytest.raises(UsageError, match="load has a meaning only in a block program"):
        bl.load(None)
