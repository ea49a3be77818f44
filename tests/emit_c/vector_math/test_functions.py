"""Vector functions stay within 4 units in the last place, at every width, with every compiler that is there."""

from __future__ import annotations

import atexit
import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_math import VectorMath, has_vector_function
from polysched.scop.dtypes import FLOAT32, FLOAT64
from polysched.target import CLANG_NAMES
from tests.tiers import and_campaign

mpmath = pytest.importorskip("mpmath", reason="the exact values of erf need mpmath")

BOUND = 4.0
UNARY = {"exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "tanh": np.tanh, "erf": None,
         "expm1": np.expm1, "log1p": np.log1p, "log10": np.log10, "cbrt": np.cbrt, "sin": np.sin, "cos": np.cos,
         "sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
         "nearbyint": np.rint, "fabs": np.abs, "round": None}
BINARY = {"pow": np.power, "fmin": np.fmin, "fmax": np.fmax, "copysign": np.copysign}
EXACT = {"sqrt", "floor", "ceil", "trunc", "rint", "nearbyint", "fabs", "round", "fmin", "fmax", "copysign"}
CLANG = next((name for name in CLANG_NAMES if shutil.which(name)), "clang")
BUILDS = [("gcc", "-O2", "-march=native"), ("gcc", "-O1"), ("gcc", "-O3", "-mavx2", "-mfma"),
          (CLANG, "-O2", "-march=native"), (CLANG, "-O1")]
# Of the target's registers, and a build; for narrow registers the same text also holds the instructions of AVX.
WIDTHS_AND_BUILDS = [*((512, build) for build in BUILDS), (256, BUILDS[1]), (256, BUILDS[2]), (256, BUILDS[3])]
# Without the start files, of which gcc adds one that makes every thread of this process round denormals to zero.
FINITE_ONLY = ("-O3", "-march=native", "-ffast-math", "-nostartfiles")


NAMES = {**UNARY, **BINARY}
FLOAT, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


ELEMENTS = {FLOAT: FLOAT32, DOUBLE: FLOAT64}


