"""Products by WMMA as CUDA: equal to the original whatever lanes hold, and compiled by NVRTC."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from polysched.emit_gpu.nvrtc import library, resources
from polysched.emit_gpu.tensor_cores.loaded_text import functions_text
from polysched.tensorize import find_intrinsic
from tests.emit_gpu.emitted import largest_difference, transformed, verified
from tests.emit_gpu.tensor_cores.compared import SIZES, compared, cuda_by, products_by, relative
from tests.gpu.products import BRAINS, FLOATS, HALVES, INTEGERS, PLAIN, SEVERAL
from tests.tiers import and_campaign

asked, source = partial(products_by, "wmma"), partial(cuda_by, "wmma")


@pytest.mark.parametrize(("name", "order"), and_campaign([("batch", "1")], [
    (name, order) for name in INTEGERS for order in "01"]))
def test_integers_are_equal_in_either_order_and_layout(name: str, order: str, tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", order)
    text, sizes = INTEGERS[name]
    (tmp_path / "f.c").write_text(text)
    assert "polysched::wmma_16x16x16" in transformed(tmp_path / "f.c", asked("int8")).text
    assert largest_difference(verified(tmp_path / "f.c", sizes, asked("int8"))) == 0


@pytest.mark.parametrize(("block", "points"), and_campaign(
    [((64, 2), (1, 16))], [((32, 4), (4, 8)), ((32, 4), (1, 8))]))
def test_other_blocks(block: tuple[int, ...], points: tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    assert largest_difference(verified(tmp_path / "f.c", SIZES, asked("int8", block=block, points=points))) == 0


@pytest.mark.parametrize(("n", "m", "q"), and_campaign(
    [(1, 1, 1)], [(64, 64, 64), (129, 2, 3), (5, 70, 64), (65, 1, 63), (16, 17, 15)]))
def test_sizes_around_those_of_a_block(n: int, m: int, q: int, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    assert largest_difference(verified(tmp_path / "f.c", {"n": n, "m": m, "q": q}, asked("int8"))) == 0


@pytest.mark.parametrize(("text", "kind", "least", "most"), and_campaign(
    [(HALVES, "float16", 0, 1e-4)], [(FLOATS, "tf32", 1e-6, 0.1)]))
def test_floats_are_summed_in_another_order(text: str, kind: str, least: float, most: float, tmp_path: Path) -> None:
    """There is no bfloat16 in the C of gcc 12."""
    (tmp_path / "f.c").write_text(text)
    assert "polysched::wmma_16x16x" in transformed(tmp_path / "f.c", asked(kind)).text
    assert least <= relative(compared(tmp_path / "f.c", asked(kind))) < most


@pytest.mark.parametrize("which", and_campaign([2], [0, 1, 3]))
def test_each_wait_of_a_warp_is_needed_in_one_of_two_orders(which: int, tmp_path: Path,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.c").write_text(PLAIN)
    wait = "__syncwarp();"
    parts = transformed(tmp_path / "f.c", asked("int8")).text.split(wait)
    assert len(parts) == 5
    before = parts[which][-150:] + wait + parts[which + 1][:60]
    found = []
    for order in "01":
        monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", order)
        found.append(relative(compared(tmp_path / "f.c", asked("int8"), before, before.replace(wait, ";"))))
    assert max(found) > 0


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_nvrtc_compiles_all_kinds(architecture: str) -> None:
    if library() is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc-cu12")
    for kind, text in (("int8", PLAIN), ("float16", HALVES), ("bfloat16", BRAINS), ("tf32", FLOATS)):
        found = resources(source(text, kind).program, architecture)
        assert any(own.shared == 2 * 64 * 96 + 8 * 16 * 96 for own in found)
        assert all(own.registers <= 128 and not own.spilled for own in found)


def test_one_set_of_functions_for_each_instruction() -> None:
    program = source(SEVERAL, "int8").program
    for kind in ("s8", "u8"):
        assert program.count(f"void polysched_mma_16x16x16_{kind}_load_b(") == 1


def test_the_right_operand_has_its_columns_in_rows() -> None:
    text = functions_text(find_intrinsic("mma_16x16x8_tf32"))
    for part in ("wmma.load.a.sync.aligned.row.m16n16k8.tf32", "wmma.load.b.sync.aligned.col.m16n16k8.tf32",
                 "wmma.load.c.sync.aligned.row.m16n16k8.f32", "wmma.store.d.sync.aligned.row.m16n16k8.f32",
                 "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32"):
        assert part in text
