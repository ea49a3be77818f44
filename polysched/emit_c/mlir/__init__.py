"""Regions as text of MLIR: `func`, `affine`, `arith`, `math` and `memref` dialects."""

from polysched.emit_c.mlir.affine_function import affine_text

__all__ = ["affine_text"]
