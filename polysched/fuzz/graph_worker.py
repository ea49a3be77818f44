"""The child process of `graph_campaign`: check some graphs, each told as soon as it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

from polysched.fuzz.graph_campaign import GraphRecord, check_graph
from polysched.fuzz.onnx_models.checking import check_model
from polysched.fuzz.targets.checking import check_on_target
from polysched.measure.processes.child_side import start

CHECKS: dict[str, Callable[[int], GraphRecord]] = {
    "graphs": check_graph, "models": check_model, "readings": partial(check_model, compiled=False),
    **{target: partial(check_on_target, target=target) for target in ("mpi", "opencl", "cuda")}}
"""By what is drawn."""


def main(arguments: list[str]) -> None:
    """Check graphs one after the other."""
    request, reporter = start(arguments)
    for seed in request["check"]:
        reporter.report(result=asdict(CHECKS[request["drawn"]](seed)))
    reporter.report(end="finished")


if __name__ == "__main__":
    main(sys.argv)
