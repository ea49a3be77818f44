"""NVIDIA tensor cores: WMMA 16x16x16 (16x16x8 for tf32) and MMA 16x8x16 (16x8x8), one instruction per warp.

The C is CUDA device code with PTX inside, which clang compiles without a CUDA toolkit.  The fragments of MMA are
documented (PTX ISA, 9.7.14.5): with g = lane / 4 and t = lane % 4, a lane holds rows g and g + 8 and the columns from
t times what fills 32 bits.  Those of WMMA are not: its loads and stores alone know them (9.7.14.4).

The order and rounding of the inner additions are not documented (PTX ISA, mma: "accumulation order is unspecified");
the text adds in increasing k with one rounding each, and a match reports the reassociation like any other.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register

ISA = Isa(name="nvidia_mma", machine="cuda", manual="PTX ISA 8.x", compilers=("clang-19", "clang"),
          flags=("-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib"),
          qualifier="__attribute__((device))")
_TYPES = {"": ("f16", "float"), "_bf16": ("bf16", "float"), "_tf32": ("float", "float"),
          "_s8": ("int8_t", "int32_t"), "_u8": ("uint8_t", "int32_t")}
_VALUE = {"f16": "f16_to_f32({})", "bf16": "bf16_to_f32({})", "float": "f32_to_tf32({})"}
_BYTES = {"": 2, "_bf16": 2, "_tf32": 4, "_s8": 1, "_u8": 1}
_PTX = {"": "f32.f16.f16.f32", "_bf16": "f32.bf16.bf16.f32", "_tf32": "f32.tf32.tf32.f32",
        "_s8": "s32.s8.s8.s32", "_u8": "s32.u8.u8.s32"}

ROW, COLUMN = "row", "col"
"""Whether the rows or the columns of a matrix are consecutive in memory."""
WMMA_RESULTS = 8
"""Registers of a lane for 16 x 16 results."""
WMMA_ALIGNMENT = 32
"""Bytes of the largest fragment of a lane; rows in memory begin at a multiple of a fragment's size."""


@dataclass(frozen=True, kw_only=True)
class Wmma:
    """A shape and its types.

    Parameters
    ----------
    sums : what a product sums over; it has 16 rows and 16 columns.
    operands, results : types as PTX spells them.
    operand_bytes : of an element of an operand.
    registers : of a lane for an operand.
    """

    sums: int
    operands: str
    results: str
    operand_bytes: int
    registers: int

    @property
    def _shape(self) -> str:
        return f"m16n16k{self.sums}"

    @property
    def _constraint(self) -> str:
        """Of a result, in inline assembly."""
        return "f" if self.results == "f32" else "r"

    @property
    def operation(self) -> str:
        """What the names of types are in the product: of half precision only those of the sums."""
        return f"{self.results}.{self.results}" if self.operands == "f16" else (
            f"{self.results}.{self.operands}.{self.operands}.{self.results}")

    def load(self, matrix: str, fragment: str, pointer: str, stride: str, layout: str = ROW) -> str:
        """C that fills the array `fragment` of a matrix `a`, `b` or `c` from memory.

        Parameters
        ----------
        stride : C of the elements from one row, or column, to the next.
        """
        count, kind, of = (WMMA_RESULTS, self.results, self._constraint) if matrix == "c" else (
            self.registers, self.operands, "r")
        outputs = ", ".join(f'"={of}"({fragment}[{i}])' for i in range(count))
        return (f'asm volatile("wmma.load.{matrix}.sync.aligned.{layout}.{self._shape}.{kind} {{{_listed(0, count)}}}, '
                f'[%{count}], %{count + 1};" : {outputs} : "l"({pointer}), "r"((int)({stride})) : "memory");')

    def store(self, fragment: str, pointer: str, stride: str) -> str:
        """C that writes a fragment of results to memory, row by row."""
        inputs = ", ".join(f'"{self._constraint}"({fragment}[{i}])' for i in range(WMMA_RESULTS))
        return (f'asm volatile("wmma.store.d.sync.aligned.row.{self._shape}.{self.results} [%0], '
                f'{{{_listed(1, WMMA_RESULTS)}}}, %{WMMA_RESULTS + 1};" : : "l"({pointer}), {inputs}, '
                f'"r"((int)({stride})) : "memory");')

    def product(self, sums: str, left: str, right: str, right_layout: str = ROW) -> str:
        """C that adds the product of two fragments to one of results."""
        count = self.registers
        results, first, second = (_listed(at, own) for at, own in (
            (0, WMMA_RESULTS), (WMMA_RESULTS, count), (WMMA_RESULTS + count, count)))
        outputs = ", ".join(f'"+{self._constraint}"({sums}[{i}])' for i in range(WMMA_RESULTS))
        inputs = ", ".join(f'"r"({own}[{i}])' for own in (left, right) for i in range(count))
        return (f'asm volatile("wmma.mma.sync.aligned.row.{right_layout}.{self._shape}.{self.operation} {{{results}}}, '
                f'{{{first}}}, {{{second}}}, {{{results}}};" : {outputs} : {inputs});')


