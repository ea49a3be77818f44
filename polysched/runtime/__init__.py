"""Real-time and best-effort jobs on the cores of this machine: kernels that can be stopped behind every tile.

    from polysched.runtime import Job, preemptible, serve
    kernel = preemptible(scop, {"n": 1000})
    served = serve([Job(name="r", kernel=small, arguments=a, period=0.01, requests=100), Job(name="b", kernel=large)])
"""

from polysched.runtime.kernels import PreemptibleKernel, preemptible
from polysched.runtime.models import PreemptibleModel, preemptible_model
from polysched.runtime.serving import Job, JobResult, Served, ServeOptions, serve

__all__ = ["Job", "JobResult", "PreemptibleKernel", "PreemptibleModel", "ServeOptions", "Served", "preemptible",
           "preemptible_model", "serve"]
