"""Kernels: names, adapters, the cache, a second process."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.graph import Graph, from_text, to_text
from polysched.model.kernels import Order, adapter, build_kernels, build_orders, emitted, symbol_of, worker
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
