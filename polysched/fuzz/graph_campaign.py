"""Random operator graphs in child processes: compiled, and behind every pass, against the interpreter.

A graph that kills or hangs its child is a record, and the others go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

import numpy as np

from polysched.errors import (
    BrokenLoopsError,
    InconsistentScopError,
    OutputError,
    PolyschedError,
    UnsupportedGraphError,
    WrongResultError,
)
from polysched.fuzz.operator_graphs import graph_inputs, random_graph
from polysched.fuzz.twice import inputs_twice, twice
from polysched.graph.evaluation.interpreter import interpret
from polysched.graph.passes.control import resolve_control
from polysched.graph.passes.registry import PASSES, GraphPass
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import to_text
from polysched.measure.processes.chunks import run_chunks
from polysched.measure.processes.isolation import ChildEnd, End, Limits, Stop, run_isolated
from polysched.model.compiling import compile_graph
from polysched.model.verification import Arrays, check
from polysched.pipeline.options import PipelineOptions
from polysched.records import dataclass
from polysched.target import host
from polysched.tiling import TilingOptions

WORKER = "polysched.fuzz.graph_worker"
RIGHT, WRONG, REFUSED, CRASH, TIMEOUT = "right", "wrong", "refused", "crash", "timeout"
FAULTS = (WRONG, CRASH, TIMEOUT)
OUR_FAULTS = (WrongResultError, BrokenLoopsError, InconsistentScopError)
"""Errors that no graph may end with."""
Drawn: TypeAlias = Literal["graphs", "models", "readings", "mpi", "opencl", "cuda"]
SLOW_BYTES_PER_SECOND = 1e6
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
    drawn : what the seed was drawn as: another graph than the same seed drawn otherwise.
    """

    seed: int
    verdict: str
    reason: str = ""
    drawn: Drawn = "graphs"

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
    drawn : `graphs` of our operators, or `models` of ONNX; `readings` of these are interpreted, and not compiled.
        With the name of a target, programs for it (`targets/`).
    chunk : graphs per child.
    limit_seconds : wall-clock time of one graph.
    patience : times that for a graph that did not end, alone in another child: a busy machine is no hang.
    limit_bytes : memory of one child.
    """

    count: int
    seed: int = 0
    jobs: int = 1
    drawn: Drawn = "graphs"
    chunk: int = 16
    limit_seconds: float = 120.0
    patience: float = 5.0
    limit_bytes: int = 4 << 30


def check_graph(seed: int) -> GraphRecord:
    """One graph: behind every pass and compiled it computes what the interpreter does."""
    graph = random_graph(seed)
    inputs = graph_inputs(graph, seed)
    try:
        wanted = interpret(graph, inputs)
        _check_passes(graph, inputs, wanted)
        check(compile_graph(graph).run(inputs), wanted, "the interpreter")
        check(compile_graph(graph, fusion="greedy").run(inputs), wanted, "the interpreter, kernels by the greedy rule")
        check(compile_graph(graph, fusion="cost").run(inputs), wanted, "the interpreter, kernels by cost")
        _check_twice(graph, inputs, seed)
        return GraphRecord(seed, RIGHT, _check_open(graph, seed))
    except OUR_FAULTS as error:
        return GraphRecord(seed, WRONG, str(error))
    except PolyschedError as error:
        return GraphRecord(seed, REFUSED, error.problem)


@cache
def slow_memory() -> PipelineOptions:
    """Options for a machine whose memory is so slow that small kernels are worth a team, and share its region."""
    here = host()
    slow = replace(here, cores=max(2, here.cores), bandwidth_bytes_per_second={0: SLOW_BYTES_PER_SECOND})
    return PipelineOptions(tiling=TilingOptions(target=slow))


def _check_twice(graph: Graph, inputs: dict[str, np.ndarray], seed: int) -> None:
    """The graph beside a copy on other inputs, on a machine where kernels share parallel regions."""
    both = twice(graph)
    if both is None:
        return
    every = inputs_twice(inputs, graph_inputs(graph, seed + 1))
    try:
        wanted = interpret(both, every)
    except (PolyschedError, IndexError):   # the other inputs have an index that is outside
        every = inputs_twice(inputs, inputs)
        wanted = interpret(both, every)
    check(compile_graph(both, fusion="cost", options=slow_memory()).run(every), wanted,
          "the interpreter, kernels side by side")


def _check_open(fixed: Graph, seed: int) -> str:
    """The graph with open sizes, at those that were drawn and at larger ones; why it is had for fixed sizes only.

    Sizes for which the interpreter refuses the graph (an index is outside) are left out.
    """
    graph = random_graph(seed, open_sizes=True)
    drawn = {str(o): e.constant for (_, own), (_, other) in zip(fixed.inputs, graph.inputs, strict=True)
             for e, o in zip(own.shape, other.shape, strict=True) if not o.is_constant}
    if not drawn:
        return ""
    try:
        model = compile_graph(graph)
    except UnsupportedGraphError as error:
        return f"for fixed sizes: {error.problem}"
    larger = {name: extent + 2 + place for place, (name, extent) in enumerate(drawn.items())}   # and apart
    for sizes in (drawn, larger):
        inputs = graph_inputs(graph, seed, sizes)
        try:
            wanted = interpret(graph, inputs)
        except (UnsupportedGraphError, IndexError):
            continue
        check(model.run(inputs), wanted, f"the interpreter, open sizes {sizes}")
    return "at open sizes" if len(drawn) == 1 else f"at {len(drawn)} open sizes"


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
    on_record : called for every graph as its chunk ends.

    Raises
    ------
    KeyboardInterrupt : behind `on_record` of everything that was found.
    """
    last = options.seed + options.count
    chunks = [range(first, min(first + options.chunk, last)) for first in range(options.seed, last, options.chunk)]

    def drawn(seeds: range, stop: Stop) -> Iterator[GraphRecord]:
        return (replace(record, drawn=options.drawn) for record in _chunk(seeds, options, stop))

    return run_chunks(chunks, drawn, jobs=options.jobs, on_result=on_record)


