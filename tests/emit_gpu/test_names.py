"""Names that the language has."""

import pytest

from polysched.emit_gpu.names import device_name


@pytest.mark.parametrize(("name", "expected"), [
    ("kernel", "own_kernel"), ("float4", "own_float4"), ("A", "A"), ("grid->n", "grid__n"),
    ("get_local_id", "own_get_local_id"), ("__x", "own___x")])
def test_reserved_names_get_a_prefix(name: str, expected: str) -> None:
    assert device_name(name) == expected


def test_another_name_is_not_taken() -> None:
    assert device_name("kernel", ["own_kernel"]) == "own_own_kernel"
