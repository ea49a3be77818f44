"""The scheduler's C: compiles without a warning, and expects of a tile what its yields say."""

import ctypes
from pathlib import Path

from polysched.measure.processes.building import compile_shared
from polysched.runtime.scheduler_source import SCHEDULER
from polysched.target import find_compiler


def test_it_compiles_without_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "scheduler.c"
    source.write_text(SCHEDULER)
    done = find_compiler(None).run(["-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-fsyntax-only", str(source)],
                                   folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_tile_is_expected_to_take_what_most_yields_say(tmp_path: Path) -> None:
    """A yield during which the system ran something else is no reason to throw the next runs away."""
    asked = "\n__attribute__((visibility(\"default\")))\n" \
            "double expected(const double *seconds, long count, double said) {\n" \
            "  struct job j = {.tile_seconds = said};\n" \
            "  for (long n = 0; n < count; n++)\n    has_yielded(&j, seconds[n]);\n  return tile_seconds_of(&j);\n}\n"
    library = compile_shared(SCHEDULER + asked, name="expected", folder=tmp_path, compiler=find_compiler(None),
                             flags=("-O1", "-pthread"), openmp=False)
    expected = ctypes.CDLL(str(library.path)).expected
    expected.restype = ctypes.c_double

    def of(seconds: list[float], said: float = 0.0) -> float:
        return float(expected((ctypes.c_double * len(seconds))(*seconds), ctypes.c_long(len(seconds)),
                              ctypes.c_double(said)))

    assert of([]) == 0
    assert of([3e-6]) == 6e-6
    assert of([5e-6, 1e-6, 3e-6]) == 6e-6
    assert of([1e-6, 4e-3]) == 2e-6
    assert of([2e-6] * 8 + [4e-3] * 7) == 4e-6
    assert of([2e-6] * 8 + [1e-4] * 8) == 2e-4   # the first is forgotten
    assert of([5e-6], said=1.0) == 1.0
