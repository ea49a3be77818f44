"""Regions from text of MLIR: `func`, `affine`, `arith`, `math` and `memref` dialects."""

from polysched.scop.mlir_frontend.building import all_from_mlir, begins_as_mlir, from_mlir

__all__ = ["all_from_mlir", "begins_as_mlir", "from_mlir"]
