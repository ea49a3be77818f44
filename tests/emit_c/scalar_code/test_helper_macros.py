"""Helper macros compute what their names say; only used ones are defined, and all of them are undefined again."""

from __future__ import annotations

import ctypes
import platform
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.helper_macros import WIDENINGS, HelperMacros
from polysched.target import find_compiler
from tests.emit_c.compiled import load

NATIVE = ("-O1", "-march=native")
"""Options for the instructions of this processor; without them all that is for some machines is left out."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    macros = HelperMacros(TakenNames(used=frozenset(), visible=frozenset()))
    two = "".join(f"long {kind}_(long a, long b) {{ return {macros.use(kind)}(a, b); }}\n"
                  for kind in ("min", "max", "floordiv", "value_floordiv", "value_floormod"))
    text = (f"{two}float from_(unsigned short x) {{ return {macros.use('from_bfloat16')}(x); }}\n"
            f"unsigned short to_(float x) {{ return {macros.use('to_bfloat16')}(x); }}\n"
            f"int threads_(void) {{ return {macros.threads()}; }}\n"
            f"void fence_(void) {{ {macros.use('fence')}(); }}\n"
            f"double emptied_(double x) {{ const double y = 2 * x; {macros.use('empty_registers_16')}(); "
            f"{macros.use('empty_registers_32')}(); return y + x; }}\n")
    made = "\n".join([*macros.definitions(), text, *macros.undefinitions(),
                      "#ifdef polysched_min\n#error it is still defined\n#endif\n"])
    found = load(made, tmp_path_factory.mktemp("macros"))
    for name in ("min_", "max_", "floordiv_", "value_floordiv_", "value_floormod_"):
        getattr(found, name).argtypes, getattr(found, name).restype = [ctypes.c_long] * 2, ctypes.c_long
    found.from_.restype, found.from_.argtypes = ctypes.c_float, [ctypes.c_ushort]
    found.emptied_.restype, found.emptied_.argtypes = ctypes.c_double, [ctypes.c_double]
    found.to_.restype, found.to_.argtypes = ctypes.c_ushort, [ctypes.c_float]
    return found


def test_minimum_maximum_and_quotients(library: ctypes.CDLL) -> None:
    for a in range(-9, 10):
        for b in (-4, -1, 1, 3):
            assert (library.min_(a, b), library.max_(a, b)) == (min(a, b), max(a, b))
            assert (library.value_floordiv_(a, b), library.value_floormod_(a, b)) == (a // b, a % b)
            if b > 0:
                assert library.floordiv_(a, b) == a // b


def test_bfloat16_is_rounded_to_the_nearest(library: ctypes.CDLL) -> None:
    for bits in (0, 0x3f80, 0xbf81, 0x7f80, 1, 0x7f7f):
        value = library.from_(bits)
        assert value == struct.unpack("f", struct.pack("I", bits << 16))[0]
        assert library.to_(value) == bits
    assert library.to_(float(np.uint32(0x3f808000).view(np.float32))) == 0x3f80, "ties to even"
    assert library.to_(float(np.uint32(0x3f818000).view(np.float32))) == 0x3f82
    assert library.to_(float("nan")) & 0x7fff > 0x7f80, "no number stays none"


def test_threads_and_fences(library: ctypes.CDLL) -> None:
    assert library.threads_() >= 1
    library.fence_()


def test_values_outlive_emptied_registers(library: ctypes.CDLL) -> None:
    assert library.emptied_(1.25) == 3.75


@pytest.mark.skipif(platform.machine() != "x86_64", reason="-m32 is an option of compilers for x86")
@pytest.mark.parametrize("flags", [[], ["-mavx512f"]])
def test_registers_that_32_bits_do_not_have_are_not_named(flags: list[str], tmp_path: Path) -> None:
    macros = HelperMacros(TakenNames(used=frozenset(), visible=frozenset()))
    calls = " ".join(f"{macros.use(f'empty_registers_{count}')}();" for count in (16, 32))
    (tmp_path / "x.c").write_text("\n".join([*macros.definitions(), f"void f(void) {{ {calls} }}", ""]))
    done = subprocess.run([*find_compiler().command, "-m32", *flags, "-S", "-o", str(tmp_path / "x.s"),
                           str(tmp_path / "x.c")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_names_of_the_program_are_left_to_it() -> None:
    macros = HelperMacros(TakenNames(used=frozenset({"polysched_min"}), visible=frozenset()))
    assert macros.use("min") != "polysched_min"
    assert not HelperMacros(TakenNames(used=frozenset(), visible=frozenset())).definitions()


def test_arguments_may_have_the_names_that_definitions_declare(tmp_path: Path) -> None:
    """The value of `const float v_ = (v_);` is any."""
    macros = HelperMacros(TakenNames(used=frozenset({"v_", "g_"}), visible=frozenset()))
    text = (f"unsigned short to_(float v_) {{ return {macros.use('to_bfloat16')}(v_); }}\n"
            "typedef short given __attribute__((vector_size(16), aligned(1)));\n"
            "typedef int made __attribute__((vector_size(32), aligned(1)));\n"
            f"void grown_(given *g_, made *y) {{ *y = {macros.use('int16_int32_8')}(made, *g_); }}\n")
    found = load("\n".join([*macros.definitions(), text]), tmp_path, flags=NATIVE)
    found.to_.restype, found.to_.argtypes = ctypes.c_ushort, [ctypes.c_float]
    assert found.to_(-1.5) == 0xbfc0
    x, y = np.arange(-4, 4, dtype=np.int16), np.zeros(8, np.int32)
    found.grown_(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
    assert y.tolist() == x.tolist()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions of x86")
def test_widenings_have_the_values_of_conversions(tmp_path: Path) -> None:
    """All are compiled for AVX-512; what runs are the instructions that the processor has, and other conversions."""
    macros = HelperMacros(TakenNames(used=frozenset(), visible=frozenset()))
    c_types = {"int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
               "int32": "int", "uint32": "unsigned", "int64": "long", "float32": "float", "float64": "double"}
    functions = []
    for kind in WIDENINGS:
        have, want, lanes = kind.split("_")
        size = np.dtype(want).itemsize * int(lanes)
        given, made = f"given_{kind}", f"made_{kind}"
        functions.append(
            f"typedef {c_types[have]} {given} __attribute__((vector_size({size // 2}), aligned(1)));\n"
            f"typedef {c_types[want]} {made} __attribute__((vector_size({size}), aligned(1)));\n"
            f"void {kind}(const void *x, void *y) {{ *({made} *)y = {macros.use(kind)}({made}, *({given} *)x); }}\n")
    text = "\n".join([*macros.definitions(), *functions])
    (tmp_path / "all.c").write_text(text)
    compiler = find_compiler()
    subprocess.run([*compiler.command, "-mavx512bw", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                    str(tmp_path / "all.c")], check=True)
    found = load(text, tmp_path, flags=NATIVE)
    for kind in WIDENINGS:
        have, want, lanes = kind.split("_")
        dtype = np.dtype(have)
        info = np.iinfo(dtype) if dtype.kind != "f" else None
        ends = [info.min, info.max, info.max // 2 + 1, 5] if info else [-1.5, float("inf"), 1e-45, 3e38]
        x = np.resize(np.array(ends, dtype), int(lanes))
        y = np.zeros(int(lanes), want)
        getattr(found, kind)(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
        assert y.tolist() == x.astype(want).tolist(), kind
