"""What importing the pipeline loads, and what a first call of a kernel loads once its code is known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("IPython", "jinja2", "matplotlib", "networkx", "onnx", "onnxruntime", "ortools", "pandas", "pysat", "rich",
         "scipy", "sympy", "torch", "triton")
LOADED = f"import sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))\n"
KERNEL = """
import numpy as np
import polysched

@polysched.kernel
def added(x, y):
    for i in range(x.shape[0]):
        x[i] += 2.0 * y[i]

x = np.zeros(9)
added(x, np.ones(9))
assert (x == 2).all()
"""


FINISHED = """
import gc
import polysched.pipeline
kinds = [kind for kind in gc.get_objects() if isinstance(kind, type) and kind.__module__.startswith("polysched.")]
records = [vars(kind)["__dataclass_fields__"] for kind in kinds if "__dataclass_fields__" in vars(kind)]
print(len(records), sum(isinstance(fields, dict) for fields in records))
"""


def loaded(text: str, folder: Path) -> str:
    """The heavy modules that are loaded behind a program."""
    program = folder / "program.py"    # kernels are read from their files
    program.write_text(text + LOADED)
    return subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("module", ["polysched", "polysched.pipeline", "polysched.kernel", "polysched.cli"])
def test_imports_load_no_solver_and_no_plotting(module: str, tmp_path: Path) -> None:
    assert loaded(f"import {module}\n", tmp_path) == ""


def test_an_import_finishes_few_records(tmp_path: Path) -> None:
    """Their methods are what `dataclasses` would have taken half of the time for (`polysched.records`)."""
    records, finished = map(int, loaded(FINISHED, tmp_path).split())
    assert records > 400
    assert finished < records // 6


def test_the_version_loads_nothing(tmp_path: Path) -> None:
    text = "import sys\nfrom polysched.cli import main\ntry:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
    text += "assert 'polysched.scheduling' not in sys.modules and 'numpy' not in sys.modules\n"
    assert loaded(text, tmp_path).splitlines()[1:] in ([], [""])


def test_a_first_call_of_a_known_kernel_solves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path / "cache"))
    loaded(KERNEL, tmp_path)
    assert loaded(KERNEL, tmp_path) == ""
