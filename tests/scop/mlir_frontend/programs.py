"""Functions of MLIR, and what they compute in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Program:
    """A function of MLIR.

    Parameters
    ----------
    text : the function.
    sizes : of its parameters.
    arrays : makes what it is called with.
    expected : does the same in place.
    """

    text: str
    sizes: dict[str, int]
    arrays: Callable[[], Arrays]
    expected: Callable[[Arrays], None]


def _random(**shapes: tuple[int, ...]) -> Callable[[], Arrays]:
    return lambda: {name: np.random.default_rng(5).integers(-4, 9, shape).astype(float)
                    for name, shape in shapes.items()}


def _row_sums(arrays: Arrays) -> None:
    arrays["out"][:] = arrays["A"].sum(axis=1)


ROW_SUMS = Program("""
func.func @row_sums(%A: memref<5x7xf64>, %out: memref<5xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 5 {
    %sum = affine.for %j = 0 to 7 iter_args(%s = %zero) -> (f64) {
      %a = affine.load %A[%i, %j] : memref<5x7xf64>
      %t = arith.addf %s, %a : f64
      affine.yield %t : f64
    }
    affine.store %sum, %out[%i] : memref<5xf64>
  }
  return
}
""", {}, _random(A=(5, 7), out=(5,)), _row_sums)


def _fibonacci(arrays: Arrays) -> None:
    a, b = 1.0, 2.0
    for k in range(6):
        arrays["x"][k] = a
        a, b = b, a + b


FIBONACCI = Program("""
func.func @fibonacci(%x: memref<6xf64>) {
  %one = arith.constant 1.0 : f64
  %two = arith.constant 2.0 : f64
  %r:2 = affine.for %k = 0 to 6 iter_args(%a = %one, %b = %two) -> (f64, f64) {
    affine.store %a, %x[%k] : memref<6xf64>
    %c = arith.addf %a, %b : f64
    affine.yield %b, %c : f64, f64
  }
  return
}
""", {}, _random(x=(6,)), _fibonacci)


def _swapped(arrays: Arrays) -> None:
    x = arrays["x"]
    for i in range(0, 7, 2):
        x[i], x[i + 1] = x[i + 1], x[i]


SWAP = Program("""
#pairs = affine_map<(d0) -> (d0 + 1)>
module {
  func.func @swap(%n: index, %x: memref<?xf64>) {
    affine.for %i = 0 to affine_map<()[s0] -> (s0 - 1)>()[%n] step 2 {
      %j = affine.apply #pairs(%i)
      %0 = affine.load %x[%i] : memref<?xf64>
      %1 = affine.load %x[%j] : memref<?xf64>
      affine.store %1, %x[%i] : memref<?xf64>
      affine.store %0, %x[%i + 1] : memref<?xf64>
    }
    return
  }
}
""", {"n": 8, "x_0": 8}, _random(x=(8,)), _swapped)


def _conditions(arrays: Arrays) -> None:
    x, y = arrays["x"], arrays["y"]
    for i in range(9):
        y[i] = (np.sqrt(abs(x[i])) if x[i] < 2 else i * 2.0) if i % 3 == 0 else -x[i]


CONDITIONS = Program("""
#third = affine_set<(d0) : (d0 mod 3 == 0)>
func.func @conditions(%x: memref<9xf64>, %y: memref<9xf64>) {
  %two = arith.constant 2.0 : f64
  affine.for %i = 0 to 9 {
    %a = affine.load %x[%i] : memref<9xf64>
    %v = affine.if #third(%i) -> f64 {
      %b = math.absf %a : f64
      %c = math.sqrt %b : f64
      %k = arith.index_cast %i : index to i64
      %f = arith.sitofp %k : i64 to f64
      %g = arith.mulf %f, %two : f64
      %less = arith.cmpf olt, %a, %two : f64
      %d = arith.select %less, %c, %g : f64
      affine.yield %d : f64
    } else {
      %n = arith.negf %a : f64
      affine.yield %n : f64
    }
    affine.store %v, %y[%i] : memref<9xf64>
  }
  return
}
""", {}, _random(x=(9,), y=(9,)), _conditions)


def _temporary(arrays: Arrays) -> None:
    arrays["C"][:] = (arrays["A"] @ arrays["A"]) @ arrays["A"] * 0.5


TEMPORARY = Program("""
func.func @temporary(%n: index, %half: f64, %A: memref<?x?xf64>, %C: memref<?x?xf64>)
    attributes {extents = [affine_map<()[s0] -> (s0, s0)>, affine_map<()[s0] -> (s0, s0)>]} {
  %c0 = arith.constant 0 : index
  %m = memref.dim %A, %c0 : memref<?x?xf64>
  %T = memref.alloc(%m, %n) : memref<?x?xf64>
  %zero = arith.constant 0.0 : f64
  affine.parallel (%i, %j) = (0, 0) to (%n, %n) {
    affine.store %zero, %T[%i, %j] : memref<?x?xf64>
    affine.store %zero, %C[%i, %j] : memref<?x?xf64>
    affine.for %k = 0 to %n {
      %a = affine.load %A[%i, %k] : memref<?x?xf64>
      %b = affine.load %A[%k, %j] : memref<?x?xf64>
      %p = arith.mulf %a, %b : f64
      %t = affine.load %T[%i, %j] : memref<?x?xf64>
      %s = arith.addf %t, %p : f64
      affine.store %s, %T[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = max affine_map<(d0) -> (0, d0 - 100)>(%i) to min affine_map<()[s0] -> (s0, 50)>()[%n] {
        %a = memref.load %T[%i, %k] : memref<?x?xf64>
        %b = memref.load %A[%k, %j] : memref<?x?xf64>
        %p = arith.mulf %a, %b : f64
        %h = arith.mulf %p, %half : f64
        %t = memref.load %C[%i, %j] : memref<?x?xf64>
        %s = arith.addf %h, %t : f64
        memref.store %s, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  memref.dealloc %T : memref<?x?xf64>
  return
}
""", {"n": 6}, lambda: {**_random(A=(6, 6), C=(6, 6))(), "half": np.array(0.5)}, _temporary)

PROGRAMS = {"row_sums": ROW_SUMS, "fibonacci": FIBONACCI, "swap": SWAP, "conditions": CONDITIONS,
            "temporary": TEMPORARY}
