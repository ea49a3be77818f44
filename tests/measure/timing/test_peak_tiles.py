"""The peak of a matrix unit: kernels for the features that a processor has, and a refusal for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.measure.timing.peak_tiles import ACCUMULATORS, INSTRUCTIONS, tile_kernels
from tests.emit_c.compiled import load

EXPORTED = '#define EXPORTED __attribute__((visibility("default")))\n'


def test_without_the_unit_nothing_is_permitted(tmp_path: Path) -> None:
    text, operations = tile_kernels(frozenset({"avx2"}))
    assert operations == {}
    assert load(EXPORTED + text, tmp_path, strict=False).tiles_permitted() == 0


@pytest.mark.parametrize(("features", "kernels"), [
    ({"amx_int8"}, {"int8_tiles"}), ({"amx_bf16"}, {"bfloat16_tiles"}),
    ({"amx_int8", "amx_bf16"}, {"int8_tiles", "bfloat16_tiles"})])
def test_one_kernel_per_type(features: set[str], kernels: set[str]) -> None:
    text, operations = tile_kernels(frozenset(features))
    assert set(operations) == kernels
    assert all(f"EXPORTED void peak_{name}(long repetitions)" in text for name in kernels)
    assert "long tiles_permitted(void)" in text


def test_operations_are_those_of_the_tiles() -> None:
    _, operations = tile_kernels(frozenset({"amx_int8", "amx_bf16"}))
    assert operations["int8_tiles"] == 2 * ACCUMULATORS * 16 * 16 * 64
    assert operations["bfloat16_tiles"] == 2 * ACCUMULATORS * 16 * 16 * 32
    for instruction in INSTRUCTIONS.values():
        text, _ = tile_kernels(frozenset({instruction.feature}))
        assert text.count(f"{instruction.name} %%tmm7") == ACCUMULATORS
