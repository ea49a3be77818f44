"""Programs run on an OpenCL device and are equal to the original bit for bit."""

from pathlib import Path

import pytest

from tests.emit_gpu.emitted import EXACT, emitted, largest_difference, needs_device, verified
from tests.gpu.mapped import PRODUCT, SCALE, STENCIL, WAVEFRONT

KERNELS = Path(__file__).parents[1] / "kernels"


@pytest.fixture(autouse=True)
def device(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path_factory.mktemp("pocl")))


@pytest.mark.parametrize("text", [SCALE, PRODUCT, STENCIL, WAVEFRONT])
@pytest.mark.parametrize("n", [1, 33])
def test_small_programs(text: str, n: int, tmp_path: Path) -> None:
    needs_device(tmp_path)
    (tmp_path / "f.c").write_text(text)
    sizes = {"n": n, "t": 3} if text == STENCIL else {"n": n}
    if n == 1 and text in (STENCIL, WAVEFRONT):
        sizes["n"] = 5
    assert largest_difference(verified(tmp_path / "f.c", sizes)) == 0


@pytest.mark.parametrize("name", ["gramschmidt", "nussinov", "row_statistics", "smooth_border"])
def test_kernels(name: str, tmp_path: Path) -> None:
    needs_device(tmp_path)
    path = KERNELS / f"{name}.c"
    from polysched.scop import from_c_file
    sizes = {p.spelling: 19 + k for k, p in enumerate(from_c_file(str(path)).parameters)}
    assert largest_difference(verified(path, sizes)) == 0


def test_two_regions_share_the_top_of_a_file(tmp_path: Path) -> None:
    needs_device(tmp_path)
    body = "  for (int i = 0; i < n; i++)\n    A[i] = A[i] * 2 + i;\n"
    text = (f"void f(int n, double A[n]) {{\n#pragma scop\n{body}#pragma endscop\n#pragma scop\n{body}"
            "#pragma endscop\n}\n")
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", {"n": 40})) == 0


def test_names_that_are_words_of_the_device(tmp_path: Path) -> None:
    needs_device(tmp_path)
    text = ("void f(int global, double kernel[global], double half, unsigned char local[global]) {\n#pragma scop\n"
            "  for (int uint = 0; uint < global; uint++) {\n    kernel[uint] = kernel[uint] * half;\n"
            "    local[uint] += 250;\n  }\n#pragma endscop\n}\n")
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", {"global": 40})) == 0


def test_a_source_says_what_it_is() -> None:
    assert repr(emitted(PRODUCT)).startswith("<DeviceSource of f: 1 kernels, ")
