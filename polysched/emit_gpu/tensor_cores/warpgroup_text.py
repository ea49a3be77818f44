"""A product by `wgmma` as CUDA: four warps multiply tiles where they lie in shared memory, and wait for the results.

Tiles are cores of 8 rows of 16 bytes: all rows of one core's width follow one another, then those of the next width.
Copies are made visible to the asynchronous reads before the barrier, and all products of a tile are waited for
before the barrier behind it.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": "Matrix Descriptor Format", "Shared Memory Matrix
Layout", "Register Fragments", and "Async Proxy".
"""

from __future__ import annotations

from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_gpu.dialect import device_type
from polysched.emit_gpu.tensor_cores.loops import TensorLoops, TensorMatrix
from polysched.emit_gpu.tensor_cores.text import WORD, TensorPrinter, by_asm, function_name, indented, unrolled
from polysched.gpu.wgmma import CORE_BYTES, CORE_ROWS, JOINED, WGMMA_BY_NAME
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32
from polysched.tensorize.description.intrinsic import Intrinsic


def warpgroup_functions_text(intrinsic: Intrinsic) -> str:
    """The functions of an instruction: by the text of its description, or by a header in the place of NVIDIA's."""
    name, sums = function_name(intrinsic), "float" if intrinsic.output.dtype == FLOAT32 else "int"
    own, device = WGMMA_BY_NAME[intrinsic.name], "__device__ __forceinline__"
    stride = CORE_ROWS * CORE_BYTES
    return "\n".join([
        "#ifndef POLYSCHED_MMA_ON_CPU",
        f"{device} unsigned long long {name}_place(const void *at, unsigned next)", "{",
        f"{INDENT}const unsigned long long place = __cvta_generic_to_shared(at);",
        f"{INDENT}return (place & 0x3ffff) >> 4 | (unsigned long long)(next >> 4) << 16 | {stride >> 4}ull << 32;", "}",
        "#endif",
        by_asm(f"{name}_shown", "", 'asm volatile("fence.proxy.async.shared::cta;" : : : "memory");'),
        by_asm(f"{name}_held", f"{sums} &c", f'asm volatile("" : "+{own.constraint}"(c) : : "memory");'),
        by_asm(f"{name}_begin", "", 'asm volatile("wgmma.fence.sync.aligned;" : : : "memory");'),
        by_asm(f"{name}_wait", "", 'asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned '
                                    '0;" : : : "memory");', "wgmma_wait();"),
        by_asm(name, f"{sums} *c, const void *a, const void *b, unsigned next_a, unsigned next_b",
               own.product("c", f"{name}_place(a, next_a)", f"{name}_place(b, next_b)", JOINED),
               f"{intrinsic.name}(c, a, b, next_a, next_b, {stride});")])


@dataclass(frozen=True, eq=False, kw_only=True)
class WarpgroupPrinter(TensorPrinter):
    """Prints what a block computes by `wgmma`."""

    @staticmethod
    def functions(intrinsic: Intrinsic) -> str:
        """Those of an instruction in the program of the device."""
        return warpgroup_functions_text(intrinsic)

    def declared(self, loops: TensorLoops) -> list[str]:
        """The tiles, one core's width behind the other."""
        widths = loops.product.row_bytes // CORE_BYTES
        return [f"__shared__ __align__({CORE_ROWS * CORE_BYTES}) unsigned {own.shared}[{widths}][{edge}]"
                f"[{CORE_BYTES // WORD}];"
                for own, edge in zip((loops.right, loops.left), self.launch.edges, strict=False)]

    def lane_row(self, lane: str) -> str:
        """The rows of a warp in those of its group, and of a lane in those."""
        return f" + {self.item} / 32 % 4 * 16 + {lane} / 4"

    def place(self, matrix: TensorMatrix, row: str, column: str) -> str:
        """An element of a tile."""
        dtype = self.body.scop.array(matrix.operand.array).dtype
        wide = CORE_BYTES // dtype.bytes
        return f"(({device_type(dtype)} *){matrix.shared}[{column} / {wide}][{row}])[{column} % {wide}]"

    def shown(self, loops: TensorLoops) -> list[str]:
        """What makes copies visible to the asynchronous reads."""
        return [f"{function_name(loops.product.intrinsic)}_shown();"]

    def products(self, loops: TensorLoops, counts: tuple[int, int]) -> list[str]:
        """The tile's steps: all products are under way together, then all are waited for."""
        product, fresh, name = loops.product, self.names.taken.fresh, function_name(loops.product.intrinsic)
        width, down, across, part = map(fresh, ("width", "down", "across", "part"))
        widths, together = product.row_bytes // CORE_BYTES, product.sums * self._bytes(loops) // CORE_BYTES
        lead_left, lead_right = (self.launch.edges[k] * CORE_BYTES for k in (1, 0))
        first = f"{self.item} / 128 / {product.warps[1]} * {counts[0] * product.rows}"
        held = unrolled([(down, counts[0]), (across, counts[1]), (part, self.sum_registers)],
                        f"{name}_held({self.sums}[{down}][{across}][{part}]);")
        return [
            *held, f"{name}_begin();",
            "#pragma unroll",
            f"for (int {width} = 0; {width} < {widths}; {width} += {together}) {{", *indented(unrolled(
                [(down, counts[0]), (across, counts[1] // JOINED)],
                f"{name}({self.sums}[{down}][{across} * {JOINED}], "
                f"{loops.left.shared}[{width}][{first} + {down} * {product.rows}], "
                f"{loops.right.shared}[{width}][{self.column} + {across} * {product.columns * JOINED}], "
                f"{lead_left}, {lead_right});")), "}",
            f"{name}_wait();", *held]

    def _bytes(self, loops: TensorLoops) -> int:
        return self.body.scop.array(loops.left.operand.array).dtype.bytes
