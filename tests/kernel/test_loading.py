"""How long threads of OpenMP's runtime spin: what the runtime is told when a library brings it into the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from polysched.kernel.limits import LIMITS
from polysched.kernel.loading import RUNTIME, is_loaded
from polysched.measure.processes.building import compile_shared
from polysched.target import find_compiler

TEXT = """
#pragma GCC visibility push(default)
int omp_get_max_threads(void);
char *getenv(const char *);
static const char *seen;
__attribute__((constructor)) static void look(void) { seen = getenv("GOMP_SPINCOUNT"); }
const char *spin(void) { return seen ? seen : "none"; }
int threads(void) { return omp_get_max_threads(); }
"""
PROGRAM = """
import ctypes, os, sys
from pathlib import Path
from polysched.kernel.loading import is_loaded, load
before = is_loaded("libgomp.so.1")
for _ in range(2):
    library = load(Path(sys.argv[1]))
    library.spin.restype = ctypes.c_char_p
print(before, is_loaded("libgomp.so.1"), library.spin().decode(), os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spin")
    compile_shared(TEXT, name="spin", folder=folder, compiler=find_compiler())
    return folder / "spin.so"


@pytest.mark.parametrize(("variables", "seen"), [
    ({}, str(LIMITS.spin_turns)), ({"OMP_WAIT_POLICY": "active"}, "none"), ({"GOMP_SPINCOUNT": "7"}, "7")])
def test_the_runtime_is_told_where_nobody_else_does(library: Path, variables: dict[str, str], seen: str,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(library)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", seen, variables.get("GOMP_SPINCOUNT", "None")]


def test_a_library_that_is_nowhere_is_not_loaded() -> None:
    assert not is_loaded("libpolysched_nowhere.so.1")
    assert RUNTIME.startswith("libgomp")
