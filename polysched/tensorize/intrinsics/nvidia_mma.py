"""NVIDIA tensor cores: WMMA 16x16x16 and MMA m16n8k16 (k8 for tf32), per warp.

The order and rounding of the inner additions are not documented (PTX ISA, mma: "accumulation order is unspecified");
the text adds in increasing k with one rounding each, and a match reports the reassociation like any other.
"""

from polysched.tensorize.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register

ISA = Isa(name="nvidia_mma", machine="cuda", headers=("mma.h",), flags=("-arch=sm_80",),
          compilers=("nvcc",), manual="PTX ISA 8.x")
FRAGMENT = Register(c_type="fragment", load="nvcuda::wmma::load_matrix_sync({register}, {pointer}, {stride});",
                    store="nvcuda::wmma::store_matrix_sync({pointer}, {register}, {stride}, mem_row_major);",
                    zero="nvcuda::wmma::fill_fragment({register}, 0);", count=8)
OPERANDS = tuple(Operand(name=n, register=FRAGMENT, mode=LoadMode.TILE, alignment_bytes=32,
                         stride="leading dimension a multiple of 16 bytes") for n in "CAB")
_TYPES = {"": ("f16", "float"), "_bf16": ("bf16", "float"), "_tf32": ("float", "float"),
          "_s8": ("int8_t", "int32_t"), "_u8": ("uint8_t", "int32_t")}
_VALUE = {"f16": "f16_to_f32({})", "bf16": "bf16_to_f32({})", "float": "f32_to_tf32({})"}
_PTX = {"": "f32.f16.f16.f32", "_bf16": "f32.bf16.bf16.f32", "_tf32": "f32.tf32.tf32.f32",
        "_s8": "s32.s8.s8.s32", "_u8": "s32.u8.u8.s32"}


def _unit(m: int, n: int, k: int, kind: str) -> Intrinsic:
    """One shape and element type; `kind` is a suffix of the name."""
    element, accumulator = _TYPES[kind]
    name = f"mma_{m}x{n}x{k}{kind}"
    a, b = (_VALUE.get(element, "{}").format(x) for x in ("A[i][k]", "B[k][j]"))
    update = f"C[i][j] = fma_f32({a}, {b}, C[i][j]);" if accumulator == "float" else f"C[i][j] += {a} * {b};"
    call = ("nvcuda::wmma::mma_sync({C}, {A}, {B}, {C});" if n == 16
            else f'asm volatile("mma.sync.aligned.m{m}n{n}k{k}.row.col.{_PTX[kind]} {{C}}, {{A}}, {{B}}, {{C}};");')
    return Intrinsic(
        name=name, isa=ISA, operands=OPERANDS, template=call,
        section="9.7.14, Warp Level Matrix Instructions",
        cost=Cost(issue_cycles=m * n * k / 512, latency_cycles=33, source="Sun et al., TPDS 2023 (A100), HMMA.16816"),
        semantics=f"""
void {name}({accumulator} C[{m}][{n}], const {element} A[{m}][{k}], const {element} B[{k}][{n}]) {{
    for (int i = 0; i < {m}; i++)
        for (int j = 0; j < {n}; j++)
            for (int k = 0; k < {k}; k++)
                {update}
}}""")


MMA_16X16X16 = _unit(16, 16, 16, "")
MMA_16X16X16_BF16 = _unit(16, 16, 16, "_bf16")
MMA_16X16X8_TF32 = _unit(16, 16, 8, "_tf32")
MMA_16X16X16_S8 = _unit(16, 16, 16, "_s8")
MMA_16X16X16_U8 = _unit(16, 16, 16, "_u8")
MMA_16X8X16 = _unit(16, 8, 16, "")
MMA_16X8X16_BF16 = _unit(16, 8, 16, "_bf16")
MMA_16X8X8_TF32 = _unit(16, 8, 8, "_tf32")
MMA_16X8X16_S8 = _unit(16, 8, 16, "_s8")
MMA_16X8X16_U8 = _unit(16, 8, 16, "_u8")

ALL = (MMA_16X16X16, MMA_16X16X16_BF16, MMA_16X16X8_TF32, MMA_16X16X16_S8, MMA_16X16X16_U8,
       MMA_16X8X16, MMA_16X8X16_BF16, MMA_16X8X8_TF32, MMA_16X8X16_S8, MMA_16X8X16_U8)
