"""Instructions that nobody asked for: where they change no bit, and nothing where there is nothing to gain."""

import re
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.pipeline import optimize, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import all_from_c_file, from_c_text
from polysched.target.processor import processor_flags
from polysched.tensorize import decision, probes
from polysched.tensorize.decision import may_gain
from polysched.tensorize.description.isa_features import features_of, is_listed
from polysched.tensorize.intrinsics import amx, arm_i8mm, avx512_vnni
from polysched.tensorize.options import DEFAULT

PRODUCT = """void product(int m, int n, int q, int C[m][n], const unsigned char A[m][q], const signed char B[q][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < q; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
KERNELS = sorted((Path(__file__).parents[1] / "kernels").glob("*.c"))
avx2 = pytest.mark.skipif("avx2" not in processor_flags(), reason="this machine does not list AVX2")


@avx2
def test_a_product_of_bytes_is_computed_by_an_instruction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without compiling anything to find out what executes here."""
    def compiles(*_: object, **__: object) -> None:
        raise AssertionError("something was compiled")

    monkeypatch.setattr(probes, "conformance", compiles)
    path = tmp_path / "product.c"
    path.write_text(PRODUCT)
    done = transform_file(path, PipelineOptions())
    assert done.regions[0].options.tensorize is not None
    assert done.regions[0].options.tensorize.intrinsic == DEFAULT
    assert any("instruction: S0" in line for line in done.regions[0].steps())
    assert "_fits((long)(m)" in done.text
    none = transform_file(path, PipelineOptions(tensorize=None, portable=False))
    assert "polysched_has_" not in none.text
    assert none.regions[0].instructions == ()


@pytest.mark.parametrize("options", [PipelineOptions(tile=32), PipelineOptions(scheduler="original"),
                                     PipelineOptions(vector_bits=0)])
def test_what_is_chosen_by_hand_stays(options: PipelineOptions) -> None:
    assert optimize(from_c_text(PRODUCT), options).instructions == ()


@pytest.mark.parametrize("types", [("double", "double", "double"), ("float", "short", "short"), ("int", "int", "int"),
                                   ("short", "short", "short")])
def test_programs_without_narrow_integers_are_not_looked_at(types: tuple[str, str, str],
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even their dependences are analysed again."""
    def looks(*_: object, **__: object) -> None:
        raise AssertionError("looked for an instruction")

    text = PRODUCT
    for old, new in zip(("int C", "unsigned char A", "signed char B"), types, strict=True):
        text = text.replace(old, f"{new} {old[-1]}")
    scop = from_c_text(text)
    assert not may_gain(scop)
    monkeypatch.setattr(decision, "match", looks)
    assert optimize(scop).instructions == ()


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_kernels_of_floats_are_not_looked_at(path: Path) -> None:
    assert not any(may_gain(scop) for scop in all_from_c_file(path))


@polysched.kernel
def product(C, A, B):  # type: ignore[no-untyped-def]
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0
            for k in range(K):
                C[i, j] += np.int32(A[i, k]) * np.int32(B[k, j])


@avx2
def test_a_kernel_is_compiled_once_for_all_sizes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path))
    chooser = np.random.default_rng(0)
    for m, n, q in ((40, 33, 18), (16, 32, 64), (100, 99, 98), (3, 2, 2)):
        a = chooser.integers(-128, 128, (m, q)).astype(np.int8)
        b = chooser.integers(-128, 128, (q, n)).astype(np.int8)
        c = np.full((m, n), 3, np.int32)
        product(c, a, b)
        np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
    assert any("instruction: " in step for step in product.optimized.steps())
    assert len([entry for entry in tmp_path.iterdir() if (entry / "kernel.so").is_file()]) == 1
    assert polysched.kernel(intrinsics="none")(product.function).options.tensorize is None


def test_the_command_line_says_what_it_takes(tmp_path: Path) -> None:
    from polysched.cli import main
    path, out = tmp_path / "product.c", tmp_path / "out.c"
    path.write_text(PRODUCT)
    assert main(["c2c", str(path), "-o", str(out), "--intrinsic", "none", "--no-portable"]) == 0
    assert "polysched_has_" not in out.read_text()
    assert main(["c2c", str(path), "-o", str(out)]) == 0
    assert bool(re.search(r"polysched_has_\w+\(\)", out.read_text())) == ("avx2" in processor_flags())


def test_what_is_listed_is_read_from_the_flags() -> None:
    assert features_of(avx512_vnni.ISA) == ("avx512f", "avx512vnni")
    assert is_listed(avx512_vnni.ISA, ["fpu", "avx512f", "avx512_vnni"])
    assert not is_listed(avx512_vnni.ISA, ["fpu", "avx512f", "avx_vnni"])
    assert is_listed(amx.INT8, ["amx_tile", "amx_int8"])
    assert is_listed(arm_i8mm.ISA, ["fp", "asimddp", "i8mm"])
    assert not is_listed(arm_i8mm.ISA, ["fp", "asimd", "i8mm"])


def test_a_probe_is_kept_for_later_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path))
    intrinsic = avx512_vnni.ALL[0]
    probes.executes_here.cache_clear()
    first = probes.executes_here(intrinsic)
    probes.executes_here.cache_clear()

    def again(_: object) -> bool:
        raise AssertionError("tried again")

    monkeypatch.setattr(probes, "_tried", again)
    assert probes.executes_here(intrinsic) == first
    (record,) = (tmp_path / "instructions").rglob(probes.FILE)
    record.write_text("broken")
    probes.executes_here.cache_clear()
    with pytest.raises(AssertionError, match="tried again"):
        probes.executes_here(intrinsic)
    probes.executes_here.cache_clear()
