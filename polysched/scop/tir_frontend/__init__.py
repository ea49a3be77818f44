"""Regions from TVM's tensor IR: functions made of tensor expressions, or written in TVMScript."""

from polysched.scop.tir_frontend.building import from_tir

__all__ = ["from_tir"]
