"""The child process of `graph_campaign`: check some graphs, each told as soon as it is done."""

from __future__ import annotations

import sys
from dataclasses import asdict

from polysched.fuzz.graph_campaign import check_graph
from polysched.measure.processes.child_side import start


def main(arguments: list[str]) -> None:
    """Check graphs one after the other."""
    request, reporter = start(arguments)
    for seed in request["check"]:
        reporter.report(result=asdict(check_graph(seed)))
    reporter.report(end="finished")


if __name__ == "__main__":
    main(sys.argv)