def text_of(names: Iterable[str], vector_bits: int, dtypes: Iterable[np.dtype] = tuple(ELEMENTS)
            ) -> tuple[str, dict[tuple[str, np.dtype], dict[int, str]]]:
    """Functions `r[i] = name(x[i], y[i])`, all in one text, and what they are called, by name, type and lanes."""
    taken = TakenNames(used=frozenset(), visible=frozenset())
    types = VectorTypes(taken)
    math = VectorMath(taken, types, vector_bits)
    bodies, made = [], {}
    for name in names:
        for dtype in dtypes:
            element = ELEMENTS[dtype]
            function = name + ("f" if element is FLOAT32 else "")
            made[name, dtype] = {lanes: f"{function}_in_{lanes}"
                                 for lanes in (1, *(bits // element.bits for bits in (128, 256, 512)))}
            for lanes in made[name, dtype]:
                macro, types_first = math.use(function, lanes)
                kind = types.name(element, lanes) if lanes > 1 else element.c_name
                arguments = [f"*(const {kind} *)&{a}[i]" for a in ("xy" if name in BINARY else "x")]
                bodies.append(
                    f"void {function}_in_{lanes}(const {element.c_name} *x, const {element.c_name} *y, "
                    f"{element.c_name} *r, long n) {{ (void)y; for (long i = 0; i < n; i += {lanes}) "
                    f"*({kind} *)&r[i] = {macro}({', '.join([*types_first, *arguments])}); }}")
    return "\n".join([*types.declarations.values(), *math.definitions(), *bodies, *math.undefinitions(), ""]), made


def build_with(build: tuple[str, ...], text: str, *output: str) -> None:
    """`output` : options that say what is made of the text."""
    done = subprocess.run([*build, "-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Wno-psabi", "-Werror", "-fPIC",
                           *output, "-x", "c", "-"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@cache
def compiled(build: tuple[str, ...], vector_bits: int, name: str, dtype: np.dtype) -> dict[int, ctypes._CFuncPtr]:
    """The functions of one name and type, by number of lanes."""
    text, made = text_of([name], vector_bits, [dtype])
    folder = Path(tempfile.mkdtemp(prefix="polysched-vector-math-"))
    atexit.register(shutil.rmtree, folder)
    build_with(build, text, "-shared", "-o", str(folder / "functions.so"), "-lm")
    loaded = ctypes.CDLL(str(folder / "functions.so"))
    return {lanes: getattr(loaded, function) for lanes, function in made[name, dtype].items()}


def called(function: ctypes._CFuncPtr, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = np.empty_like(x)
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y, result)), ctypes.c_long(len(x)))
    return result


def samples(name: str, dtype: np.dtype, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Corner values, random bit patterns and random values of a usual size, a multiple of 16 of them."""
    rng = np.random.default_rng(len(name))
    info = np.finfo(dtype)
    small = info.bits == 32
    corners = [0.0, 0.5, 0.55, 0.625, 0.75, 1.0, 1.0 - info.epsneg, 1.0 + info.eps, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0,
               info.tiny, info.tiny / 4, info.smallest_subnormal, info.max, np.inf, np.nan, 0.70710678, 1.41421356,
               0.49999997, 8388609.0, 4503599627370497.0]
    corners += [np.pi * k / 4 for k in (*range(1, 9), 22, 710, 1000)] + [1e3, 3199.9, 3200.5, 1599999.5, 1600001.0]
    corners += [0.34657359, 0.35, 1.0397, 1.04, 16.6, 17.4, 36.7, 37.5, 8.0, 27.0, 64.0, 1e-3, 1e-4, 1e-8, 1e-9]
    corners += [88.72, 88.8, 87.3, 103.9, 104.1, 127.9, 128, 149, 150.5, 126.5] if small else [
        709.7, 709.79, 708.4, 745.1, 745.2, 1023.9, 1024, 1074, 1075.5, 1022.5]
    edge = np.array([s * c for c in corners for s in (1, -1)], dtype)
    integers = np.int32 if small else np.int64
    patterns = rng.integers(np.iinfo(integers).min, np.iinfo(integers).max, count, integers).view(dtype)
    spans = {"exp": 100 if small else 740, "exp2": 150 if small else 1075, "tanh": 10, "erf": 6, "sin": 3300,
             "cos": 2e6, "expm1": 100 if small else 740}
    usual = [rng.uniform(-spans.get(name, 4), spans.get(name, 4), count), rng.uniform(-2, 2, count)]
    x = np.concatenate([edge, patterns, *(u.astype(dtype) for u in usual)])
    y = np.concatenate([rng.permutation(edge), rng.uniform(-30, 30, len(x) - len(edge)).astype(dtype)])
    if name in BINARY:
        both = np.meshgrid(edge, edge)
        near = rng.uniform(0.9, 1.1, count).astype(dtype), rng.uniform(-6000, 6000, count).astype(dtype)
        x, y = np.concatenate([x, both[0].ravel(), near[0]]), np.concatenate([y, both[1].ravel(), near[1]])
    keep = len(x) // 16 * 16
    return np.ascontiguousarray(x[:keep]), np.ascontiguousarray(y[:keep])


def exact(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The values in extended precision."""
    wide = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        if name == "erf":
            with mpmath.workdps(30):
                return np.array([np.longdouble(mpmath.nstr(mpmath.erf(mpmath.mpf(float(v))), 25))
                                 if np.isfinite(v) and v else np.longdouble(np.sign(v) if v else v) for v in x])
        if name == "round":
            return np.copysign(np.floor(np.abs(wide) + np.longdouble(0.5)), wide)
        if name in BINARY:
            return BINARY[name](wide, y.astype(np.longdouble))
        return UNARY[name](wide)


def errors(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Units in the last place of the exact value; infinite where one is NaN, or infinite, and the other is not."""
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(want), np.longdouble(info.tiny)))) - info.nmant)
        apart = np.abs(got.astype(np.longdouble) - want) / unit
    agree = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    return np.where(agree & ~np.isfinite(rounded), 0.0, np.where(np.isnan(apart), np.inf, apart))


@cache
def cases(name: str, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arguments and exact values, the same for every build."""
    x, y = samples(name, dtype, 320 if name == "erf" else 2000)
    return x, y, exact(name, x, y)


@pytest.mark.parametrize(("vector_bits", "build"), [*WIDTHS_AND_BUILDS, (512, ("gcc", *FINITE_ONLY)),
                                                    (256, ("gcc", *FINITE_ONLY))])
def test_all_of_them_stand_in_one_text(vector_bits: int, build: tuple[str, ...]) -> None:
    """No definition is there twice, and none gives a warning; optimisation, of 184 functions, is left to the others."""
    if shutil.which(build[0]) is None:
        pytest.skip(f"no {build[0]}")
    build_with(build, text_of(NAMES, vector_bits)[0], "-fsyntax-only")


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE], ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("vector_bits", "build"), WIDTHS_AND_BUILDS,
                         ids=[f"{bits} {' '.join(build)}" for bits, build in WIDTHS_AND_BUILDS])
def test_error_bound(name: str, dtype: np.dtype, vector_bits: int, build: tuple[str, ...]) -> None:
    if shutil.which(build[0]) is None:
        pytest.skip(f"no {build[0]}")
    x, y, want = cases(name, dtype)
    results = {lanes: called(f, x, y) for lanes, f in compiled(build, vector_bits, name, dtype).items()}
    for lanes, got in results.items():
        assert np.array_equal(got, results[1], equal_nan=True), f"{lanes} lanes give other values than one"
        apart = errors(got, want)
        worst = int(np.argmax(apart))
        assert apart[worst] <= (0.5 if name in EXACT else BOUND), (
            f"{lanes} lanes: {name}({x[worst]!r}, {y[worst]!r}) = {got[worst]!r}, exactly {want[worst]!r}")
        if name not in ("fmin", "fmax"):
            zero = (got == 0) & (want == 0)
            assert np.array_equal(np.signbit(got[zero]), np.signbit(want[zero])), "the sign of a zero"


@pytest.mark.parametrize(("name", "dtype"), [
    *((name, np.dtype(np.float32)) for name in (
        "exp", "exp2", "log", "log2", "tanh", "erf", "expm1", "log1p", "log10", "cbrt", "sin", "cos", "pow")),
    *((name, np.dtype(np.float64)) for name in (
        "exp", "exp2", "log", "log2", "tanh", "erf", "expm1", "log1p", "log10", "cbrt", "sin", "cos"))], ids=str)
def test_error_bound_holds_when_the_compiler_may_reassociate(name: str, dtype: np.dtype) -> None:
    """No step is one that `-ffast-math` folds away; what it assumes (numbers, no denormals) has to hold.

    Only `pow` of doubles computes with rounding errors of sums, and is good for 20 units then.
    """
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0.01, 8, 1600).astype(dtype), rng.uniform(-8, 8, 1600).astype(dtype)
    want = exact(name, x, y)
    build = ("gcc", *FINITE_ONLY)
    both = [item for bits in (512, 256) for item in compiled(build, bits, name, dtype).items()]
    for lanes, function in both:
        assert errors(called(function, x, y), want).max() <= BOUND, f"{lanes} lanes"


@pytest.mark.parametrize("name", and_campaign(["sin"], ["cos"]))
def test_large_arguments_take_the_library_lane_by_lane(name: str) -> None:
    """A lane has the library's value whatever the lanes beside it have, and these keep theirs."""
    library = ctypes.CDLL("libm.so.6")
    for dtype, c_type in ((np.float32, ctypes.c_float), (np.float64, ctypes.c_double)):
        scalar = getattr(library, name + ("f" if dtype == np.float32 else ""))
        scalar.restype, scalar.argtypes = c_type, [c_type]
        x = np.arange(64, dtype=dtype) / 8
        for lane, large in ((0, 1e7), (1, -3e20), (21, 1e30), (63, 1.5e9)):
            x[lane] = large
        for build in (BUILDS[0], BUILDS[2]):
            for function in compiled(build, 512, name, np.dtype(dtype)).values():
                got = called(function, x, x)
                assert [got[lane] for lane in (0, 1, 21, 63)] == [scalar(float(x[lane])) for lane in (0, 1, 21, 63)]
                small = np.abs(x) < 100
                assert errors(got[small], exact(name, x[small], x[small])).max() <= BOUND


def test_names() -> None:
    assert has_vector_function("expf")
    assert has_vector_function("exp")
    assert has_vector_function("sqrt")
    assert has_vector_function("log1pf")
    assert not has_vector_function("expl")
    assert not has_vector_function("exp_core")
    assert not has_vector_function("by_libm_sin")
    assert not has_vector_function("ff")
    assert not has_vector_function("lgamma")
