"""Programs of the kinds that generators of device code have got wrong: what is live, sparse, strided, or not there.

The kinds are those that the tests of PPCG guard (strides of instances, statements that are not parallel, sparse
copies, arrays that are not accessed, scalars that live on); the programs are ours.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.pipeline.files import transform_file
from polysched.pipeline.options import PipelineOptions
from tests.emit_gpu.emitted import EXACT, largest_difference, needs_device, verified
from tests.tiers import and_campaign

PROGRAMS = {
    "strides of instances": (
        "int n, int a[n], int b[n]", "for (int i = 0; i < 3 * n; i += 3) b[i / 3] = a[i / 3] + i;"),
    "a scalar between statements": (
        "int n, double b[n], double s", "b[0] = 2; s = b[0]; for (int i = 1; i < n; i++) b[i] = s + i;"),
    "elements in between": (
        "int n, double a[n], double b[2 * n]", "for (int i = 0; i < n; i++) b[2 * i] = 3 * a[i] + b[2 * i];"),
    "arrays that no size accesses": (
        "int n, int m, double a[n], double b[n], double c[n]",
        "for (int i = 0; i < n; i++) { c[i] = 2 * c[i]; if (m > 1000) b[i] = a[i] + c[i]; }"),
    "a variable of the loop": (
        "int n, double a[n][n], double b[n]",
        "for (int i = 0; i < n; i++) { double t = 0; for (int j = 0; j < n; j++) t += a[i][j] * b[j]; a[i][0] = t; }"),
    "numbers of loops as values": (
        "int n, float a[n][n]",
        "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) a[i][j] = i * 7 - j + a[j][i];"),
    "half of it written before all is read": (
        "int n, double a[2 * n], double b[2 * n]",
        "for (int i = 0; i < n; i++) a[i] = i; for (int i = 0; i < 2 * n; i++) b[i] = a[i] + a[2 * n - 1 - i];"),
    "writes that depend on data": (
        "int n, double a[n], double b[n]",
        "for (int i = 0; i < n; i++) if (a[i] > 0.5) b[i] = a[i]; else a[i] = b[i];"),
    "one in three": (
        "int n, double a[n], double b[n]",
        "for (int i = 0; i < n; i++) { if (i % 3 == 0) a[i] = b[i]; if (i % 3 == 2) b[i] = a[i - 2]; }"),
    "downwards": (
        "int n, double a[n][n]", "for (int i = n - 1; i >= 1; i -= 2) for (int j = n - 2; j >= 0; j--) "
        "a[i][j] = a[i - 1][j] - a[i][j];"),
    "exchanged in place": (
        "int n, double a[n][n]", "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) "
        "{ double t = a[i][j]; a[i][j] = a[j][i]; a[j][i] = t; }"),
    "five coincident loops": (
        "int n, float a[n][3][n][2][n], float b[n][3][n][2][n]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < n; k++) "
        "for (int l = 0; l < 2; l++) for (int m = 0; m < n; m++) a[i][j][k][l][m] = b[m][j][k][l][i];"),
    "dead values": (
        "int n, double a[n], double b[n]", "for (int i = 0; i < n; i++) { a[i] = 5; a[i] = b[i] * i; b[i] = 1; }"),
    "iterations of the host that are left out": (
        "int n, int a[n], int b[n]",
        "for (int t = 0; t < n; t++) { if (t != 3) for (int i = 1; i < n; i++) b[i] = b[i] - a[i - 1]; "
        "if (t % 4 == 1) for (int i = 0; i < n; i++) a[i] = 3 * a[i] + b[t] + a[i] / 5; }"),
    "some of them at both ends": (
        "int n, int a[n], int b[n]",
        "for (int t = 0; t < n; t++) { for (int i = t + 3; i < n - t; i++) b[i] = b[i] - a[i - 1]; "
        "if (t < 4 || t > 9) for (int i = t / 2; i < n; i++) a[i] = 3 * a[i] + b[n - 1 - t] + a[i] / 5; }"),
    "a window that is not aligned": (
        "int n, double a[n + 9], double b[n]",
        "for (int i = 0; i < n; i++) for (int k = 0; k < 9; k++) b[i] += a[i + k] * (k + 1);")}
QUICK = ["elements in between", "iterations of the host that are left out"]


def written(name: str, folder: Path) -> Path:
    arguments, body = PROGRAMS[name]
    path = folder / "f.c"
    path.write_text(f"void f({arguments}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    return path


def sizes_of(name: str, n: int) -> dict[str, int]:
    return {"n": n, "m": 7} if "int m," in PROGRAMS[name][0] else {"n": n}


@pytest.mark.parametrize("name", and_campaign(QUICK, [n for n in PROGRAMS if n not in QUICK]))
def test_opencl(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    path = written(name, tmp_path)
    for n in (5, 19):
        assert largest_difference(verified(path, sizes_of(name, n))) == 0


@pytest.mark.parametrize("name", and_campaign(QUICK[:1], [n for n in PROGRAMS if n not in QUICK[:1]]))
def test_cuda_in_descending_order(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", "1")
    monkeypatch.setenv("POLYSCHED_CUDA_BUILD", "--fmad=false")
    path = written(name, tmp_path)
    assert largest_difference(verified(path, sizes_of(name, 37), PipelineOptions(device="cuda"))) == 0


def test_what_has_no_parallel_loop_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("void f(int n, double a[n], double b[n]) {\n#pragma scop\n"
                                  "for (int i = 0; i < n; i++) a[i / 4] = b[i];\n#pragma endscop\n}\n")
    with pytest.raises(UnsupportedScopError, match="no loop can run on many work items"):
        transform_file(tmp_path / "f.c", PipelineOptions(device="opencl"))
