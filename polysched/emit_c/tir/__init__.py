"""Regions as functions of TVM's tensor IR, in TVMScript."""

from polysched.emit_c.tir.function import tir_text

__all__ = ["tir_text"]
