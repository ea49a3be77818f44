"""Programs run on an OpenCL device and are equal to the original bit for bit."""

from pathlib import Path

import pytest

from polysched.scop import from_c_file
from tests.emit_gpu.emitted import EXACT, emitted, largest_difference, needs_device, verified
from tests.gpu.mapped import PRODUCT, STENCIL

KERNELS = Path(__file__).parents[1] / "kernels"


@pytest.fixture(autouse=True)
def device(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path_factory.mktemp("pocl")))


@pytest.mark.parametrize(("text", "n"), [(STENCIL, 7)])
def test_small_programs(text: str, n: int, tmp_path: Path) -> None:
    needs_device(tmp_path)
    (tmp_path / "f.c").write_text(text)
    sizes = {"n": n, "t": 3} if text == STENCIL else {"n": n}
    assert largest_difference(verified(tmp_path / "f.c", sizes)) == 0


@pytest.mark.parametrize("name", ["gramschmidt"])
def test_kernels(name: str, tmp_path: Path) -> None:
    needs_device(tmp_path)
    path = KERNELS / f"{name}.c"
    sizes = {p.spelling: 19 + k for k, p in enumerate(from_c_file(str(path)).parameters)}
    assert largest_difference(verified(path, sizes)) == 0


def test_two_regions_with_names_that_are_words_of_the_device(tmp_path: Path) -> None:
    needs_device(tmp_path)
    body = ("  for (int uint = 0; uint < global; uint++) {\n    kernel[uint] = kernel[uint] * half;\n"
            "    local[uint] += 250;\n  }\n")
    text = (f"void f(int global, double kernel[global], double half, unsigned char local[global]) {{\n#pragma scop\n"
            f"{body}#pragma endscop\n#pragma scop\n{body}#pragma endscop\n}}\n")
    (tmp_path / "f.c").write_text(text)
    assert largest_difference(verified(tmp_path / "f.c", {"global": 40})) == 0


def test_a_source_says_what_it_is() -> None:
    assert repr(emitted(PRODUCT)).startswith("<DeviceSource of f: 1 kernels, ")
