"""Which best-effort jobs may run beside a request: what the model says they take away of the memory's bandwidth.

A job that runs alone takes a share of one core's bandwidth out of memory: the bytes that its tiles move there, over
what a core moves in the time that they take.  All cores together have `Costs.memory_cores` times the bandwidth of one
(`polysched machine --calibrate` measures it).  Where jobs want more than that, the time in which a request waits for
memory is longer by as much.  No run has compared what is expected with what requests take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysched.runtime.kernels import PreemptibleKernel
from polysched.runtime.models import PreemptibleModel
from polysched.target import Target, host
from polysched.tiling.planning.predict import predict


def demand(kernel: PreemptibleKernel | PreemptibleModel, arguments: Mapping[str, Any],
           target: Target | None = None) -> float:
    """The share of one core's bandwidth out of memory that a kernel takes; 1 where the model does not know.

    Parameters
    ----------
    arguments : as for `PreemptibleKernel.packed`: their shapes give the sizes.
    """
    if not isinstance(kernel, PreemptibleKernel):
        return 1.0
    target, tiled = target or host(), kernel.tiled
    found = predict(tiled.schedule.dependences, tiled.tree, target=target, parameters=kernel.sizes(arguments),
                    plans=tiled.plans)
    if not found.traffic or not found.seconds:
        return 1.0
    return min(1.0, found.traffic[-1] / (found.seconds * target.bandwidth(0)))


def rise(urgent: float, patient: float, beside: int, target: Target | None = None) -> float:
    """The share by which a request's latency is expected to rise.

    Parameters
    ----------
    urgent, patient : what `demand` says of the request's job, and of the other one.
    beside : copies of the other one, or jobs like it, that run at the same time.
    target : the machine, for how many cores its memory serves.
    """
    wanted = urgent + beside * patient
    return urgent * max(0.0, wanted / (target or host()).costs.memory_cores - 1)
