"""CUDA out of wheels: what is taken, and that the host's C compiles with NVIDIA's own headers where they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from polysched.emit_gpu import cuda_wheels
from polysched.emit_gpu.cuda_runtime import RUNTIME
from polysched.emit_gpu.cuda_wheels import wheel_flags, wheels
from polysched.target import find_compiler


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like what the wheels of CUDA 12 and 13 install."""
    folder = tmp_path / "site" / "nvidia"
    for name in ("cuda_runtime/include/cuda.h", "cuda_nvrtc/include/nvrtc.h", "cuda_nvrtc/lib/libnvrtc.so.12",
                 "cuda_nvrtc/lib/libnvrtc.alt.so.12", "cu13/include/cuda.h", "cu13/include/nvrtc.h",
                 "cu13/lib/libnvrtc.so.13"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / "__init__.py").write_text("")
    for name in [name for name in sys.modules if name.partition(".")[0] == "nvidia"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(folder.parent))
    return folder


def test_the_oldest_nvrtc_and_a_header_of_the_driver(installed: Path) -> None:
    lib = installed / "cuda_nvrtc/lib"
    (installed / "cu13/include/cuda.h").unlink()
    assert wheel_flags({}, system=[]) == (
        f"-I{installed}/cuda_nvrtc/include", f"-I{installed}/cuda_runtime/include", f"-L{lib}", "-l:libnvrtc.so.12",
        f"-Wl,-rpath,{lib}", "-l:libcuda.so.1")


def test_wheels_of_cuda_13_have_all_in_one_folder(installed: Path) -> None:
    (installed / "cuda_nvrtc/include/nvrtc.h").unlink()
    lib = installed / "cu13/lib"
    assert wheel_flags({}, system=[]) == (f"-I{installed}/cu13/include", f"-L{lib}", "-l:libnvrtc.so.13",
                                          f"-Wl,-rpath,{lib}", "-l:libcuda.so.1")


def test_the_system_comes_first(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "cuda.h").write_text("")
    assert wheel_flags({}, system=[tmp_path]) is None
    assert wheel_flags({"CPATH": str(tmp_path)}, system=[]) is None


def test_nothing_without_the_driver_s_header(installed: Path) -> None:
    for header in installed.glob("*/include/cuda.h"):
        header.unlink()
    assert wheels() is None


def test_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_wheels, "find_spec", lambda name: None)
    assert wheel_flags({}, system=[]) is None


def test_the_runtime_compiles_with_nvidia_s_own_headers(tmp_path: Path) -> None:
    found = wheels()
    if found is None:
        pytest.skip("no headers of NVIDIA: pip install 'polysched[cuda]'")
    (tmp_path / "own.c").write_text(RUNTIME + "int main(void) { polysched_device_start(); return 0; }\n")
    done = find_compiler(None).run(["-Wall", "-Werror", "-Wno-unused-function", f"-I{found.nvrtc_header}",
                                    f"-I{found.driver_header}", "-fsyntax-only", "own.c"], folder=tmp_path)
    assert done.returncode == 0, done.stderr
