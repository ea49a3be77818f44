"""Input values: the same for the same seed, aligned, guarded, and kind to factorisations."""

import numpy as np
import pytest

from polysched.measure.programs.inputs import (
    ALIGNMENT_BYTES,
    RECIPES,
    STORAGE_TYPES,
    UNIT_ROUNDOFF,
    allocate,
    as_numbers,
    fill,
    perturb,
    store,
)


@pytest.mark.parametrize("dtype", STORAGE_TYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7, 5), (0, 3)])
def test_memory_is_aligned_zero_and_guarded(dtype: str, shape: tuple[int, ...]) -> None:
    array = allocate(dtype, shape)
    assert array.values.shape == shape
    assert (array.memory.ctypes.data + array.start) % ALIGNMENT_BYTES == 0
    assert array.values.size == 0 or array.values.ctypes.data == array.memory.ctypes.data + array.start
    assert not array.values.any()
    assert array.guards_intact()
    for position in (array.start - 1, array.start + array.values.nbytes):
        array.memory[position] ^= 1
        assert not array.guards_intact()
        array.memory[position] ^= 1


@pytest.mark.parametrize("dtype", STORAGE_TYPES)
@pytest.mark.parametrize("recipe", RECIPES)
def test_values_depend_on_seed_and_name_only(dtype: str, recipe: str) -> None:
    def filled(name: str, seed: int) -> np.ndarray:
        array = allocate(dtype, (64,)).values
        fill(array, dtype, name=name, recipe=recipe, seed=seed)
        return array.copy()

    assert np.array_equal(filled("A", 1), filled("A", 1))
    assert not np.array_equal(filled("A", 1), filled("B", 1))
    assert not np.array_equal(filled("A", 1), filled("A", 2))
    assert np.isfinite(as_numbers(filled("A", 1), dtype)).all()


@pytest.mark.parametrize("recipe", [r for r in RECIPES if r != "wide"])
@pytest.mark.parametrize("extent", [1, 2, 50])
def test_square_matrices_are_positive_definite(recipe: str, extent: int) -> None:
    matrix = np.zeros((extent, extent))
    fill(matrix, "float64", name="A", recipe=recipe, seed=3)
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > 0
    assert np.linalg.cond(matrix) < 100


def test_small_values_of_a_toeplitz_matrix_are_dominated_by_its_diagonal() -> None:
    row = np.zeros(100)
    fill(row, "float64", name="r", recipe="small", seed=1)
    assert 0 < row.sum() < 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float32", "float64"])
def test_wide_values_fall_on_both_sides_of_what_programs_compare_with(dtype: str) -> None:
    values = allocate(dtype, (1000,)).values
    fill(values, dtype, name="A", recipe="wide", seed=1)
    assert (values > 50).mean() > 0.05
    assert (values < (4 if dtype == "uint8" else -50 if dtype != "int8" else -20)).mean() > 0.05
    assert np.issubdtype(values.dtype, np.floating) or (values == 0).mean() > 0.02


def test_mixed_integers_have_both_signs_and_are_never_zero() -> None:
    numbers = np.zeros(1000, np.int32)
    fill(numbers, "int32", name="A", recipe="mixed", seed=1)
    assert (numbers.min(), numbers.max()) == (-8, 8)
    assert (numbers != 0).all()


def test_integers_are_small_and_never_zero_unless_they_are_subscripts() -> None:
    numbers = np.zeros(1000, np.int32)
    fill(numbers, "int32", name="A", recipe="dominant", seed=1)
    assert numbers.min() >= 1
    assert numbers.max() <= 8
    fill(numbers, "int32", name="A", recipe="dominant", seed=1, index_extent=17)
    assert (numbers.min(), numbers.max()) == (0, 16)


def test_bfloat16_rounds_to_nearest_even() -> None:
    bits = np.zeros(4, np.uint16)
    store(bits, np.array([1.0, 1.0 + 2**-8, 1.0 + 3 * 2**-8, 1.0 + 2**-9]), "bfloat16")
    assert bits.tolist() == [0x3F80, 0x3F80, 0x3F82, 0x3F80]


@pytest.mark.parametrize("dtype", ["float32", "float64", "longdouble"])
def test_a_perturbation_is_small_and_not_nothing(dtype: str) -> None:
    values = np.ones(1000, STORAGE_TYPES[dtype])
    perturb(values, dtype, name="A", seed=1, roundoffs=8)
    change = np.abs(values - 1)
    assert 0 < change.max() <= 9 * UNIT_ROUNDOFF[dtype]
    numbers = np.ones(10, np.int32)
    perturb(numbers, "int32", name="A", seed=1, roundoffs=8)
    assert (numbers == 1).all()
