"""OpenCL out of wheels: when they are taken, and that a program runs with them where they are installed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from polysched.emit_gpu import opencl_wheels
from polysched.emit_gpu.opencl_runtime import RUNTIME
from polysched.emit_gpu.opencl_wheels import HEADERS, VARIABLE, wheel_flags, wheels
from polysched.target import find_compiler
from tests.emit_gpu.emitted import largest_difference, verified
from tests.gpu.mapped import PRODUCT


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like what the wheels install."""
    folder = tmp_path / "site" / "pyopencl"
    (folder / ".libs").mkdir(parents=True)
    for name in ("__init__.py", ".libs/libOpenCL-1.so.1", ".libs/libpocl-2.so"):
        (folder / name).write_text("")
    monkeypatch.delitem(sys.modules, "pyopencl", raising=False)
    monkeypatch.syspath_prepend(str(folder.parent))
    return folder


def test_wheels_serve_a_system_without_headers(installed: Path, tmp_path: Path) -> None:
    flags = wheel_flags({}, system=[tmp_path])
    assert flags == (f"-I{HEADERS}", f'-DPOLYSCHED_OPENCL_HOME="{installed}"', f"-L{installed}/.libs",
                     "-l:libOpenCL-1.so.1", f"-Wl,-rpath,{installed}/.libs")


def test_the_system_comes_first_unless_asked_otherwise(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "CL").mkdir()
    (tmp_path / "CL" / "cl.h").write_text("")
    assert wheel_flags({}, system=[tmp_path]) is None
    assert wheel_flags({"CPATH": str(tmp_path)}, system=[]) is None
    assert wheel_flags({VARIABLE: "1"}, system=[tmp_path]) is not None
    assert wheel_flags({VARIABLE: "0"}, system=[]) is None


def test_a_loader_without_a_driver_is_nothing(installed: Path) -> None:
    (installed / ".libs" / "libpocl-2.so").unlink()
    assert wheels() is None


def test_nothing_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(opencl_wheels, "find_spec", lambda name: None)
    assert wheel_flags({}, system=[tmp_path]) is None


def test_the_headers_declare_all_that_is_called_with_the_systems_values(tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text(RUNTIME + "int main(void) { polysched_device_start(); return 0; }\n")
    done = find_compiler(None).run(["-Wall", "-Werror", "-Wno-unused-function", f"-I{HEADERS}", "-fsyntax-only",
                                    "own.c"], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    names = re.findall(r"#define (CL_\w+) (.+)", (HEADERS / "CL" / "cl.h").read_text())
    tests = "\n".join(f'_Static_assert({name} == ({value}), "{name}");' for name, value in names)
    (tmp_path / "system.c").write_text("#define CL_TARGET_OPENCL_VERSION 120\n#include <stdint.h>\n"
                                       f"#include <CL/cl.h>\n{tests}\n")
    done = find_compiler(None).run(["-fsyntax-only", "system.c"], folder=tmp_path)
    if "cl.h: No such file" in done.stderr:
        pytest.skip("no OpenCL headers of the system: install opencl-c-headers")
    assert done.returncode == 0, done.stderr
    assert len(names) == 12


def test_a_program_runs_with_wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if wheels() is None:
        pytest.skip("no wheels: pip install 'polysched[opencl]'")
    monkeypatch.setenv(VARIABLE, "1")
    (tmp_path / "f.c").write_text(PRODUCT)
    assert largest_difference(verified(tmp_path / "f.c", {"n": 20})) < 1e-4
