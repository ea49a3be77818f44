"""Block programs on Triton, whose interpreter reads its variable when Python starts: in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.errors import DeviceError, UnsupportedScopError
from polysched.kernel.triton_calls import is_on_gpu, stand_ins, triton_module
from polysched.scop.block_frontend import read_block_program
from tests.kernel.block_programs import matmul, vector_add

ROOT = Path(__file__).parents[2]
HAS_TRITON = importlib.util.find_spec("triton") is not None and importlib.util.find_spec("torch") is not None
needs_triton = pytest.mark.skipif(not HAS_TRITON, reason="no Triton: python -m pip install -e '.[triton]'")

ALL_PROGRAMS = """\
import numpy as np
import polysched
from tests.kernel.block_programs import EXAMPLES
for name, example in EXAMPLES.items():
    program = polysched.block_program(example.function, target="triton")
    for size in (7, 33):
        arguments = example.arguments(size, np.random.default_rng(size))
        expected = example.expected(**arguments)
        program(**arguments)
        print(name, size, float(np.abs(arguments[example.result] - expected).max()))
"""

SPECIAL_CALLS = """\
import numpy as np, torch
import polysched
from polysched.errors import UnsupportedScopError
from tests.kernel import masked_programs
from tests.kernel.block_programs import layer_norm, matmul, vector_add
from tests.kernel.test_block_program import neighbour, twice
add = polysched.block_program(vector_add, target="triton")
x, out = np.arange(10.0), np.zeros(10)
add(x[::-1], x[::-1], out[::-1])
assert np.array_equal(out, 2 * x)
tensor = torch.zeros(10)
add(torch.ones(10), torch.ones(10), tensor, BLOCK=4)
assert torch.equal(tensor, torch.full((10,), 2.0))
x, before = np.arange(11.0), np.zeros(11)
polysched.block_program(twice, target="triton")(x, x, before)
assert np.array_equal(before, np.arange(11.0)) and np.array_equal(x, before + 1)
C = np.ones((3, 4))
polysched.block_program(matmul, target="triton")(np.zeros((3, 0)), np.zeros((0, 4)), C)
assert not C.any()
X, Y = np.array([[1.0, 1.0 + 1e-9]]), np.zeros((1, 2))
polysched.block_program(layer_norm, target="triton")(X, np.ones(2), np.zeros(2), Y, 2.0, 1e-17 / 3)
assert abs(Y[0, 1] - 0.5e-9 / np.sqrt(X.var() + 1e-17 / 3)) < 1e-6, Y
for function in masked_programs.APART:
    found = []
    for target in (None, "triton"):
        x, out = np.arange(1.0, 22.0), np.zeros(21)
        program = polysched.block_program(function, target=target)
        arguments = (out,) if function is masked_programs.masked_read else (x, out)
        program(*arguments) if target else program.with_constants().function(*arguments)
        found.append(out)
    assert np.array_equal(*found), (function, found)
try:
    polysched.block_program(neighbour, target="triton")(np.zeros(20))
except UnsupportedScopError as error:
    print("refused:", error)
"""

WORDS = """\
import numpy as np
import polysched
from tests.kernel.worded_programs import EVERY
for function, kind in EVERY:
    random = np.random.default_rng(3)
    if np.issubdtype(kind, np.integer):
        x, y = (random.integers(-90, 90, (5, 8)).astype(kind) for _ in range(2))
        y[y == 0] = 7
    else:
        x, y = (random.uniform(-4, 4, (5, 8)).astype(kind) for _ in range(2))
        x[1, 2] = y[3, 0] = np.nan
    found = []
    for target in (None, "triton"):
        out = np.zeros((5, 8), np.int32 if kind is np.int8 else kind)
        program = polysched.block_program(function, target=target)
        with np.errstate(over="ignore"):
            (program if target else program.with_constants().function)(x.copy(), y.copy(), out)
        found.append(out)
    step = 0 if np.issubdtype(kind, np.integer) else np.finfo(kind).eps
    assert np.allclose(*found, rtol=8 * step, atol=40 * step, equal_nan=True), (function, kind, found)
"""


def interpreted(text: str) -> subprocess.CompletedProcess[str]:
    """Run Python with Triton's interpreter."""
    variables = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False,
                          cwd=ROOT, env=variables)


@needs_triton
def test_all_programs_compute_what_the_mathematics_says() -> None:
    done = interpreted(ALL_PROGRAMS)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [line.split() for line in done.stdout.splitlines()]
    assert len(found) == 14
    assert all(float(difference) < 1e-13 for _, _, difference in found), found


@needs_triton
def test_views_tensors_aliases_empty_arrays_small_numbers_and_races() -> None:
    done = interpreted(SPECIAL_CALLS)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("refused: neighbour: two programs write and read one element of out")


@needs_triton
def test_words_of_triton_that_mean_less_than_ours() -> None:
    done = interpreted(WORDS)
    assert done.returncode == 0, done.stderr[-2000:]


@needs_triton
def test_without_a_gpu_it_says_how_to_run() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET") == "1":
        pytest.skip("there is a GPU, or the interpreter")
    x = np.arange(9.0)
    with pytest.raises(DeviceError, match="PyTorch finds none") as refused:
        polysched.block_program(vector_add, target="triton")(x, x, np.zeros(9))
    assert "TRITON_INTERPRET=1" in str(refused.value)


def test_without_triton_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(DeviceError, match="there is no Triton"):
        triton_module(read_block_program(vector_add, {}))


def test_edges_that_triton_lacks_are_refused_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(UnsupportedScopError, match="BM is 12"):
        triton_module(read_block_program(matmul, {"BM": 12}))


class OnGpu:
    """A tensor in a GPU's memory, as far as the checks look."""

    class device:
        type = "cuda"

    dtype, shape = "torch.float32", (3, 4)

    def data_ptr(self) -> int:
        return 64


def test_tensors_of_a_gpu_are_checked_by_their_types_and_shapes() -> None:
    tensor, array = OnGpu(), np.zeros(2)
    found = stand_ins({"A": tensor, "B": tensor, "C": array, "n": 3})
    assert (found["A"].shape, found["A"].dtype) == ((3, 4), np.float32)
    assert found["A"] is found["B"]
    assert found["C"] is array
    assert found["n"] == 3
    assert is_on_gpu(tensor)
    assert not is_on_gpu(array)
