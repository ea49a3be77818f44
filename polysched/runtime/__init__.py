"""Real-time and best-effort jobs on the cores of this machine: kernels that can be stopped behind every tile.

    from polysched.runtime import Job, preemptible, serve
    kernel = preemptible(scop, {"n": 1000})
    served = serve([Job(name="r", kernel=small, arguments=a, period=0.01, requests=100), Job(name="b", kernel=large)])

Names are loaded on first use: the workers of a dataflow import this package, and start quickly.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polysched.runtime.kernels import PreemptibleKernel, preemptible
    from polysched.runtime.models import PreemptibleModel, preemptible_model
    from polysched.runtime.serving import Job, JobResult, Served, ServeOptions, serve

_HOME = {"PreemptibleKernel": "kernels", "preemptible": "kernels", "PreemptibleModel": "models",
         "preemptible_model": "models", "Job": "serving", "JobResult": "serving", "Served": "serving",
         "ServeOptions": "serving", "serve": "serving"}

__all__ = ["Job", "JobResult", "PreemptibleKernel", "PreemptibleModel", "ServeOptions", "Served", "preemptible",
           "preemptible_model", "serve"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
