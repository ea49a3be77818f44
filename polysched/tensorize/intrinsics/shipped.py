"""Every described instruction: the one visible place where they are listed."""

from polysched.tensorize.description.intrinsic import Intrinsic
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

SHIPPED: tuple[Intrinsic, ...] = tuple(
    intrinsic
    for file in (avx2, avx2_integer, avx512, avx512_vnni, avx_vnni, avx512_bf16, amx, arm_dotprod, arm_i8mm, arm_bf16,
                 arm_sve, riscv_v, x86_psadbw, nvidia_mma, gemmini, accelerators, cblas, avx2_elementwise,
                 avx512_elementwise, arm_elementwise)
    for intrinsic in file.ALL)
TEXTS: frozenset[str] = frozenset(i.semantics for i in SHIPPED)
"""Their texts, whose readings the tests compare; others are compared when they are first used."""
