"""Real-time and best-effort jobs on the cores of this machine: kernels that can be stopped behind every tile.

    from polysched.runtime import Job, preemptible, serve
    kernel = preemptible(scop, tiles=32)
    served = serve([Job(name="r", kernel=small, arguments=a, period=0.01, requests=100),
                    Job(name="b", kernel=large, arguments=b)])

Names are loaded on first use: the workers of a dataflow import this package, and start quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.runtime.kernels import PreemptibleKernel, preemptible
    from polysched.runtime.models import PreemptibleModel, preemptible_model
    from polysched.runtime.serving import Job, JobResult, Served, ServeOptions, serve

_HOME = {"PreemptibleKernel": "kernels", "preemptible": "kernels", "PreemptibleModel": "models",
         "preemptible_model": "models", "Job": "serving", "JobResult": "serving", "Served": "serving",
         "ServeOptions": "serving", "serve": "serving"}

__all__ = ["Job", "JobResult", "PreemptibleKernel", "PreemptibleModel", "ServeOptions", "Served", "preemptible",
           "preemptible_model", "serve"]


__getattr__, __dir__ = loader(__name__, _HOME)
