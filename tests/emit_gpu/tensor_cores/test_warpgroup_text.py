"""Products by WGMMA as CUDA: equal to the original, late where they are waited for late, and compiled by NVRTC."""

from __future__ import annotations

import re
import subprocess
from functools import partial
from pathlib import Path

import pytest

from polysched.emit_gpu.nvrtc import library, resources
from polysched.emit_gpu.tensor_cores.warpgroup_text import warpgroup_functions_text
from polysched.errors import CompileError
from polysched.gpu.wgmma import WGMMA_BY_KIND
from polysched.target import find_compiler
from tests.emit_gpu.emitted import largest_difference, transformed, verified
from tests.emit_gpu.tensor_cores.compared import SIZES, compared, cuda_by, products_by, relative
from tests.gpu.products import BRAINS, FLOATS, HALVES, INTEGERS, PLAIN, SEVERAL
from tests.tiers import and_campaign

asked, source = partial(products_by, "wgmma"), partial(cuda_by, "wgmma")


@pytest.mark.parametrize(("name", "order"), and_campaign([("batch", "1")], [
    (name, order) for name in INTEGERS for order in "01" if (name, order) != ("batch", "1")]))
def test_integers_are_equal_in_either_order_of_threads(name: str, order: str, tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", order)
    text, sizes = INTEGERS[name]
    (tmp_path / "f.c").write_text(text)
    assert "polysched::wgmma_64x8x32" in transformed(tmp_path / "f.c", asked("int8")).text
    assert largest_difference(verified(tmp_path / "f.c", sizes, asked("int8"))) == 0


@pytest.mark.parametrize(("block", "points"), and_campaign(
    [((32, 4), (2, 16))], [((128, 1), (1, 64)), ((64, 4), (2, 16)), ((64, 4), (2, 32))]))
def test_other_blocks(block: tuple[int, ...], points: tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    own = asked("int8", block=block, points=points)
    assert "polysched::wgmma_64x8x32" in transformed(tmp_path / "f.c", own).text
    assert largest_difference(verified(tmp_path / "f.c", SIZES, own)) == 0


@pytest.mark.parametrize(("block", "points"), [((32, 2), (2, 32)), ((32, 4), (1, 16)), ((32, 4), (2, 8))])
def test_a_block_that_is_not_whole_groups_computes_without(block: tuple[int, ...], points: tuple[int, ...],
                                                           tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    assert "polysched::wgmma" not in transformed(tmp_path / "f.c", asked("int8", block=block, points=points)).text


@pytest.mark.parametrize(("n", "m", "q"), and_campaign(
    [(1, 1, 1)], [(128, 128, 64), (129, 2, 3), (5, 130, 64), (65, 1, 63), (200, 140, 65)]))
def test_sizes_around_those_of_a_block(n: int, m: int, q: int, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    assert largest_difference(verified(tmp_path / "f.c", {"n": n, "m": m, "q": q}, asked("int8"))) == 0


@pytest.mark.parametrize(("text", "kind", "most"), and_campaign(
    [(HALVES, "float16", 1e-3)], [(BRAINS, "bfloat16", 1e-2)]))
def test_floats_are_summed_in_another_order(text: str, kind: str, most: float, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", SIZES, asked(kind))) < most


def test_tf32_loses_bits(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(FLOATS)
    assert 1e-6 < relative(compared(tmp_path / "f.c", asked("tf32"))) < 0.1


@pytest.mark.parametrize(("earlier", "later"), and_campaign(
    [("s8_wait();", "s8_begin();")],   # nothing is waited for
    [(", 2048, 2048)", ", 1024, 2048)"), (", 2048, 2048)", ", 2048, 4096)"),   # the next core along the sum
     ("a, b, next_a, next_b, 128)", "a, b, next_a, next_b, 64)"),              # along the rows
     ("% 4 * 16 +", "% 4 * 8 +")]))                                            # the rows of a warp in its group
def test_another_layout_or_an_earlier_read_shows(earlier: str, later: str, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    assert relative(compared(tmp_path / "f.c", asked("int8"), earlier, later)) > 0


@pytest.mark.parametrize("barrier", and_campaign([2], [0, 1, 3]))
def test_each_barrier_is_needed_in_one_of_two_orders(barrier: int, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    pieces = transformed(tmp_path / "f.c", asked("int8")).text.split("__syncthreads();")
    assert len(pieces) == 5
    before = pieces[barrier][-60:] + "__syncthreads();" + pieces[barrier + 1][:60]
    after, found = before.replace("__syncthreads();", ";"), []
    for order in "01":
        monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", order)
        found.append(relative(compared(tmp_path / "f.c", asked("int8"), before, after)))
    assert max(found) > 0


def test_copies_are_shown_to_asynchronous_reads_before_the_barrier() -> None:
    text = source(PLAIN, "int8").program
    assert re.search(r"_shown\(\);\s+__syncthreads\(\);\s+#pragma unroll", text)


def test_a_descriptor_has_the_fields_of_the_manual(tmp_path: Path) -> None:
    """Bits 0 to 13: the place, 16 to 29: the next core along the sum, 32 to 45: along the rows; each over 16 bytes."""
    function = re.search(r"__device__ .*?_place\(.*?\n}", warpgroup_functions_text(WGMMA_BY_KIND["int8"][0]), re.DOTALL)
    assert function is not None
    name = re.search(r"(\w+_place)\(", function[0])
    assert name is not None
    (tmp_path / "f.c").write_text(
        "#include <stdio.h>\n#define __device__\n#define __forceinline__ static\n"
        f"#define __cvta_generic_to_shared(p) ((unsigned long long)(p))\n{function[0]}\n"
        f'int main(void) {{ printf("%llu", {name[1]}((const void *)0x12340, 2048)); }}\n')
    done = find_compiler(None).run(["-w", str(tmp_path / "f.c"), "-o", str(tmp_path / "f")], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = int(subprocess.run([tmp_path / "f"], capture_output=True, text=True, check=True).stdout)
    fields = [found >> first & (1 << bits) - 1 for first, bits in ((0, 14), (14, 2), (16, 14), (30, 2), (32, 14))]
    assert fields == [0x1234, 0, 2048 // 16, 0, 128 // 16]
    assert found >> 46 == 0   # no offset, no swizzling


@pytest.mark.parametrize(("text", "kind"), and_campaign([(HALVES, "float16")], [
    (PLAIN, "int8"), (SEVERAL, "int8"), (BRAINS, "bfloat16"), (FLOATS, "tf32")]))
def test_nvrtc_compiles_it(text: str, kind: str) -> None:
    if library() is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc-cu12")
    found = resources(source(text, kind).program, "sm_90a")
    assert any(own.shared == 2 * 128 * 64 for own in found)
    assert all(own.registers <= 255 and not own.spilled for own in found)


def test_other_architectures_have_no_such_instruction() -> None:
    if library() is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc-cu12")
    with pytest.raises(CompileError, match="wgmma"):
        resources(source(HALVES, "float16").program, "sm_80")
