"""Random operator graphs in child processes: compiled, and behind every pass, against the interpreter.

A graph that kills or hangs its child is a record, and the others go on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from polysched.errors import PolyschedError, UnsupportedGraphError, WrongResultError
from polysched.fuzz.operator_graphs import graph_inputs, random_graph
from polysched.graph.evaluation.interpreter import interpret
from polysched.graph.passes.control import resolve_control
from polysched.graph.passes.registry import PASSES, GraphPass
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import to_text
from polysched.model.compiling import compile_graph
from polysched.model.verification import Arrays, check

RIGHT, WRONG, REFUSED, CRASH, TIMEOUT = "right", "wrong", "refused", "crash", "timeout"
FAULTS = (WRONG, CRASH, TIMEOUT)
APPROXIMATE = frozenset({"mixed_precision", "fast_math"})
"""Passes whose results are not those before: they run, and their graphs are interpreted."""


@dataclass(frozen=True)
class GraphRecord:
    """What came of one graph.

    Parameters
    ----------
    seed : of the graph.
    verdict : `right`, `wrong`, `refused`, `crash` or `timeout`.
    reason : what differs, or why it was refused.
    """

    seed: int
    verdict: str
    reason: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether something is to be mended."""
        return self.verdict in FAULTS


@dataclass(frozen=True, kw_only=True)
class GraphCampaign:
    """What to run.

    Parameters
    ----------
    count, seed : graphs `seed` to `seed + count - 1`.
    jobs : child processes at a time.
    chunk : graphs per child.
    limit_seconds : wall-clock time of one graph, on average over its child.
    """

    count: int
    seed: int = 0
    jobs: int = 1
    chunk: int = 16
    limit_seconds: float = 120.0


def check_graph(seed: int) -> GraphRecord:
    """One graph: behind every pass and compiled it computes what the interpreter does."""
    graph = random_graph(seed)
    inputs = graph_inputs(graph, seed)
    try:
        wanted = interpret(graph, inputs)
        _check_passes(graph, inputs, wanted)
        check(compile_graph(graph).run(inputs), wanted, "the interpreter")
    except WrongResultError as error:
        return GraphRecord(seed, WRONG, str(error))
    except PolyschedError as error:
        return GraphRecord(seed, REFUSED, error.problem)
    return GraphRecord(seed, RIGHT)


def _check_passes(graph: Graph, inputs: Arrays, wanted: Arrays) -> None:
    """Refuse a pass that changes what a graph computes."""
    for each in PASSES.values():
        found = interpret(behind(each, graph), inputs)
        if each.name not in APPROXIMATE:
            check(found, wanted, f"the graph before {each.name}")


def behind(each: GraphPass, graph: Graph) -> Graph:
    """The graph behind a pass; a pass that needs types gets a graph without loops."""
    try:
        return each.run(graph)
    except UnsupportedGraphError:
        return each.run(resolve_control(graph))


def run_graphs(options: GraphCampaign, *, on_record: Callable[[GraphRecord], None] | None = None) -> list[GraphRecord]:
    """Check every graph; the records in order of their seeds.

    Parameters
    ----------
    on_record : called for every graph as it is done.
    """
    last = options.seed + options.count
    chunks = [range(first, min(first + options.chunk, last)) for first in range(options.seed, last, options.chunk)]

    def run(chunk: range) -> list[GraphRecord]:
        records = []
        for record in _in_children(chunk, options.limit_seconds):
            records.append(record)
            if on_record is not None:
                on_record(record)
        return records
    with ThreadPoolExecutor(options.jobs) as pool:
        return [record for records in pool.map(run, chunks) for record in records]


def _in_children(seeds: range, limit: float) -> Iterator[GraphRecord]:
    """The records of some graphs, from one child after another: a new one behind a graph that was a child's last."""
    waiting = list(seeds)
    while waiting:
        command = [sys.executable, "-m", "polysched.fuzz.graph_worker", *map(str, waiting)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        verdict, started = CRASH, time.monotonic()
        try:
            out, errors = child.communicate(timeout=limit * len(waiting))
        except subprocess.TimeoutExpired:
            child.kill()
            out, errors = child.communicate()
            verdict = TIMEOUT
        done = [GraphRecord(**json.loads(line)) for line in out.splitlines() if line.endswith("}")]
        yield from done
        waiting = waiting[len(done):]
        if waiting:
            said = errors.strip().splitlines()
            reason = said[-1] if said else f"exit {child.returncode} after {time.monotonic() - started:.0f} s"
            yield GraphRecord(waiting.pop(0), verdict, reason[:500])


def summary(records: Sequence[GraphRecord]) -> str:
    """Why graphs were refused, and a last line of counts."""
    reasons = Counter(r.reason for r in records if r.verdict == REFUSED)
    counts = Counter(r.verdict for r in records)
    lines = [f"  {count:5} refused: {reason}" for reason, count in reasons.most_common()]
    return "\n".join([*lines, f"{len(records)} graphs, " + ", ".join(
        f"{counts[v]} {v}" for v in (RIGHT, REFUSED, *FAULTS))])


def save(records: Sequence[GraphRecord], path: Path) -> None:
    """One JSON line per graph."""
    path.write_text("".join(json.dumps(asdict(r)) + "\n" for r in records), encoding="utf-8")


def save_faults(records: Sequence[GraphRecord], folder: Path) -> list[Path]:
    """The text of every graph with a fault, as `from_text` reads it."""
    paths = []
    for record in records:
        if record.is_fault:
            folder.mkdir(parents=True, exist_ok=True)
            paths.append(folder / f"graph_{record.seed}.txt")
            paths[-1].write_text(to_text(random_graph(record.seed)) + "\n", encoding="utf-8")
    return paths
