"""Regions in the affine dialect compute what the program does; where mlir-opt is installed, it verifies them."""

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c.mlir import affine_text
from polysched.errors import UnsupportedScopError
from polysched.scheduling import original, pluto
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule
from tests.emit_c.mlir.interpreted import run
from tests.emit_c.mlir.tool import needs_mlir, through_mlir


def scop_of(declarations: str, loops: str) -> Scop:
    return from_c_text(f"void f({declarations}) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}")


PRODUCT = ("int n, double C[n][n], double A[n][n], double B[n][n]",
           "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "
           "C[i][j] += A[i][k] * B[k][j];")
JACOBI = ("int t_end, int n, double a[n], double b[n]",
          "for (int t = 0; t < t_end; t++) {"
          " for (int i = 1; i < n - 1; i++) b[i] = (a[i-1] + a[i+1]) / 2;"
          " for (int i = 1; i < n - 1; i++) a[i] = b[i]; }")
TRIANGLE = ("int n, double a[n][n], double s",
            "for (int i = 0; i < n; i += 2) for (int j = i; j < n; j++) if (i + j > n / 2) "
            "{ a[i][j] = a[i][j] > 1 ? a[i][j] : i - 2.5; s -= a[i][j % 3]; }")

NAMES = ("int i0, double v0[i0], double v1[i0], double i_[i0]",
         "for (int i = 0; i < i0; i++) v0[i] = v1[i] + v1[i] * i_[i];")


def test_the_text_of_a_product() -> None:
    schedule = original(analyse(scop_of(*PRODUCT)))
    assert affine_text(TiledSchedule(schedule=schedule, tree=schedule.tree)) == """\
func.func @f(%n: index, %C: memref<?x?xf64>, %A: memref<?x?xf64>, %B: memref<?x?xf64>) attributes {extents = [\
affine_map<()[s0] -> (s0, s0)>, affine_map<()[s0] -> (s0, s0)>, affine_map<()[s0] -> (s0, s0)>]} {
  affine.for %i0 = 0 to affine_map<()[s0] -> (s0)>()[%n] {
    affine.for %i1 = 0 to affine_map<()[s0] -> (s0)>()[%n] {
      affine.for %i2 = 0 to affine_map<()[s0] -> (s0)>()[%n] {
        %v0 = affine.load %A[%i0, %i2] : memref<?x?xf64>
        %v1 = affine.load %B[%i2, %i1] : memref<?x?xf64>
        %v2 = arith.mulf %v0, %v1 : f64
        %v3 = affine.load %C[%i0, %i1] : memref<?x?xf64>
        %v4 = arith.addf %v3, %v2 : f64
        affine.store %v4, %C[%i0, %i1] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("declarations", "head"), [
    ("int n, double a[2][n + 1], float b", "(%n: index, %b: memref<f32>, %a: memref<2x?xf64>) attributes {extents = "
     "[affine_map<()[s0] -> ()>, affine_map<()[s0] -> (2, s0 + 1)>]} {"),
    ("int n, double a[4][8], float b", "(%n: index, %b: memref<f32>, %a: memref<4x8xf64>) {"),
    ("int n, double (*a)[3 * n], float b", "(%n: index, %b: memref<f32>, %a: memref<?x?xf64>) attributes {extents = "
     "[affine_map<()[s0] -> ()>, affine_map<()[s0] -> (s0 * 3)>]} {"),
])
def test_the_extents_stand_in_the_head(declarations: str, head: str) -> None:
    schedule = original(analyse(scop_of(declarations, "for (int i = 0; i < n; i++) a[1][i] = b;")))
    text = affine_text(TiledSchedule(schedule=schedule, tree=schedule.tree))
    assert text.startswith(f"func.func @f{head}\n")


@pytest.mark.parametrize("tiles", ["off", 4])
@pytest.mark.parametrize("program", [PRODUCT, JACOBI, TRIANGLE, NAMES])
@pytest.mark.parametrize("scheduler", [original, pluto])
def test_it_computes_what_the_program_does(program: tuple[str, str], tiles: object, scheduler: object) -> None:
    scop = scop_of(*program)
    assert callable(scheduler)
    text = affine_text(tile(scheduler(analyse(scop)), TilingOptions(sizes=tiles, register=False)))
    sizes = {p.name: {"t_end": 3}.get(p.name, 7) for p in scop.parameters}
    random = np.random.default_rng(3)
    given = {a.name: random.integers(0, 4, (7,) * len(a.extents)).astype(float) for a in scop.arrays}
    expected = {name: array.copy() for name, array in given.items()}
    execute(scop, sizes, expected)
    run(text, sizes, given)
    for name, array in given.items():
        assert np.array_equal(array, expected[name]), name


@needs_mlir
def test_mlir_takes_it() -> None:
    for program in (PRODUCT, JACOBI, TRIANGLE, NAMES):
        text = affine_text(tile(pluto(analyse(scop_of(*program))), TilingOptions(sizes=4)))
        assert "func.func @f" in through_mlir(text, "--affine-simplify-structures")


@needs_mlir
def test_mlir_takes_conditions() -> None:
    skewed = scop_of("int t_end, int n, float a[n], float b[n]",
                     "for (int t = 0; t < t_end; t++) { for (int i = 1; i < n - 1; i++) b[i] = a[i-1] + a[i] + a[i+1];"
                     " for (int i = 1; i < n - 1; i++) a[i] = b[i]; }")
    schedule = pluto(analyse(skewed))
    text = affine_text(TiledSchedule(schedule=schedule, tree=schedule.tree))
    assert text.count("affine.if") > 1
    assert through_mlir(text).count("affine.if") == text.count("affine.if")


@pytest.mark.parametrize(("declarations", "loops", "message"), [
    ("int n, double a[n]", "for (int i = 0; i < n; i++) if (a[i] > 0) a[i] = 1;", "a condition or loop on data of S0"),
    ("int n, double a[n], int k[n]", "for (int i = 0; i < n; i++) a[k[i]] = 1;", "an access of S0 is no function"),
    ("int n, long double a[n]", "for (int i = 0; i < n; i++) a[i] = 1;", "no such type of elements\n.*long double"),
    ("int n, double a[n]", "for (int i = 0; i < n; i++) a[i] = erf(a[i]);", "a function of S0 .*\n  witness: erf"),
])
def test_refusals(declarations: str, loops: str, message: str) -> None:
    scop = scop_of(declarations, loops)
    with pytest.raises(UnsupportedScopError, match=message):
        affine_text(tile(original(analyse(scop)), TilingOptions(sizes="off")))
