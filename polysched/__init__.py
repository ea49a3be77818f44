"""polysched: polyhedral scheduling, auto-tiling and auto-tensorizing for research.

`import polysched` is cheap: rooms are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from polysched.version import __version__

_ROOMS = ("target", "scop", "dependence", "scheduling", "tiling", "tensorize", "distribute", "gpu", "emit_c",
          "emit_gpu", "measure", "pipeline", "search", "graph", "kernel", "model", "mesh", "runtime", "fuzz",
          "experiment", "report", "notebook", "errors")
_FROM_PIPELINE = ("PipelineOptions", "Optimized")
_FROM_SEARCH = ("optimize", "source_to_source", "tune")
_FROM_MODEL = ("compile",)
_FROM_KERNEL = ("block_program",)

__all__ = ["__version__", *_ROOMS, *_FROM_PIPELINE, *_FROM_SEARCH, *_FROM_MODEL, *_FROM_KERNEL]


def __getattr__(name: str) -> ModuleType | Any:
    if name in _ROOMS:
        return importlib.import_module(f"polysched.{name}")
    if name in _FROM_PIPELINE:
        return getattr(importlib.import_module("polysched.pipeline"), name)
    if name in _FROM_SEARCH:
        return getattr(importlib.import_module("polysched.search"), name)
    if name in _FROM_MODEL:
        return getattr(importlib.import_module("polysched.model"), name)
    if name in _FROM_KERNEL:
        return getattr(importlib.import_module("polysched.kernel"), name)
    raise AttributeError(f"module 'polysched' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
