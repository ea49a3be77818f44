"""Dataflow over the workers of a cluster: nodes that are dispatched before their inputs exist.  Needs the extra `ray`.

    from polysched.runtime.dataflow import Cluster, run_distributed
    with Cluster(workers=2) as cluster:
        future = cluster.program("p").call(code, array, worker=0)
        future.result()

Names are loaded on first use: workers import `executor`, `codes` and `rank_codes` alone, and start quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.runtime.dataflow.cluster import Cluster, Loss
    from polysched.runtime.dataflow.codes import FunctionCode, KernelCode, ModelCode
    from polysched.runtime.dataflow.kernel_codes import kernel_code
    from polysched.runtime.dataflow.nodes import Future
    from polysched.runtime.dataflow.pipelining import Stage, pipeline
    from polysched.runtime.dataflow.program import Program
    from polysched.runtime.dataflow.rank_codes import DistributedCode
    from polysched.runtime.dataflow.ranks import ShardedRun, run_distributed

_HOME = {"Cluster": "cluster", "Loss": "cluster", "FunctionCode": "codes", "KernelCode": "codes", "ModelCode": "codes",
         "kernel_code": "kernel_codes", "Future": "nodes", "Stage": "pipelining", "pipeline": "pipelining",
         "Program": "program", "DistributedCode": "rank_codes", "ShardedRun": "ranks", "run_distributed": "ranks"}

__all__ = ["Cluster", "DistributedCode", "FunctionCode", "Future", "KernelCode", "Loss", "ModelCode", "Program",
           "ShardedRun", "Stage", "kernel_code", "pipeline", "run_distributed"]


__getattr__, __dir__ = loader(__name__, _HOME)
