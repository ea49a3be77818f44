"""Saved models: a C program that is compiled by gcc alone computes what Python computes."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.graph import from_text, interpret
from polysched.model import CompiledModel, compile_graph

TEXT = """graph f(x y: float32[N, 6], n: int64[2]) {
  const w: float32[6, 8] = [VALUES]
  const b: float32[1] = [0.5]
  let m = MatMul(x y, w)
  let t = Transpose(m; perm=[1, 0])
  let y = Add(t, b)
  let k = Add(n, n)
  return y, k
}"""
PROGRAM = """#include <stdio.h>
#include "twice.h"
int main(void) {
  float x[12], y[16];
  long n[2] = {3, 4}, k[2], sizes[1] = {2}, none[1] = {0};
  for (int i = 0; i < 12; i++) x[i] = i;
  const void *inputs[] = {x, n};
  void *outputs[] = {y, k};
  if (twice_open("driver.c")) return 1;
  twice_model *model = twice_open("twice.weights");
  if (!model || twice_run(model, none, inputs, outputs) != -1 || twice_run(model, sizes, inputs, outputs)) return 1;
  for (int bits = 38; bits < 63; bits++) {
    const long most[2] = {1l << bits, 6}, length[1] = {2}, *shapes[2] = {most, length};
    if (twice_run(model, most, inputs, outputs) != -1 || twice_sizes_of(shapes, none) != -(bits > 40)) return 1;
  }
  if (twice_run(model, sizes, inputs, outputs)) return 1;
  if (twice_output_extent(0, 1, sizes) != 2 || twice_output[0].rank != 2) return 1;
  for (int i = 0; i < 16; i++) printf("%g ", y[i]);
  printf("%ld %ld\\n", k[0], k[1]);
  twice_close(model);
  return 0;
}
"""


@pytest.fixture(scope="module")
def model() -> CompiledModel:
    graph = from_text(TEXT.replace("x y", "x").replace("VALUES", ", ".join(str(v) for v in range(48))))
    return compile_graph(graph)


@pytest.fixture(scope="module")
def program(model: CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the source, built."""
    folder = model.write_source(tmp_path_factory.mktemp("source") / "out")
    subprocess.run(["sh", "build.sh"], cwd=folder, check=True)
    return folder


def wanted(model: CompiledModel, rows: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    given = {"x": np.arange(6 * rows, dtype=np.float32).reshape(rows, 6), "n": np.array([3, 4])}
    return given, interpret(model.graph, given)


def test_a_shared_object_runs_without_python(model: CompiledModel, tmp_path: Path) -> None:
    library, header, weights = model.save(tmp_path / "twice.so")
    assert [p.name for p in (library, header, weights)] == ["twice.so", "twice.h", "twice.weights"]
    (tmp_path / "main.c").write_text(PROGRAM)
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler is not None
    subprocess.run([compiler, "-Wall", "-Werror", "-o", "main", "main.c", "./twice.so"], cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True)
    _, right = wanted(model, 2)
    found = [float(v) for v in done.stdout.split()]
    assert found == [*right["y"].ravel(), *right["k"]]


def test_source_reads_and_writes_npy_files(model: CompiledModel, program: Path, tmp_path: Path) -> None:
    for rows in (1, 5):
        given, right = wanted(model, rows)
        for name, array in given.items():
            np.save(tmp_path / f"{name}.npy", array)
        subprocess.run([program / "model", program / "model.weights", tmp_path, tmp_path / "x.npy", tmp_path / "n.npy"],
                       check=True)
        for place, name in enumerate(right):
            assert np.array_equal(np.load(tmp_path / f"output_{place}.npy"), right[name])


@pytest.mark.parametrize(("array", "message"), [
    (np.zeros((2, 6), np.float64), "has elements <f4 and 2 dimensions"),
    (np.zeros(6, np.float32), "has elements <f4 and 2 dimensions"),
    (np.zeros((2, 6), np.float32, order="F"), "has elements <f4 and 2 dimensions"),
    (np.zeros((2, 5), np.float32), "the shapes of the inputs are not those of the model"),
    (np.zeros((0, 6), np.float32), "the shapes of the inputs are not those of the model"),
    (None, "no array can be read")])
def test_arrays_of_another_kind_are_refused(program: Path, tmp_path: Path, array: np.ndarray | None,
                                            message: str) -> None:
    np.save(tmp_path / "n.npy", np.array([3, 4]))
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY") if array is None else np.save(tmp_path / "x.npy", array)
    done = subprocess.run([program / "model", program / "model.weights", tmp_path, tmp_path / "x.npy",
                           tmp_path / "n.npy"], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr


def test_other_endings_are_refused(model: CompiledModel, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"saved as a \.so file"):
        model.save(tmp_path / "model.dll")


@pytest.mark.parametrize("name", ["int", "main", "driver", "close", "file", "ENTRY", "polysched_model", "_stdio",
                                  "a-b"])
def test_any_name_makes_a_library_and_a_program(model: CompiledModel, tmp_path: Path, name: str) -> None:
    library, header, _ = model.save(tmp_path / f"{name}.so")
    (tmp_path / "main.c").write_text(f'#include <stdio.h>\n#include <unistd.h>\n#include "{header.name}"\n'
                                     f"int main(void) {{ return {header.stem}_open(\"none\") != 0; }}\n")
    subprocess.run(["cc", "-Wall", "-Werror", "-o", "uses", "main.c", library.name, "-Wl,-rpath,."], cwd=tmp_path,
                   check=True)
    subprocess.run(["./uses"], cwd=tmp_path, check=True)
    folder = model.write_source(tmp_path / "source", name)
    subprocess.run(["sh", "build.sh"], cwd=folder, check=True)
    assert (folder / header.stem).is_file()


def test_weights_that_are_mapped_stay_when_the_model_is_saved_again(model: CompiledModel, tmp_path: Path) -> None:
    weights = model.save(tmp_path / "m.so")[2]
    with weights.open("rb") as before:
        model.save(tmp_path / "m.so")
        assert os.fstat(before.fileno()).st_ino != weights.stat().st_ino
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.h", "m.so", "m.weights"]


def test_a_program_refuses_sizes_that_make_an_extent_negative(tmp_path: Path) -> None:
    graph = from_text("graph f(x: float32[1, 1, N], w: float32[1, 1, 5]) {\n  let y = Conv(x, w)\n  return y\n}")
    folder = compile_graph(graph).write_source(tmp_path / "source")
    subprocess.run(["sh", "build.sh"], cwd=folder, check=True)
    for name, extent in (("x", 2), ("w", 5)):
        np.save(tmp_path / f"{name}.npy", np.ones((1, 1, extent), np.float32))
    done = subprocess.run([folder / "model", folder / "model.weights", tmp_path, tmp_path / "x.npy",
                           tmp_path / "w.npy"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "the shapes of the inputs are not those of the model\n")
