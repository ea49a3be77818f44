"""The limits of this room."""

from __future__ import annotations

from dataclasses import dataclass

from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class ModelLimits:
    """By the module that asks for them."""

    # kernels.py
    least_for_a_worker: int = constant(
        12, unit="kernels", source="missing ones from which on a second process pays its start of 3 s")

    # onnx_backend.py
    most_specialisations: int = constant(
        32, unit="models", source="kept per CompiledModel for different sizes and steering values")


LIMITS = ModelLimits()
