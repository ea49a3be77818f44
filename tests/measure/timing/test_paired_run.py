"""The child that verifies and times: real C programs, right and wrong ones, compared in a real child process."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polysched.measure.paired import MeasureOptions, _request, read_timing, read_verification, recipes_for
from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.call_interface import TIMER, Origin, Slot, wrapper
from polysched.measure.processes.isolation import ChildEnd, End, Limits, run_isolated
from polysched.measure.processes.perf_counters import PerfCounters
from polysched.measure.processes.workspace import workspace
from polysched.measure.programs.inputs import allocate
from polysched.measure.timing.paired_run import Place, Session
from polysched.scop import from_c_text
from polysched.scop.dtypes import BY_NAME
from polysched.target import find_compiler

SCALE = "void f(int n, double *A, double s) { for (int i = 0; i < n; i++) A[i] = A[i] * s + 1; }"


def slot(name: str, dtype: str, *, shape: tuple[int, ...] = (), origin: Origin = Origin.ARGUMENT,
         is_array: bool | None = None, **values: Any) -> Slot:
    return Slot(name=name, dtype=BY_NAME[dtype], origin=origin, shape=shape,
                is_array=bool(shape) if is_array is None else is_array, **values)


SCALE_SLOTS = (slot("n", "int32", value=100), slot("A", "float64", shape=(100,)), slot("s", "float64"))


def run_pair(original: str, candidate: str, slots: tuple[Slot, ...] = SCALE_SLOTS, *, function: str = "f",
             limits: Limits | None = None, **options: Any) -> ChildEnd:
    settings = MeasureOptions(**{"pairs": 0, "limits": limits or Limits(seconds=20), **options})
    compiler = find_compiler()
    with workspace() as folder:
        binaries = []
        for name, text in (("original", original), ("transformed", candidate)):
            source = folder / f"user_{name}.c"
            source.write_text(text)
            binaries.append(compile_shared(wrapper(source, function, slots), name=name, folder=folder,
                                           compiler=compiler, flags=("-O1",)))
        timer = compile_shared(TIMER, name="timer", folder=folder, compiler=compiler, flags=("-O2",), openmp=False)
        request = _request(slots, (binaries[0], binaries[1]), timer, options=settings, threads=2)
        return run_isolated("polysched.measure.timing.paired_run", request, folder=folder, limits=settings.limits,
                            environment={"OMP_NUM_THREADS": "2"})


def verification_of(ended: ChildEnd) -> Any:
    assert ended.end is End.FINISHED, ended.describe() + ended.error_output
    verification = read_verification(ended.reports, seed=1)
    assert verification is not None
    return verification


def test_equal_programs_are_verified_and_timed() -> None:
    ended = run_pair(SCALE, SCALE, pairs=4, warmups=2)
    verification = verification_of(ended)
    assert verification.passed
    assert verification.largest_absolute == 0
    assert {c.array for c in verification.arrays} == {"A", "s"}
    timing = read_timing(ended.reports, threads=2, cpus=(), cold_cache=False)
    assert timing is not None
    assert (len(timing.original), len(timing.warmups)) == (4, 2)
    assert all(s.wall_seconds > 0 for s in timing.original + timing.transformed)
    readable = PerfCounters().read()
    assert all(s.counters.keys() == readable.keys() for s in timing.original + timing.transformed)
    assert all(s.counters.get("task_clock_ns", 1) > 0 for s in timing.original + timing.transformed)


def test_a_cold_cache_run_and_a_pinned_one_work() -> None:
    ended = run_pair(SCALE, SCALE, pairs=1, warmups=0, cold_cache=True, pin=True)
    assert read_timing(ended.reports, threads=2, cpus=(), cold_cache=True) is not None


def test_a_wrong_element_is_named_and_nothing_is_timed() -> None:
    ended = run_pair(SCALE, SCALE.replace("A[i] * s + 1;", "A[i] * s + 1 + (i == 37);"), pairs=3)
    verification = verification_of(ended)
    assert not verification.passed
    assert verification.mismatches == 1
    assert verification.worst.worst_index == (37,)
    assert verification.worst.got == pytest.approx(verification.worst.expected + 1)
    assert read_timing(ended.reports, threads=2, cpus=(), cold_cache=False) is None


def test_a_program_that_does_nothing_is_found_out() -> None:
    assert not verification_of(run_pair(SCALE, "void f(int n, double *A, double s) {}")).passed


def test_an_original_that_changes_nothing_verifies_nothing() -> None:
    nothing = "void f(int n, double *A, double s) {}"
    verification = verification_of(run_pair(nothing, nothing))
    assert not verification.passed
    assert verification.problem == "the original code changes nothing that can be seen from outside"


@pytest.mark.parametrize(("element", "condition"), [
    ("int", "A[i] < 0"), ("int", "A[i] == 0"), ("int", "A[i] > 50"), ("unsigned char", "A[i] > 128"),
    ("double", "A[i] < 0"), ("double", "A[i] > 100")])
def test_inputs_are_found_for_which_a_condition_holds(element: str, condition: str) -> None:
    text = f"void f(int n, {element} *A, {element} *B) {{ for (int i = 0; i < n; i++) if ({condition}) B[i] = 77; }}"
    dtype = {"int": "int32", "double": "float64"}.get(element, "uint8")
    slots = (slot("n", "int32", value=500), slot("A", dtype, shape=(500,)), slot("B", dtype, shape=(500,)))
    verification = verification_of(run_pair(text, text, slots))
    assert verification.passed, verification.problem


@pytest.mark.parametrize(("body", "first"), [
    ("if (A[i] < 0) B[i] = 1; else B[i] = 2;", "mixed"), ("B[i] = A[i] < 0.25 ? A[i] : 3;", "mixed"),
    ("B[i] = A[i] * 2;", "dominant"), ("if (i > 5) B[i] = A[i];", "dominant")])
def test_conditions_on_floats_get_numbers_of_both_signs(body: str, first: str) -> None:
    scop = from_c_text(f"""void f(int n, double A[n], double B[n]) {{
        #pragma scop
        for (int i = 0; i < n; i++) {{ {body} }}
        #pragma endscop
    }}""")
    assert recipes_for([scop])[0] == first


def test_an_original_that_gives_nan_verifies_nothing() -> None:
    text = "void f(int n, double *A, double s) { for (int i = 0; i < n; i++) A[i] = (A[i] - A[i]) / (s - s); }"
    verification = verification_of(run_pair(text, text))
    assert not verification.passed
    assert verification.problem == ("the original code leaves 100 of 100 elements of A not finite, "
                                    "whatever the inputs")


def test_rounding_differences_pass_and_are_reported() -> None:
    forwards = "void f(int n, double *A, double s) { for (int i = 1; i < n; i++) A[0] += A[i] * s; }"
    backwards = "void f(int n, double *A, double s) { for (int i = n - 1; i >= 1; i--) A[0] += A[i] * s; }"
    verification = verification_of(run_pair(forwards, backwards))
    assert verification.passed
    assert 0 < verification.largest_relative < 1e-12


def test_a_factorisation_gets_inputs_it_can_factorise() -> None:
    cholesky = """
    #include <math.h>
    void f(int n, double A[n][n]) {
      for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) A[j][j] -= A[j][k] * A[j][k];
        A[j][j] = sqrt(A[j][j]);
        for (int i = j + 1; i < n; i++) {
          for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
          A[i][j] /= A[j][j];
        }
      }
    }"""
    slots = (slot("n", "int32", value=60), slot("A", "float64", shape=(60, 60)))
    verification = verification_of(run_pair(cholesky, cholesky, slots))
    assert verification.passed
    assert verification.well_conditioned
    assert verification.recipe == "dominant"


def test_a_recurrence_that_overflows_with_large_inputs_gets_small_ones() -> None:
    power = """
    void f(int n, double *A) { for (int t = 0; t < 20; t++) for (int i = 1; i < n; i++) A[i] = A[i] * A[i] * 1.7; }"""
    slots = (slot("n", "int32", value=50), slot("A", "float64", shape=(50,)))
    verification = verification_of(run_pair(power, power, slots))
    assert verification.passed
    assert verification.recipe == "small"


def test_an_amplified_rounding_error_is_not_mistaken_for_a_mistake() -> None:
    chaos = """
    void f(int n, double *A) { for (int t = 0; t < 200; t++) for (int i = 0; i < n; i++) {
        double x = A[i] - (long)A[i]; x = x < 0 ? -x : x; A[i] = 4 * x * (1 - x) + 0.0625; } }"""
    slots = (slot("n", "int32", value=50), slot("A", "float64", shape=(50,)))
    verification = verification_of(run_pair(chaos, chaos, slots))
    assert not verification.well_conditioned
    assert verification.amplification > 1e-9


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_are_compared_exactly(dtype: str) -> None:
    c_type = BY_NAME[dtype].c_name
    text = f"void f(int n, {c_type} *A) {{ for (int i = 0; i < n; i++) A[i] = A[i] * 3 + i; }}"
    slots = (slot("n", "int32", value=33), slot("A", dtype, shape=(33,)))
    assert verification_of(run_pair(text, text, slots)).passed
    off_by_one = verification_of(run_pair(text, text.replace("+ i", "+ i + (i == 32)"), slots))
    assert (off_by_one.mismatches, off_by_one.largest_absolute) == (1, 1)


@pytest.mark.parametrize("dtype", ["float32", "longdouble", "float16"])
def test_other_floats_are_compared_within_their_tolerance(dtype: str) -> None:
    c_type = BY_NAME[dtype].c_name
    text = f"void f(int n, {c_type} *A) {{ for (int i = 0; i < n; i++) A[i] = A[i] / 3 + 1; }}"
    slots = (slot("n", "int32", value=33), slot("A", dtype, shape=(33,)))
    assert verification_of(run_pair(text, text, slots)).passed
    assert verification_of(run_pair(text, text.replace("/ 3", "/ 4"), slots)).mismatches == 33


def test_static_functions_file_scope_variables_results_and_main() -> None:
    text = """
    static int N = 5;
    static double table[3] = {1, 2, 3};
    double grid[10];
    double *heap;
    static double f(double s) {
      for (int i = 0; i < N; i++) { grid[i] += s * table[i % 3]; heap[i] = 2 * grid[i]; }
      return grid[0];
    }
    int main(int argc, char **argv) { return 1; }
    """
    slots = (slot("s", "float64"),
             slot("N", "int32", origin=Origin.GLOBAL, value=7),
             slot("table", "float64", origin=Origin.GLOBAL, shape=(3,)),
             slot("grid", "float64", origin=Origin.GLOBAL, shape=(10,)),
             slot("heap", "float64", origin=Origin.POINTER, shape=(10,)),
             slot("return value", "float64", origin=Origin.RESULT, is_array=False))
    verification = verification_of(run_pair(text, text, slots, pairs=2))
    assert verification.passed
    changed = {c.array for c in verification.arrays if c.changed}
    assert changed == {"grid", "heap", "return value"}
    broken = verification_of(run_pair(text, text.replace("return grid[0]", "return grid[1]"), slots))
    assert [c.array for c in broken.arrays if c.mismatches] == ["return value"]
    size_counts = verification_of(run_pair(text, text.replace("i < N", "i < 6"), slots))
    assert {c.array: c.mismatches for c in size_counts.arrays if c.mismatches} == {"grid": 1, "heap": 1}


def test_main_itself_can_be_called() -> None:
    text = "double A[9]; int main(void) { for (int i = 0; i < 9; i++) A[i] += 1; return 3; }"
    slots = (slot("A", "float64", origin=Origin.GLOBAL, shape=(9,)),
             slot("return value", "int32", origin=Origin.RESULT, is_array=False))
    assert verification_of(run_pair(text, text, slots, function="main")).passed


def test_index_arrays_stay_in_bounds() -> None:
    text = "void f(int n, double *A, const int *index) { for (int i = 0; i < n; i++) A[index[i]] += 1; }"
    slots = (slot("n", "int32", value=500), slot("A", "float64", shape=(40,)),
             slot("index", "int32", shape=(500,), index_extent=40))
    assert verification_of(run_pair(text, text, slots)).passed


@pytest.mark.parametrize("offset", [-1, 100, 140])
def test_a_write_outside_an_array_is_seen(offset: int) -> None:
    stray = SCALE.replace("}", f" A[{offset}] = 1; }}", 1)
    verification = verification_of(run_pair(SCALE, stray))
    assert verification.problem == "the transformed code writes outside the array A"
    assert not verification.passed


def test_a_crash_says_which_code_crashed() -> None:
    ended = run_pair(SCALE, "void f(int n, double *A, double s) { *(volatile int *)8 = n; }")
    assert ended.describe().startswith("crashed with SIGSEGV after ")
    assert ended.describe().endswith("while it was running the transformed code")


def test_an_integer_division_by_zero_is_a_crash() -> None:
    ended = run_pair("volatile int z; void f(int n, double *A, double s) { A[0] = n / z; }", SCALE)
    assert (ended.end, ended.signal_name, ended.phase) == (End.CRASHED, "SIGFPE", "running the original code")


def test_a_hang_says_which_code_hung() -> None:
    ended = run_pair(SCALE, "void f(int n, double *A, double s) { for (volatile int i = 0;;) i++; }",
                     limits=Limits(seconds=1.5))
    assert ended.end is End.HUNG
    assert ended.describe().endswith("while it was running the transformed code")


def test_an_array_that_does_not_fit_is_a_memory_failure() -> None:
    slots = (slot("n", "int32", value=100), slot("A", "float64", shape=(1 << 27,)), slot("s", "float64"))
    ended = run_pair(SCALE, SCALE, slots, limits=Limits(memory_bytes=256 << 20))
    assert (ended.end, ended.phase) == (End.MEMORY, "allocating the arrays")


def test_code_that_eats_memory_is_a_memory_failure() -> None:
    eater = """
    #include <stdlib.h>
    #include <string.h>
    void f(int n, double *A, double s) { for (;;) memset(malloc(1 << 24), 1, 1 << 24); }"""
    ended = run_pair(SCALE, eater, limits=Limits(memory_bytes=256 << 20))
    assert ended.end is End.MEMORY
    assert "the limit is 256 MiB while it was running the transformed code" in ended.describe()


def test_code_that_exits_is_reported(tmp_path: Path) -> None:
    ended = run_pair(SCALE, '#include <stdlib.h>\nvoid f(int n, double *A, double s) { exit(3); }')
    assert (ended.end, ended.exit_status) == (End.FAILED, 3)


def test_lost_updates_are_seen_although_threads_start_late() -> None:
    """Without a barrier the first call's second thread often starts after the first one is done."""
    serial = "void f(int n, double *A, double s) { for (int i = 0; i < 40000000; i++) A[0] += 1; }"
    racy = """
    void f(int n, double *A, double s) {
      #pragma omp parallel for
      for (int i = 0; i < 40000000; i++) *(volatile double *)A += 1;
    }"""
    assert not verification_of(run_pair(serial, racy)).passed


def test_a_write_outside_of_an_array_is_seen() -> None:
    guarded = allocate("float64", (4,))
    session = Session.__new__(Session)
    session.places = [Place("a", "float64", "argument", None, None, guarded, {"v": guarded.values}, np.zeros(4))]
    assert session.overwritten() is None
    guarded.memory[guarded.start - 1] ^= 1
    assert session.overwritten() == "a"
