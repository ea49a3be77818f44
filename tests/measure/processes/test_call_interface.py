"""The C file around a user's: arguments in order, pointers set, results kept, and a `main` out of the way."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from polysched.measure.processes.call_interface import RENAMED_MAIN, TIMER, Origin, Slot, probe, wrapper
from polysched.scop.dtypes import FLOAT64, INT32
from tests.emit_c.compiled import load

SOURCE = """int calls;
double *shared;
static double scaled(int n, const double x[4]) { calls++; return n * x[1] + shared[0]; }
int main(void) { return 3; }
"""
N = Slot(name="n", dtype=INT32, origin=Origin.ARGUMENT, is_array=False)
X = Slot(name="x", dtype=FLOAT64, origin=Origin.ARGUMENT, is_array=True, shape=(4,))
SHARED = Slot(name="shared", dtype=FLOAT64, origin=Origin.POINTER, is_array=True, shape=(1,))
CALLS = Slot(name="calls", dtype=INT32, origin=Origin.GLOBAL, is_array=False)
RESULT = Slot(name="return value", dtype=FLOAT64, origin=Origin.RESULT, is_array=False)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.c"
    path.write_text(SOURCE)
    return path


def test_a_static_function_is_called_with_its_slots(source: Path, tmp_path: Path) -> None:
    library = load(wrapper(source, "scaled", (N, X, SHARED, CALLS, RESULT)), tmp_path, strict=False)
    n, x, shared, result = ctypes.c_int(3), (ctypes.c_double * 4)(0, 2, 0, 0), ctypes.c_double(0.5), ctypes.c_double()
    slots = (ctypes.c_void_p * 5)(*(ctypes.addressof(v) for v in (n, x, shared)), None, ctypes.addressof(result))
    library.polysched_call(slots)
    library.polysched_call(slots)
    assert result.value == 6.5
    library.polysched_address.restype = ctypes.c_void_p
    assert ctypes.c_int.from_address(library.polysched_address(0)).value == 2
    assert library.polysched_address(1) is None


def test_a_main_is_called_by_its_other_name(source: Path, tmp_path: Path) -> None:
    result = Slot(name="return value", dtype=INT32, origin=Origin.RESULT, is_array=False)
    text = wrapper(source, "main", (result,))
    assert f"= {RENAMED_MAIN}();" in text
    value = ctypes.c_int()
    load(text, tmp_path, strict=False).polysched_call((ctypes.c_void_p * 1)(ctypes.addressof(value)))
    assert value.value == 3


def test_a_probe_compiles_where_its_statement_is_valid(source: Path, tmp_path: Path) -> None:
    load(probe(source, "(void)&calls;"), tmp_path, strict=False)
    with pytest.raises(AssertionError, match="nobody"):
        load(probe(source, "(void)&nobody;"), tmp_path, strict=False)


def test_the_timer_gives_three_times(tmp_path: Path) -> None:
    library = load(TIMER + "static void nothing(void **slots) { (void)slots; }\n"
                   "void run(double *out) { polysched_timed(nothing, 0, out); }\n", tmp_path, strict=False)
    out = (ctypes.c_double * 3)(-1, -1, -1)
    library.run(out)
    assert all(seconds >= 0 for seconds in out)
