"""Functions of tensor IR compute what the program does, run as Python, and by TVM where it is installed."""

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c.tir import tir_text
from polysched.errors import UnsupportedScopError
from polysched.scheduling import original, pluto
from polysched.scop.interpreter import execute
from polysched.scop.tir_frontend import from_tir
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule
from tests.emit_c.mlir.test_affine_function import JACOBI, NAMES, PRODUCT, TRIANGLE, scop_of
from tests.emit_c.tir.script import run

RING = ("int n, double x[n], double y[n]",
        "for (int i = 0; i < n; i++) y[i] = x[(i + 1) % n] - x[i == 0 ? n - 1 : i - 1];")
PROGRAMS = [PRODUCT, JACOBI, TRIANGLE, NAMES, RING]
Arrays = dict[str, np.ndarray]


def made(program: tuple[str, str]) -> tuple[dict[str, int], Arrays, Arrays]:
    """Sizes, arrays, and what the program makes of these."""
    scop = scop_of(*program)
    sizes = {p.name: {"t_end": 3}.get(p.name, 7) for p in scop.parameters}
    random = np.random.default_rng(3)
    given = {a.name: random.integers(0, 4, (7,) * len(a.extents)).astype(float) for a in scop.arrays}
    expected = {name: array.copy() for name, array in given.items()}
    execute(scop, sizes, expected)
    return sizes, given, expected


def test_the_text_of_a_product() -> None:
    schedule = original(analyse(scop_of(*PRODUCT)))
    assert tir_text(TiledSchedule(schedule=schedule, tree=schedule.tree)) == """\
# from tvm.script import tirx as T
@T.prim_func
def f(n: T.int64, C: T.Buffer((n, n), "float64"), A: T.Buffer((n, n), "float64"), B: T.Buffer((n, n), "float64")):
    for i0 in T.serial(T.int64(0), n):
        for i1 in T.serial(T.int64(0), n):
            for i2 in T.serial(T.int64(0), n):
                C[i0, i1] = (C[i0, i1] + (A[i0, i2] * B[i2, i1]))
"""


def test_loops_that_may_begin_below_zero_count_their_iterations() -> None:
    """TVM 0.27 computed something else with `T.serial(T.int64(-4), T.int64(0))` around another such loop."""
    schedule = original(analyse(scop_of(
        "int n, double a[n + 4]", "for (int i = 4; i >= 1; i--) for (int j = 0; j < n; j++) a[j] += a[j + i];")))
    assert tir_text(TiledSchedule(schedule=schedule, tree=schedule.tree)).splitlines()[3:] == [
        "    for i0 in T.serial(T.int64(0), T.int64(4)):", "        for i1 in T.serial(T.int64(0), n):",
        "            a[i1] = (a[i1] + a[i0 * T.int64(-1) + i1 + T.int64(4)])"]


def test_a_shift_keeps_the_type_of_what_is_shifted() -> None:
    schedule = original(analyse(scop_of("int n, int K[n]", "for (int i = 0; i < n; i++) K[i] >>= 1u;")))
    assert "K[i0] = (K[i0] >> " in tir_text(TiledSchedule(schedule=schedule, tree=schedule.tree))


def test_names_are_those_of_python() -> None:
    scop = scop_of("int in, double T[in], int is[in]", "for (int i = 0; i < in; i++) T[i] = is[i];")
    schedule = original(analyse(scop))
    assert tir_text(TiledSchedule(schedule=schedule, tree=schedule.tree)).splitlines()[2:] == [
        'def f(in_: T.int64, is_: T.Buffer((in_,), "int32"), T_: T.Buffer((in_,), "float64")):',
        "    for i_0 in T.serial(T.int64(0), in_):", '        T_[i_0] = T.Cast("float64", is_[i_0])']


@pytest.mark.parametrize("tiles", ["off", 4])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("scheduler", [original, pluto])
def test_it_computes_what_the_program_does(program: tuple[str, str], tiles: object, scheduler: object) -> None:
    assert callable(scheduler)
    text = tir_text(tile(scheduler(analyse(scop_of(*program))), TilingOptions(sizes=tiles, register=False)))
    sizes, given, expected = made(program)
    run(text, sizes, given)
    for name, array in given.items():
        assert np.array_equal(array, expected[name]), name


@pytest.mark.parametrize("program", PROGRAMS)
def test_tvm_takes_it_and_it_comes_back(program: tuple[str, str]) -> None:
    tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed")
    script = pytest.importorskip("tvm.script")
    tirx = pytest.importorskip("tvm.script.tirx", reason="TVM is older than 0.27")
    schedule = pluto(analyse(scop_of(*program)))
    function = script.from_source(tir_text(TiledSchedule(schedule=schedule, tree=schedule.tree)), {"T": tirx})
    sizes, given, expected = made(program)
    there = {name: tvm.runtime.tensor(array) for name, array in given.items()}
    compiled = tvm.compile(function.with_attr("global_symbol", "f"), target="llvm")
    compiled["f"](*({**sizes, **there}[str(p.name)] for p in function.params))
    execute(from_tir(function), sizes, given)
    for name, array in given.items():
        assert np.array_equal(there[name].numpy(), expected[name]), name
        assert np.array_equal(array, expected[name]), name


def test_subscripts_that_are_data_stand_as_written() -> None:
    scop = scop_of("int n, double a[n], int k[n], double b[n]", "for (int i = 0; i < n; i++) b[i] = a[k[i]];")
    schedule = original(analyse(scop))
    text = tir_text(TiledSchedule(schedule=schedule, tree=schedule.tree))
    assert text.splitlines()[-1] == '        b[i0] = a[T.Cast("int64", k[i0])]'
    arrays = {"a": np.arange(5.0), "k": np.array([3, 0, 4, 4, 1], np.int32), "b": np.zeros(5)}
    run(text, {"n": 5}, arrays)
    assert arrays["b"].tolist() == [3, 0, 4, 4, 1]


@pytest.mark.parametrize(("declarations", "loops", "message"), [
    ("int n, double a[n]", "for (int i = 0; i < n; i++) if (a[i] > 0) a[i] = 1;", "a condition or loop on data of S0"),
    ("int n, long double a[n]", "for (int i = 0; i < n; i++) a[i] = 1;", "no such type of elements"),
    ("int n, double a[n]", "for (int i = 0; i < n; i++) a[i] = cbrt(a[i]);", "a function of S0 .*\n  witness: cbrt"),
])
def test_refusals(declarations: str, loops: str, message: str) -> None:
    scop = scop_of(declarations, loops)
    with pytest.raises(UnsupportedScopError, match=message):
        tir_text(tile(original(analyse(scop)), TilingOptions(sizes="off")))
