"""Dataflow over the workers of a cluster: nodes that are dispatched before their inputs exist.  Needs the extra `ray`.

    from polysched.runtime.dataflow import Cluster, run_distributed
    with Cluster(workers=2) as cluster:
        future = cluster.program("p").call(code, array, worker=0)
        future.result()
"""

from polysched.runtime.dataflow.cluster import Cluster, Loss
from polysched.runtime.dataflow.codes import FunctionCode, KernelCode, ModelCode, kernel_code
from polysched.runtime.dataflow.nodes import Future
from polysched.runtime.dataflow.pipelining import Stage, pipeline
from polysched.runtime.dataflow.program import Program
from polysched.runtime.dataflow.ranks import DistributedCode, ShardedRun, run_distributed

__all__ = ["Cluster", "DistributedCode", "FunctionCode", "Future", "KernelCode", "Loss", "ModelCode", "Program",
           "ShardedRun", "Stage", "kernel_code", "pipeline", "run_distributed"]
