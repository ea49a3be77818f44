"""Registers of x86: what loads, stores and clears them names the register and the address, and fits their width."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Register
from polysched.tensorize.intrinsics import x86_registers

ALL = {name: value for name, value in vars(x86_registers).items() if isinstance(value, Register)}
WIDTHS = {"ZMM": "512", "YMM": "256", "XMM": "128"}


@pytest.mark.parametrize("name", ALL)
def test_code_names_the_register_and_its_address(name: str) -> None:
    register = ALL[name]
    assert "{register}" in register.load
    assert "{pointer}" in register.load
    if register.store:
        assert "{register}" in register.store
        assert "{pointer}" in register.store
        assert register.zero.startswith("{register} = ")


@pytest.mark.parametrize("name", [n for n in ALL if n[:3] in WIDTHS])
def test_the_width_is_that_of_its_name(name: str) -> None:
    register, bits = ALL[name], WIDTHS[name[:3]]
    assert register.c_type.startswith(f"__m{bits}")
    code = register.load + register.store + register.zero
    others = {"512", "256"} - {bits}
    assert not any(f"_mm{other}_" in code for other in others)
    assert register.count == (32 if bits == "512" else 16)


def test_repeated_words_are_only_loaded() -> None:
    repeats = [register for name, register in ALL.items() if "REPEAT" in name]
    assert repeats
    assert not any(register.store for register in repeats)
    assert all("set1" in register.load for register in repeats)