def _chunk(seeds: range, options: GraphCampaign, stop: Stop) -> Iterator[GraphRecord]:
    """The records of some graphs: one that ends its child is taken out, and a new child takes the rest."""
    left = list(seeds)
    while left:
        done, end = _checked(left, options, options.limit_seconds, stop)
        yield from done
        left = left[len(done):]
        if stop.is_set():
            return
        if left:
            seed, alone = left.pop(0), list[GraphRecord]()
            if end.end is End.HUNG:
                alone, end = _checked([seed], options, options.limit_seconds * options.patience, stop)
                if stop.is_set() and not alone:
                    return
            yield alone[0] if alone else _ended(seed, end)


def _checked(seeds: Sequence[int], options: GraphCampaign, seconds: float,
             stop: Stop) -> tuple[list[GraphRecord], ChildEnd]:
    """What a child said of some graphs before it ended, and how it did."""
    with TemporaryDirectory(prefix="polysched-fuzz-") as folder:
        limits = Limits(seconds=seconds, memory_bytes=options.limit_bytes)
        end = run_isolated(WORKER, {"check": list(seeds), "drawn": options.drawn}, folder=Path(folder), limits=limits,
                           stop=stop)
    return [GraphRecord(**report["result"]) for report in end.reports if "result" in report], end


def _ended(seed: int, end: ChildEnd) -> GraphRecord:
    """The record of a graph whose child did not finish."""
    return GraphRecord(seed, TIMEOUT if end.end is End.HUNG else CRASH,
                       f"{end.describe()} {end.error_output[-400:]}".strip())


def summary(records: Sequence[GraphRecord], what: str = "graphs") -> str:
    """Why graphs were refused, and a last line of counts.

    Parameters
    ----------
    what : they are, in words.
    """
    reasons = Counter(f"refused: {r.reason}" for r in records if r.verdict == REFUSED)
    reasons += Counter(r.reason for r in records if r.verdict == RIGHT and r.reason)
    counts = Counter(r.verdict for r in records)
    lines = [f"  {count:5} {reason}" for reason, count in reasons.most_common()]
    return "\n".join([*lines, f"{len(records)} {what}, " + ", ".join(
        f"{counts[v]} {v}" for v in (RIGHT, REFUSED, *FAULTS))])


def save_faults(records: Sequence[GraphRecord], folder: Path, name: str = "graph_{}.txt",
                text_of: Callable[[int], str] = lambda seed: to_text(random_graph(seed))) -> list[Path]:
    """The text of every graph with a fault, as `from_text` reads it.

    Parameters
    ----------
    name : of a file, with a field for the seed.
    text_of : the text of a seed, where it gives no graph.

    Raises
    ------
    OutputError : a file cannot be written.
    """
    paths = []
    for record in records:
        if record.is_fault:
            path = folder / name.format(record.seed)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_text(text_of(record.seed) + "\n", encoding="utf-8")
            except OSError as error:
                raise OutputError(f"cannot write {path}: {error.strerror}",
                                  hint="name another folder with --save") from None
            paths.append(path)
    return paths
