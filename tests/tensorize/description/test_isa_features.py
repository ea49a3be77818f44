"""Extensions that instruction sets need, from the flags of compilers, and whether a processor lists them."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Isa
from polysched.tensorize.description.isa_features import features_of, is_listed


def isa(machine: str, *flags: str) -> Isa:
    return Isa(name="x", machine=machine, manual="none", flags=flags)


@pytest.mark.parametrize(("machine", "flags", "features"), [
    ("x86_64", ("-mavx2", "-mfma"), ("avx2", "fma")),
    ("x86_64", ("-mamx-int8", "-mamx-tile", "-O2"), ("amx-int8", "amx-tile")),
    ("aarch64", ("-march=armv8.2-a+dotprod+i8mm",), ("dotprod", "i8mm")),
    ("aarch64", ("-march=armv8-a",), ()),
    ("none", (), ()),
])
def test_flags_name_extensions(machine: str, flags: tuple[str, ...], features: tuple[str, ...]) -> None:
    assert features_of(isa(machine, *flags)) == features


@pytest.mark.parametrize(("machine", "flags", "listed", "there"), [
    ("x86_64", ("-mavx2",), {"avx", "avx2"}, True),
    ("x86_64", ("-mavx2", "-mfma"), {"avx2"}, False),
    ("x86_64", ("-mavx512vnni",), {"avx512_vnni"}, True),          # as Linux spells it
    ("x86_64", ("-mamx-int8",), {"AMX_INT8"}, True),
    ("aarch64", ("-march=armv8.2-a+dotprod",), {"asimddp"}, True),
    ("aarch64", ("-march=armv8.2-a+i8mm",), {"asimddp"}, False),
    ("none", (), set(), True),
])
def test_what_a_processor_lists(machine: str, flags: tuple[str, ...], listed: set[str], there: bool) -> None:
    assert is_listed(isa(machine, *flags), listed) is there
