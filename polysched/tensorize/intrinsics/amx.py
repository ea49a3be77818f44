"""AMX: 16x16 accumulator tiles; int8 with 64 products per element, bf16 with 32."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register

PERMISSION = """
    /* Linux hands tile data out on request: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) */
    if (syscall(SYS_arch_prctl, 0x1023, 18) != 0) {refuse};"""
CONFIGURE = """{
    struct { unsigned char palette, start, reserved[14]; unsigned short bytes[16]; unsigned char rows[16]; }
        shape = {.palette = 1};
    for (int t = 0; t < 8; t++) { shape.bytes[t] = 64; shape.rows[t] = 16; }
    asm volatile("" ::: "memory");
    _tile_loadconfig(&shape);
}"""
RELEASE = "_tile_release();"
MANUAL = "Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2"
INT8 = Isa(name="amx_int8", machine="x86_64", headers=("immintrin.h", "unistd.h", "sys/syscall.h"),
           flags=("-mamx-tile", "-mamx-int8"), compilers=("x86_64-linux-gnu-gcc",), prepare=PERMISSION, manual=MANUAL)
BF16 = Isa(name="amx_bf16", machine="x86_64", headers=("immintrin.h", "unistd.h", "sys/syscall.h"),
           flags=("-mamx-tile", "-mamx-bf16"), compilers=("x86_64-linux-gnu-gcc",), prepare=PERMISSION, manual=MANUAL)
# gcc's _tile_loadconfig and _tile_loadd do not say that they read memory: without the barrier, earlier stores vanish.
TILE = Register(c_type="", load='asm volatile("" ::: "memory"); _tile_loadd({register}, {pointer}, {stride});',
                store="_tile_stored({register}, {pointer}, {stride});",
                zero="_tile_zero({register});", count=8)
OPERANDS = tuple(Operand(name=n, register=TILE, mode=LoadMode.TILE, stride="rows of 64 bytes, any distance")
                 for n in "CAB")
COST = Cost(issue_cycles=16, latency_cycles=52, source="Intel Optimization Reference Manual, section 20.5")


def _int8(name: str, left: str, right: str) -> Intrinsic:
    return Intrinsic(
        name=name, isa=INT8, cost=COST, section=f"vol. 2D, {name.upper()}", operands=OPERANDS, configure=CONFIGURE,
        finish=RELEASE,
        semantics=f"""
void {name}(int32_t C[16][16], const {left} A[16][16][4], const {right} B[16][16][4]) {{
    for (int m = 0; m < 16; m++)
        for (int k = 0; k < 16; k++)
            for (int n = 0; n < 16; n++)
                for (int b = 0; b < 4; b++)
                    C[m][n] += A[m][k][b] * B[k][n][b];
}}""",
        template=f"_tile_{name.removeprefix('t')}({{C}}, {{A}}, {{B}});")


TDPBUSD = _int8("tdpbusd", "uint8_t", "int8_t")
TDPBSSD = _int8("tdpbssd", "int8_t", "int8_t")
TDPBSUD = _int8("tdpbsud", "int8_t", "uint8_t")
TDPBUUD = _int8("tdpbuud", "uint8_t", "uint8_t")

TDPBF16PS = Intrinsic(
    name="tdpbf16ps", isa=BF16, cost=COST, section="vol. 2D, TDPBF16PS", operands=OPERANDS, configure=CONFIGURE,
    finish=RELEASE,
    semantics="""
void tdpbf16ps(float C[16][16], const bf16 A[16][16][2], const bf16 B[16][16][2]) {
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++) {
            float t[2] = {0};
            for (int k = 0; k < 16; k++)
                for (int b = 0; b < 2; b++)
                    t[b] = fma_flush(bf16_to_f32(A[m][k][b]), bf16_to_f32(B[k][n][b]), t[b]);
            C[m][n] = add_flush(C[m][n], add_flush(t[0], t[1]));
        }
}""",
    template="_tile_dpbf16ps({C}, {A}, {B});")

ALL = (TDPBUSD, TDPBSSD, TDPBSUD, TDPBUUD, TDPBF16PS)
