"""A compiled Scop: types of its arguments, its entry in the cache, and entries that cannot be loaded."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polysched.errors import CompileError
from polysched.kernel import compiled_scop
from polysched.kernel.compiled_scop import LIBRARY, RECORD, CompiledScop, loaded_entry
from polysched.measure.processes.building import compile_shared
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.target import build_cache, find_compiler

TEXT = """
void f(int n, long m, unsigned char A[n], float s, double B[m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            B[j] += A[i] * s;
#pragma endscop
}
"""
PLAIN = PipelineOptions(tensorize=None, tile="off", parallel=False)


@pytest.fixture(scope="module")
def scop() -> Scop:
    return from_c_text(TEXT)


def test_arguments_are_the_sizes_and_then_the_arrays(scop: Scop) -> None:
    own = CompiledScop(scop, PLAIN, {})
    named = {"n": ctypes.c_int, "m": ctypes.c_long, "A": ctypes.c_void_p, "s": ctypes.c_float, "B": ctypes.c_void_p}
    assert own._argument_types() == [named[x.name] for x in (*scop.parameters, *scop.arrays)]
    assert {x.name for x in (*scop.parameters, *scop.arrays)} == set(named)


def call(own: CompiledScop, scop: Scop, n: int, m: int) -> np.ndarray:
    values: dict[str, Any] = {"A": np.arange(n, dtype="uint8"), "B": np.ones(m), "s": 0.5}
    sizes = {"n": n, "m": m}
    own.function(*(sizes[p.name] for p in own.scop.parameters), *(
        v.ctypes.data if isinstance(v := values[a.name], np.ndarray) else v for a in own.scop.arrays))
    return np.asarray(values["B"])


def test_what_was_compiled_is_found_again(scop: Scop, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = np.full(5, 1 + 0.5 * sum(range(7)))
    np.testing.assert_array_equal(call(CompiledScop(scop, PLAIN, {"source": "f"}), scop, 7, 5), expected)
    (record,) = cache.rglob(RECORD)
    stored = json.loads(record.read_text())
    assert (stored["source"], stored["return_type"]) == ("f", "void")
    assert "-fwrapv" in stored["flags"]
    monkeypatch.setattr(compiled_scop, "optimize", lambda *_: pytest.fail("it was scheduled again"))
    monkeypatch.setattr(compiled_scop, "started_region", lambda *_: pytest.fail("it was matched again"))
    np.testing.assert_array_equal(call(CompiledScop(scop, PLAIN, {"source": "f"}), scop, 7, 5), expected)


def test_keys_differ_by_their_parts(scop: Scop) -> None:
    keys = {CompiledScop(scop, PLAIN, parts)._key(**more) for parts, more in (
        ({}, {}), ({"source": "f"}, {}), ({"source": "g"}, {}), ({"source": "f"}, {"part": "instruction"}))}
    assert len(keys) == 4


def libraries(*texts: str) -> Any:
    """A builder whose first library has the first text, and so on; it counts."""
    built: list[str] = []

    def build(folder: Path) -> None:
        text = texts[min(len(built), len(texts) - 1)]
        built.append(text)
        if text == "no library":
            (folder / f"{LIBRARY}.so").write_text(text)
        else:
            compile_shared(text, name=LIBRARY, folder=folder, compiler=find_compiler(), flags=("-O0",), openmp=False)

    return build, built


GOOD = '__attribute__((visibility("default"))) int five(void) { return 5; }'
UNDEFINED = 'int nowhere(void); __attribute__((visibility("default"))) int five(void) { return nowhere(); }'


def test_an_entry_that_cannot_be_loaded_is_built_again(cache: Path) -> None:
    build, built = libraries("no library", GOOD)
    library, entry = loaded_entry("a" * 32, build)
    assert library.five() == 5
    assert len(built) == 2
    assert loaded_entry("a" * 32, build)[1] == entry
    assert len(built) == 2


@pytest.mark.parametrize("text", ["no library", UNDEFINED])
def test_one_that_is_never_loaded_is_refused_and_not_kept(text: str, cache: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    build, built = libraries(text)
    monkeypatch.setenv("LD_BIND_NOW", "1")
    real = ctypes.CDLL
    monkeypatch.setattr(compiled_scop.ctypes, "CDLL", lambda name: real(name, mode=2))   # RTLD_NOW
    with pytest.raises(CompileError, match="cannot be loaded") as refused:
        loaded_entry("b" * 32, build)
    assert len(built) == 2
    assert refused.value.witness
    assert build_cache.found("b" * 32) is None
