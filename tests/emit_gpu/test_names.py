"""Names that the language has."""

import pytest

from polysched.emit_gpu.names import device_name


@pytest.mark.parametrize("name, expected", [
    ("kernel", "kernel_"), ("float4", "float4_"), ("A", "A"), ("grid->n", "grid__n"), ("get_local_id", "get_local_id_")])
def test_reserved_names_get_an_underscore(name: str, expected: str) -> None:
    assert device_name(name) == expected


def test_another_name_is_not_taken() -> None:
    assert device_name("kernel", ["kernel_"]) == "kernel__"
