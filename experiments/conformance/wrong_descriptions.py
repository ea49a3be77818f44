"""Two descriptions that many believe, and that the comparison with the real instruction refutes.

    polysched bench conformance --intrinsics experiments/conformance/wrong_descriptions.py --results wrong.jsonl
"""

from __future__ import annotations

from dataclasses import replace

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics import avx512_bf16
from polysched.tensorize.intrinsics.x86_registers import YMM, YMM_REPEAT_32

# VDPBF16PS adds the odd element first
NATURAL_ORDER = replace(
    avx512_bf16.VDPBF16PS, name="vdpbf16ps_natural_order", semantics="""
void vdpbf16ps_natural_order(float C[16], const bf16 A[2], const bf16 B[16][2]) {
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 2; k++)
            C[i] = fma_flush(bf16_to_f32(A[k]), bf16_to_f32(B[i][k]), C[i]);
}""")

# VPMADDUBSW saturates the sum of two products to 16 bits
NO_SATURATION = Intrinsic(
    name="pmaddubsw_pmaddwd", section="vol. 2B, PMADDUBSW and PMADDWD", cost=Cost(issue_cycles=1, latency_cycles=10),
    isa=Isa(name="avx2", machine="x86_64", manual="Intel SDM", headers=("immintrin.h",), flags=("-mavx2",)),
    semantics="""
void pmaddubsw_pmaddwd(int32_t C[8], const uint8_t A[4], const int8_t B[8][4]) {
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[k] * B[i][k];
}""",
    operands=(Operand(name="C", register=YMM), Operand(name="A", register=YMM_REPEAT_32, mode=LoadMode.BROADCAST),
              Operand(name="B", register=YMM, mode=LoadMode.PACKED)),
    template="{C} = _mm256_add_epi32({C}, _mm256_madd_epi16(_mm256_maddubs_epi16({A}, {B}), _mm256_set1_epi16(1)));")
