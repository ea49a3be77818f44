"""Every described instruction: the one visible place where they are listed."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from functools import cache

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.kept_readings import keep, recall


@cache
def shipped() -> tuple[Intrinsic, ...]:
    """The instructions; their texts are read when somebody first asks, which takes as long as many imports."""
    known = recall("all")
    from polysched.tensorize.intrinsics import (
        accelerators,
        amx,
        arm_bf16,
        arm_dotprod,
        arm_elementwise,
        arm_i8mm,
        arm_sve,
        avx2,
        avx2_elementwise,
        avx2_integer,
        avx512,
        avx512_bf16,
        avx512_elementwise,
        avx512_vnni,
        avx_vnni,
        cblas,
        gemmini,
        nvidia_mma,
        riscv_v,
        x86_psadbw,
    )

    files = (avx2, avx2_integer, avx512, avx512_vnni, avx_vnni, avx512_bf16, amx, arm_dotprod, arm_i8mm, arm_bf16,
             arm_sve, riscv_v, x86_psadbw, nvidia_mma, gemmini, accelerators, cblas, avx2_elementwise,
             avx512_elementwise, arm_elementwise)
    return _kept_as("all", known, tuple(intrinsic for file in files for intrinsic in file.ALL))


@cache
def shipped_for_x86() -> tuple[Intrinsic, ...]:
    """Those of x86; reading the texts of other machines takes as long as reading these."""
    known = recall("x86")
    from polysched.tensorize.intrinsics import (
        amx,
        avx2,
        avx2_elementwise,
        avx2_integer,
        avx512,
        avx512_bf16,
        avx512_elementwise,
        avx512_vnni,
        avx_vnni,
        x86_psadbw,
    )

    files = (avx2, avx2_integer, avx512, avx512_vnni, avx_vnni, avx512_bf16, amx, x86_psadbw, avx2_elementwise,
             avx512_elementwise)
    return _kept_as("x86", known, tuple(intrinsic for file in files for intrinsic in file.ALL))


def _kept_as(name: str, known: bool, instructions: tuple[Intrinsic, ...]) -> tuple[Intrinsic, ...]:
    """The instructions; their readings are kept under a name unless they are `known`."""
    if not known:
        keep(name, {i.semantics: i.parsed for i in instructions})
    return instructions


def shipped_for(machine: str) -> tuple[Intrinsic, ...]:
    """The instructions of a kind of machine, in the order of `shipped`."""
    return shipped_for_x86() if machine == "x86_64" else tuple(i for i in shipped() if i.isa.machine == machine)


@cache
def shipped_texts() -> frozenset[str]:
    """Their texts, whose readings the tests compare; others are compared when they are first used."""
    return frozenset(i.semantics for i in shipped())


def is_shipped(text: str) -> bool:
    """Whether a text is that of a shipped instruction; those of this kind of machine are looked at first."""
    return text in _texts_for(platform.machine()) or text in shipped_texts()


@cache
def _texts_for(machine: str) -> frozenset[str]:
    return frozenset(i.semantics for i in shipped_for(machine))


class ShippedByName(Mapping[str, Intrinsic]):
    """The instructions by name, in the order of `shipped`."""

    def __getitem__(self, name: str) -> Intrinsic:
        return _by_name()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_by_name())

    def __len__(self) -> int:
        return len(_by_name())

    def __repr__(self) -> str:
        return f"{len(self)} instructions"


@cache
def _by_name() -> dict[str, Intrinsic]:
    return {intrinsic.name: intrinsic for intrinsic in shipped()}
