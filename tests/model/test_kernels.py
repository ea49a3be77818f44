"""Kernels: names, adapters, the cache, a second process."""

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pytest

from polysched.graph import Graph, from_text, to_text
from polysched.model.kernels import (
    Order,
    adapter,
    build_kernels,
    build_orders,
    emitted,
    in_any_order,
    optimized_kernel,
    source_of,
    symbol_of,
    why_alone,
    worker,
)
from polysched.model.variants import Asked
from polysched.pipeline.options import PipelineOptions
from polysched.target import find_compiler

OPTIONS = PipelineOptions()


def fragment(op: str) -> Graph:
    return from_text(f"graph kernel(x0: float32[4], x1: float32[]) {{\n  let v = {op}(x0, x1)\n  return v\n}}")


def test_equal_fragments_have_equal_names() -> None:
    assert symbol_of(fragment("Add"), OPTIONS) == symbol_of(from_text(to_text(fragment("Add"))), OPTIONS)
    assert symbol_of(fragment("Add"), OPTIONS) != symbol_of(fragment("Sub"), OPTIONS)
    assert symbol_of(fragment("Add"), OPTIONS) != symbol_of(fragment("Add"), OPTIONS.but(tile="off"))


def test_a_scalar_is_passed_by_value() -> None:
    function, flags = emitted(fragment("Add"), OPTIONS, "region")
    assert flags == ()
    assert "region(arrays[0], *(float *)arrays[1], arrays[2]); return 0;" in adapter(function, "k")


def test_a_built_kernel_runs(tmp_path: Path) -> None:
    (symbol, kernel), = build_kernels([fragment("Add"), fragment("Add")], OPTIONS).items()
    caller = f"int {symbol}(void *const *, const long *);\n" + (
        f'__attribute__((visibility("default"))) int call(void **a) {{ return {symbol}(a, 0); }}\n')
    (tmp_path / "call.c").write_text(caller)
    find_compiler().run(["-shared", "-fPIC", "-o", "k.so", "call.c", str(kernel.object), "-fopenmp"], folder=tmp_path)
    x, one, y = np.arange(4, dtype=np.float32), np.array(1, np.float32), np.zeros(4, np.float32)
    pointers = (ctypes.c_void_p * 3)(*(a.ctypes.data for a in (x, one, y)))
    assert ctypes.CDLL(str(tmp_path / "k.so")).call(pointers) == 0
    assert np.array_equal(y, x + 1)
    assert symbol in kernel.source


def test_a_second_process_builds_what_its_parent_does_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path))
    order = Order(text=to_text(fragment("Mul")), symbol="k", key="mul")
    with worker([order], OPTIONS) as process:
        assert process.wait(timeout=60) == 0
    assert len(list((tmp_path / "models").glob("*/kernel.o"))) == 1
    build_orders([order], OPTIONS)
    assert len(list((tmp_path / "models").glob("*/kernel.o"))) == 1


def test_a_kernel_that_a_team_shares_has_a_name_of_its_own_and_no_team() -> None:
    large = from_text("graph kernel(x0: float32[512, 512]) {\n  let v1 = Exp(x0)\n  return v1\n}")
    assert why_alone(large, OPTIONS) == ""
    (symbol, kernel), = build_kernels([large], OPTIONS, [Asked(shared=True)]).items()
    assert symbol == symbol_of(large, OPTIONS, shared=True) != symbol_of(large, OPTIONS)
    assert "#pragma omp parallel" not in kernel.source
    assert "#pragma omp for" in kernel.source


def test_a_kernel_without_a_team_is_run_by_one_thread_of_a_team() -> None:
    small = fragment("Add")
    assert why_alone(small, OPTIONS) == ""
    text, _ = source_of(optimized_kernel(small, OPTIONS), "k", shared=True)
    assert "#pragma omp single nowait" in text
    assert "status = k_whole(arrays, sizes);" in text


def test_why_a_kernel_is_not_shared() -> None:
    two = from_text("""graph kernel(x0: float32[64, 4099]) {
      const c0: int64[1] = [0]
      let v1 = CumSum(x0, c0)
      return v1
    }""")
    assert why_alone(two, OPTIONS.but(parallel=False)) == ""   # it has no team


@pytest.mark.parametrize(("shape", "axis"), [("1000", 0), ("64, 1000", 1)])
def test_sums_in_double_are_added_up_in_lanes(shape: str, axis: int) -> None:
    total = from_text(f"graph kernel(x0: float32[{shape}]) {{\n  const a: int64[1] = [{axis}]\n"
                      "  let v = ReduceSum(x0, a; keepdims=1)\n  return v\n}")
    assert "partial results of wide in lanes" in emitted(total, OPTIONS, "region")[0].text
    assert in_any_order(OPTIONS).wide_sums
    assert not in_any_order(OPTIONS).reassociate


def test_clang_takes_a_kernel_too() -> None:
    clang = next((c for c in ("clang", "clang-19") if shutil.which(c)), None)
    if clang is None:
        pytest.skip("there is no clang")
    (kernel,) = build_kernels([fragment("Add")], PipelineOptions(cc=clang)).values()
    assert kernel.object.exists()
    assert kernel.source.startswith("#if defined __GNUC__ && !defined __clang__")