def _listed(first: int, count: int) -> str:
    """Numbers of operands of inline assembly, with commas."""
    return ", ".join(f"%{first + i}" for i in range(count))


WMMA_BY_NAME = {
    "mma_16x16x16": Wmma(sums=16, operands="f16", results="f32", operand_bytes=2, registers=8),
    "mma_16x16x16_bf16": Wmma(sums=16, operands="bf16", results="f32", operand_bytes=2, registers=4),
    "mma_16x16x8_tf32": Wmma(sums=8, operands="tf32", results="f32", operand_bytes=4, registers=4),
    "mma_16x16x16_s8": Wmma(sums=16, operands="s8", results="s32", operand_bytes=1, registers=2),
    "mma_16x16x16_u8": Wmma(sums=16, operands="u8", results="s32", operand_bytes=1, registers=2)}
"""By the name of the instruction."""


def _fragment(element: str, count: int, load: str, store: str = "") -> Register:
    return Register(c_type=f"struct {{ {element} v[{count}]; }}", load=load, store=store, count=8,
                    zero="{register} = {{}};" if store else "")


def _operands(result: Register, left: Register, right: Register) -> tuple[Operand, ...]:
    return tuple(Operand(name=n, register=r, mode=LoadMode.TILE, alignment_bytes=WMMA_ALIGNMENT,
                         stride=f"leading dimension a multiple of {WMMA_ALIGNMENT} bytes")
                 for n, r in zip("CAB", (result, left, right), strict=True))


def _wmma(name: str) -> tuple[tuple[Operand, ...], str]:
    """Fragments of WMMA: which lane holds what is up to the hardware."""
    own = WMMA_BY_NAME[name]
    element, held = "float" if own.results == "f32" else "int", "{register}.v"
    rows = f"({{stride}}) / {own.operand_bytes}"
    inputs = [_fragment("int", own.registers, own.load(x, held, "{pointer}", rows)) for x in "ab"]
    kept = _fragment(element, WMMA_RESULTS, own.load("c", held, "{pointer}", "({stride}) / 4"),
                     own.store(held, "{pointer}", "({stride}) / 4"))
    return _operands(kept, *inputs), own.product("{C}.v", "{A}.v", "{B}.v")


