"""Copies to shared memory: vectors where every row starts at one, single elements elsewhere, nothing behind the end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from polysched.emit_gpu import emit
from polysched.emit_gpu.interface import INTERFACES
from polysched.pipeline.options import PipelineOptions
from tests.emit_gpu.emitted import EXACT, largest_difference, needs_device, verified
from tests.emit_gpu.test_races_and_bounds import complaints
from tests.gpu.mapped import mapped
from tests.gpu.staged import BATCH, TRIANGLE, WINDOW
from tests.tiers import and_campaign


@dataclass(frozen=True)
class Rows:
    """Of `m` elements, of which a product of size `n` reads those from `offset` on."""

    c_type: str
    n: int
    m: int
    offset: int


def product(c_type: str, offset: int = 0) -> str:
    """Rows of `m` elements, of which a product reads `n` from `offset` on."""
    return (f"void f(int n, int m, {c_type} C[n][n], {c_type} A[n][m], {c_type} B[n][m]) {{\n#pragma scop\n"
            "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      for (int k = 0; k < n; k++)\n"
            f"        C[i][j] += A[i][k + {offset}] * B[k][j + {offset}];\n#pragma endscop\n}}\n")


@pytest.mark.parametrize(("c_type", "vector"), [("double", "double2"), ("float", "float4"), ("int", "int4"),
                                                ("unsigned", "uint4")])
def test_the_widest_vectors_of_a_type(c_type: str, vector: str) -> None:
    opencl, cuda = (emit(mapped(product(c_type)), INTERFACES[name]).program for name in ("opencl", "cuda"))
    assert f"*(__local {vector} *)&A_tile[" in opencl
    assert f"= *(const __global {vector} *)&A[at0 * A_1 + at1];" in opencl
    assert f"*({vector} *)&B_tile[" in cuda
    assert "__shared__ __align__(16) " in cuda


@pytest.mark.parametrize("text", [BATCH, product("short"), product("signed char")])
def test_short_types_are_copied_one_by_one(text: str) -> None:
    program = emit(mapped(text), INTERFACES["cuda"]).program
    assert "_tile[element" in program
    assert "__align__" not in program


def test_a_box_whose_rows_no_vector_fills_is_copied_one_by_one() -> None:
    """The rows of x in a window of 8 are 39 long, those of w are 8."""
    program = emit(mapped(WINDOW), INTERFACES["cuda"]).program
    assert "float4 *)&w_tile" in program
    assert "float4 *)&x_tile" not in program


def test_rows_are_aligned_where_the_first_two_are() -> None:
    first, next_row = (f"(unsigned long)&A[{row} * A_1 + block_y]" for row in ("tile", "(tile + 1)"))
    assert f"if ((({first} | {next_row}) & 15) == 0)" in emit(mapped(TRIANGLE), INTERFACES["opencl"]).program


CASES = [Rows(c_type, n, m, offset) for c_type in ("float", "double", "int")
         for n, m, offset in ((36, 36, 0), (37, 37, 0), (38, 40, 0), (38, 40, 1), (38, 42, 2))]
QUICK = [Rows("float", 38, 40, 0), Rows("float", 37, 37, 0)]
"""All vectors whole; no row aligned; rows that end within a vector; columns that start within one."""


def differs(case: Rows, folder: Path, device: str) -> float:
    (folder / "f.c").write_text(product(case.c_type, case.offset))
    return largest_difference(verified(folder / "f.c", {"n": case.n, "m": case.m}, PipelineOptions(device=device)))


@pytest.mark.parametrize("case", and_campaign(QUICK, [case for case in CASES if case not in QUICK]))
def test_opencl(case: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    monkeypatch.setenv("POLYSCHED_OPENCL_BUILD", EXACT)
    assert differs(case, tmp_path, "opencl") == 0


@pytest.mark.parametrize("case", and_campaign(QUICK, [case for case in CASES if case not in QUICK]))
def test_cuda_on_the_cpu(case: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    assert differs(case, tmp_path, "cuda") == 0


def test_no_vector_reads_behind_the_end(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(product("float").replace("int n, int m", "int n").replace("[m]", "[n]"))
    for n in (8, 10):
        assert complaints(tmp_path / "f.c", n) == ""
