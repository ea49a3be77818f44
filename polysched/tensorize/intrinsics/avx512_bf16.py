"""AVX-512 BF16: sixteen f32 lanes, each plus two bf16 products; the odd element is added first."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics.x86_registers import ZMM, ZMM_F32, ZMM_REPEAT_32

ISA = Isa(name="avx512_bf16", machine="x86_64", headers=("immintrin.h",), flags=("-mavx512f", "-mavx512bf16"),
          compilers=("x86_64-linux-gnu-gcc",),
          manual="Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2")

VDPBF16PS = Intrinsic(
    name="vdpbf16ps", isa=ISA, section="vol. 2C, VDPBF16PS",
    cost=Cost(issue_cycles=1, latency_cycles=8, source="uops.info, VDPBF16PS (ZMM)"),
    semantics="""
void vdpbf16ps(float C[16], const bf16 A[2], const bf16 B[16][2]) {
    for (int i = 0; i < 16; i++)
        for (int k = 1; k >= 0; k--)
            C[i] = fma_flush(bf16_to_f32(A[k]), bf16_to_f32(B[i][k]), C[i]);
}""",
    operands=(Operand(name="C", register=ZMM_F32),
              Operand(name="A", register=ZMM_REPEAT_32, mode=LoadMode.BROADCAST),
              Operand(name="B", register=ZMM, mode=LoadMode.PACKED)),
    template="{C} = _mm512_dpbf16_ps({C}, (__m512bh)({A}), (__m512bh)({B}));")

ALL = (VDPBF16PS,)
