"""Real instructions, register tiles among them, through clang with OpenMP: threads configure tiles of their own."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import NoCompilerError
from polysched.target import Compiler, find_compiler
from polysched.target.compiler import CLANG_NAMES
from polysched.tensorize import find_intrinsic, match, operators
from polysched.tensorize.emission import emit_match
from tests.tensorize.compiled import call
from tests.tensorize.test_real_instructions_execute import require


def clang() -> Compiler:
    for name in CLANG_NAMES:
        try:
            found = find_compiler(name)
        except NoCompilerError:
            continue
        if found.openmp_compile:
            return found
    pytest.skip("no clang with OpenMP here")


@pytest.mark.parametrize("name", ["tdpbusd"])
def test_clang_and_openmp(name: str, tmp_path: Path) -> None:
    require(name)
    compiler = clang()
    m, n, k = 70, 130, 67
    scop = operators.gmm(m=m, n=n, k=k, dtype="uint8", right_dtype="int8", accumulator="int32")
    emitted = emit_match(match(scop, find_intrinsic(name)).matches[0], "by_clang")
    assert "omp for" in emitted.text
    (tmp_path / "by_clang.c").write_text(emitted.unit)
    done = compiler.run(["-O1", "-std=gnu11", "-w", *emitted.flags, "-shared", "-fPIC",
                         *compiler.openmp_compile, str(tmp_path / "by_clang.c"), "-o", str(tmp_path / "by_clang.so"),
                         *compiler.openmp_link, "-lm"])
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(tmp_path / "by_clang.so"))
    chooser = np.random.default_rng(5)
    a, b = chooser.integers(0, 256, (m, k)).astype(np.uint8), chooser.integers(-128, 128, (k, n)).astype(np.int8)
    for _ in range(3):   # threads stay, and with them their tiles and buffers
        c = np.ones((m, n), np.int32)
        call(library, emitted, {"A": a, "B": b, "C": c})
        np.testing.assert_array_equal(c, 1 + a.astype(np.int32) @ b.astype(np.int32))
