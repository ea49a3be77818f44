"""Programs run on an OpenCL device and are equal to the original bit for bit."""

from pathlib import Path

import pytest

from polysched.scop import from_c_file
from tests.emit_gpu.emitted import EXACT, OPTIMISED, emitted, largest_difference, needs_device, verified
from tests.emit_gpu.test_host_text import CORNER
from tests.gpu.mapped import PRODUCT, SCALE, STENCIL, WAVEFRONT
from tests.tiers import and_campaign

KERNELS = Path(__file__).parents[1] / "kernels"


@pytest.fixture(autouse=True)
def device(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path_factory.mktemp("pocl")))


SMALL = [(SCALE, {"n": 33}), (PRODUCT, {"n": 1}), (PRODUCT, {"n": 33}), (WAVEFRONT, {"n": 33})]


@pytest.mark.parametrize(("text", "sizes"), and_campaign([(STENCIL, {"n": 7, "t": 3})], SMALL))
def test_small_programs(text: str, sizes: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", OPTIMISED)
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", sizes)) == 0


@pytest.mark.parametrize("name", and_campaign(["gramschmidt"], ["nussinov", "row_statistics", "smooth_border"]))
def test_kernels(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", OPTIMISED)
    path = KERNELS / f"{name}.c"
    sizes = {p.spelling: 19 + k for k, p in enumerate(from_c_file(str(path)).parameters)}
    assert largest_difference(verified(path, sizes)) == 0


def test_two_regions_with_names_that_are_words_of_the_device(tmp_path: Path) -> None:
    needs_device()
    body = ("  for (int uint = 0; uint < global; uint++) {\n    kernel[uint] = kernel[uint] * half;\n"
            "    local[uint] += 250;\n  }\n")
    text = (f"void f(int global, double kernel[global], double half, unsigned char local[global]) {{\n#pragma scop\n"
            f"{body}#pragma endscop\n#pragma scop\n{body}#pragma endscop\n}}\n")
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", {"global": 40})) == 0


GAPS = ("void f(int n, double A[2 * n], double B[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
        "    A[2 * i] = B[i];\n#pragma endscop\n}\n")
ENDS = ("void f(int n, int m, double A[100], double B[n], double C[m]) {\n#pragma scop\n"
        "  for (int i = 0; i < n; i++)\n    A[i] = B[i];\n  for (int i = 0; i < m; i++)\n    A[i] += C[i];\n"
        "#pragma endscop\n}\n")
NAMES = ("void f(int n, int first_x, int A_1, double A[n][n + 1], double count_x, double float4[n]) {\n#pragma scop\n"
         "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < first_x; j++)\n"
         "      A[i][j] = A_1 + count_x + float4[i];\n#pragma endscop\n}\n")
FLAG = ("void f(int n, double A[n], _Bool flag) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
        "    A[i] = flag ? A[i] * 2 : 0;\n#pragma endscop\n}\n")
TRUTHS = ("void f(int n, _Bool A[n], double B[n], _Bool C[n], _Bool D[n]) {\n#pragma scop\n"
          "  for (int i = 0; i < n; i++) {\n    A[i] = B[i];\n    C[i] += A[i];\n    if (B[i] > 0.5)\n"
          "      D[i] ^= 3 * C[i];\n  }\n#pragma endscop\n}\n")


@pytest.mark.parametrize(("text", "sizes"), [
    (TRUTHS, {"n": 40}), (CORNER, {"n": 7, "m": 3}), (GAPS, {"n": 7}), (ENDS, {"n": 20, "m": 30}),
    (ENDS, {"n": 30, "m": 20}), (NAMES, {"n": 9, "first_x": 5}), (FLAG, {"n": 7})])
def test_gaps_ends_names_and_flags(text: str, sizes: dict[str, int], tmp_path: Path) -> None:
    needs_device()
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", sizes)) == 0


def test_a_source_says_what_it_is() -> None:
    assert repr(emitted(PRODUCT)).startswith("<DeviceSource of f: 1 kernels, ")
