"""A product by WMMA as CUDA: only its loads and stores know which lane holds what, so results pass shared memory.

Source: PTX ISA, 9.7.14.4, "Warp-level Matrix Instructions using wmma".
"""

from __future__ import annotations

from typing import ClassVar

from polysched.emit_gpu.tensor_cores.loops import TensorLoops
from polysched.emit_gpu.tensor_cores.text import WORD, TensorPrinter, by_asm, function_name, indented, unrolled
from polysched.gpu.limits import LIMITS
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.nvidia_mma import COLUMN, ROW, WMMA_ALIGNMENT, WMMA_BY_NAME, WMMA_RESULTS

WAIT = "__syncwarp();"


def functions_text(intrinsic: Intrinsic) -> str:
    """The functions of an instruction: by the text of its description, or by a header in the place of NVIDIA's.

    The right operand has its columns in rows of shared memory.
    """
    name, shape = function_name(intrinsic), intrinsic.name.removeprefix("mma_")
    text = WMMA_BY_NAME[intrinsic.name]
    sums = "float" if intrinsic.output.dtype == FLOAT32 else "int"
    loads = [by_asm(f"{name}_load_{x}", f"{element} *fragment, const void *from, int stride",
                    text.load(x, "fragment", "from", "stride", layout),
                    f"wmma_{shape}::load_{x}(fragment, from, stride);")
             for x, element, layout in (("a", "unsigned", ROW), ("b", "unsigned", COLUMN), ("c", sums, ROW))]
    return "\n".join([
        *loads, by_asm(f"{name}_store", f"const {sums} *fragment, void *to, int stride",
                       text.store("fragment", "to", "stride"), f"wmma_{shape}::store(fragment, to, stride);"),
        by_asm(name, f"{sums} *c, const unsigned *a, const unsigned *b", text.product("c", "a", "b", COLUMN),
               f"wmma_{shape}::product(c, a, b);")])


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadedTensorPrinter(TensorPrinter):
    """Prints what a block computes by WMMA."""

    sum_registers: ClassVar[int] = WMMA_RESULTS

    @staticmethod
    def functions(intrinsic: Intrinsic) -> str:
        """Those of an instruction in the program of the device."""
        return functions_text(intrinsic)

    def declared(self, loops: TensorLoops) -> list[str]:
        """The tiles, and rows of results for each warp, where loads and stores of fragments may begin."""
        product = loops.product
        warps, words = product.warps[0] * product.warps[1], product.piece_bytes // WORD
        lines = [*super().declared(loops), f"__shared__ unsigned {self._pieces}[{warps}][{product.rows}][{words}];"]
        return [line.replace("__shared__", f"__shared__ __align__({WMMA_ALIGNMENT})", 1) for line in lines]

    def lane_row(self, lane: str) -> str:
        """Nothing: all lanes have the rows of their warp."""
        return ""

    @property
    def _pieces(self) -> str:
        return self.names.taken.fresh("pieces")

    def products(self, loops: TensorLoops, counts: tuple[int, int]) -> list[str]:
        """The tile's steps, those of an instruction at a time."""
        product, fresh = loops.product, self.names.taken.fresh
        bytes_of = self.body.scop.array(loops.left.operand.array).dtype.bytes
        words, stride = product.sums * bytes_of // WORD, product.row_bytes // bytes_of
        first, down, across, left, right = map(fresh, ("first", "down", "across", "left", "right"))
        registers, name = WMMA_BY_NAME[product.intrinsic.name].registers, function_name(product.intrinsic)
        return [
            f"for (int {first} = 0; {first} < {self.row_bytes(loops) // WORD}; {first} += {words}) {{", *indented([
                f"unsigned {left}[{counts[0]}][{registers}], {right}[{counts[1]}][{registers}];",
                *unrolled([(down, counts[0])],
                          f"{name}_load_a({left}[{down}], &{loops.left.shared}[{self.row} + {down} * "
                          f"{product.rows}][{first}], {stride});"),
                *unrolled([(across, counts[1])],
                          f"{name}_load_b({right}[{across}], &{loops.right.shared}[{self.column} + {across} * "
                          f"{product.columns}][{first}], {stride});"),
                *unrolled([(down, counts[0]), (across, counts[1])],
                          f"{name}({self.sums}[{down}][{across}], {left}[{down}], {right}[{across}]);")]), "}"]

    def over_sums(self, loops: TensorLoops, counts: tuple[int, int], *, load: bool) -> list[str]:
        """Fragments of results from memory or to it, by way of the rows of the warp."""
        product, fresh = loops.product, self.names.taken.fresh
        down, across, part, at, lane, warp = map(fresh, ("down", "across", "part", "at0", "lane", "warp"))
        x, y = self.places.coordinates[:2]
        first_x, first_y = self.places.firsts[:2]
        name, c_type = function_name(product.intrinsic), self.sum_type(loops)
        piece, fragment = f"{self._pieces}[{warp}]", f"{self.sums}[{down}][{across}]"
        stride = product.piece_bytes // self.body.scop.array(loops.result.operand.array).dtype.bytes
        own = f"(({c_type} *){piece}[{at} / {product.columns}])[{at} % {product.columns}]"
        there = " && ".join(self.there(k, loops) for k in range(len(loops.ranges)))
        element = self.element(loops.result)
        moved = f"{own} = {there} ? {element} : 0;" if load else f"if ({there}) {element} = {own};"
        each = unrolled([(part, product.rows * product.columns // LIMITS.warp_items)],
                        f"const int {at} = {part} * {LIMITS.warp_items} + {lane};",
                        f"const long {y} = {first_y} + {self.row} + {down} * {product.rows} + "
                        f"{at} / {product.columns};",
                        f"const long {x} = {first_x} + {self.column} + {across} * {product.columns} + "
                        f"{at} % {product.columns};", moved)
        whole = [*each, WAIT, f"{name}_load_c({fragment}, {piece}, {stride});", WAIT] if load else [
            f"{name}_store({fragment}, {piece}, {stride});", WAIT, *each, WAIT]
        return unrolled([(down, counts[0]), (across, counts[1])], *whole)