def _mma(k: int, kind: str) -> tuple[tuple[Operand, ...], str]:
    """Fragments of MMA: 32-bit registers of neighbouring k, gathered by each lane."""
    size, floats = _BYTES[kind], _TYPES[kind][1] == "float"
    together = 4 // size                        # elements in one register
    halves = k // (4 * together)                # registers along k
    lane = "int ps_g = __nvvm_read_ptx_sreg_laneid() / 4, ps_t = __nvvm_read_ptx_sreg_laneid() % 4;"
    word = "typedef int ps_word __attribute__((may_alias));"   # elements lie there as objects of their own type
    left = (f"{{ {lane} {word} for (int i = 0; i < {2 * halves}; i++) {{register}}.v[i] = *(const ps_word *)"
            f"((const char *)({{pointer}}) + (ps_g + 8 * (i % 2)) * ({{stride}}) + 4 * ps_t + 16 * (i / 2)); }}")
    byte = "((unsigned char *)&{register}.v[i])"
    right = (f"{{ {lane} for (int i = 0; i < {halves}; i++) for (int j = 0; j < {together}; j++) "
             f"for (int b = 0; b < {size}; b++) {byte}[j * {size} + b] = ((const unsigned char *)({{pointer}}))"
             f"[({together} * ps_t + j + {4 * together} * i) * ({{stride}}) + ps_g * {size} + b]; }}")
    element = "float" if floats else "int"
    at = "((char *)({pointer}) + (ps_g + 8 * (i / 2)) * ({stride}) + 8 * ps_t + 4 * (i % 2))"
    kept = _fragment(element, 4,
                     f"{{ {lane} for (int i = 0; i < 4; i++) {{register}}.v[i] = *(const {element} *){at}; }}",
                     f"{{ {lane} for (int i = 0; i < 4; i++) *({element} *){at} = {{register}}.v[i]; }}")
    sums = ", ".join(f'"+{"f" if floats else "r"}"({{C}}.v[{i}])' for i in range(4))
    inputs = ", ".join(f'"r"({{{x}}}.v[{i}])' for x, n in (("A", 2 * halves), ("B", halves)) for i in range(n))
    numbers = iter(range(4, 4 + 3 * halves))
    listed = [", ".join(f"%{next(numbers)}" for _ in range(n)) for n in (2 * halves, halves)]
    text = (f'asm volatile("mma.sync.aligned.m16n8k{k}.row.col.{_PTX[kind]} {{%0, %1, %2, %3}}, {{{listed[0]}}}, '
            f'{{{listed[1]}}}, {{%0, %1, %2, %3}};" : {sums} : {inputs});')
    return _operands(kept, _fragment("int", 2 * halves, left), _fragment("int", halves, right)), text


def _unit(m: int, n: int, k: int, kind: str) -> Intrinsic:
    """One shape and element type; `kind` is a suffix of the name."""
    element, accumulator = _TYPES[kind]
    name = f"mma_{m}x{n}x{k}{kind}"
    a, b = (_VALUE.get(element, "{}").format(x) for x in ("A[i][k]", "B[k][j]"))
    update = f"C[i][j] = fma_f32({a}, {b}, C[i][j]);" if accumulator == "float" else f"C[i][j] += {a} * {b};"
    operands, template = _wmma(name) if n == 16 else _mma(k, kind)
    return Intrinsic(
        name=name, isa=ISA, operands=operands, template=template,
        section="9.7.14, Warp Level Matrix Instructions",
        cost=Cost(issue_cycles=m * n * k / 512, latency_cycles=33, source="Sun et al., TPDS 2023 (A100), HMMA.16816"),
        semantics=f"""
void {name}({accumulator} C[{m}][{n}], const {element} A[{m}][{k}], const {element} B[{k}][{n}]) {{
    for (int i = 0; i < {m}; i++)
        for (int j = 0; j < {n}; j++)
            for (int k = 0; k < {k}; k++)
                {update}
}}""", any_order=True)


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

BY_KIND = {"int8": (MMA_16X8X16_S8, MMA_16X8X16_U8), "float16": (MMA_16X8X16,), "bfloat16": (MMA_16X8X16_BF16,),
           "tf32": (MMA_16X8X8_TF32,)}
"""MMA by the type of the operands: the fragments are documented."""
WMMA_BY_KIND = {"int8": (MMA_16X16X16_S8, MMA_16X16X16_U8), "float16": (MMA_16X16X16,),
                "bfloat16": (MMA_16X16X16_BF16,), "tf32": (MMA_16X16X8_TF32,)}
"""WMMA by the type of the operands."""

ALL = (MMA_16X16X16, MMA_16X16X16_BF16, MMA_16X16X8_TF32, MMA_16X16X16_S8, MMA_16X16X16_U8,
       MMA_16X8X16, MMA_16X8X16_BF16, MMA_16X8X8_TF32, MMA_16X8X16_S8, MMA_16X8X16_U8)
