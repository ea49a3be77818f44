"""`SegmentedModel`: compiled segments and islands of another runtime between them, called with arrays by name."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import field
from html import escape
from typing import Any, NoReturn

import numpy as np

from polysched.errors import UsageError
from polysched.graph.evaluation.interpreter import interpret
from polysched.graph.planning.plan import Plan
from polysched.graph.planning.steps import Kernel
from polysched.graph.values.graph import Graph
from polysched.model.compiled_model import CompiledModel
from polysched.model.island import Island
from polysched.model.kernels import BuiltKernel
from polysched.model.segments import Segments
from polysched.model.sizes import given_arrays, linear_in
from polysched.records import dataclass


@dataclass(frozen=True, eq=False, kw_only=True)
class SegmentedPlan:
    """The parts of a model in the order in which they run.

    Parameters
    ----------
    parts : a plan per segment, and the islands.
    seconds : what the calls so far took, by part; filled in as the model runs.
    """

    parts: tuple[Plan | Island, ...]
    seconds: list[float] = field(default_factory=list)

    @property
    def islands(self) -> tuple[Island, ...]:
        """What is not compiled, with reasons."""
        return tuple(p for p in self.parts if isinstance(p, Island))

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of all segments."""
        return tuple(k for p in self.parts if isinstance(p, Plan) for k in p.kernels)

    def share_of(self, island: Island) -> float | None:
        """The share of the time of all calls so far that an island took; None before the first call."""
        total = sum(self.seconds)
        return self.seconds[self.parts.index(island)] / total if total else None

    def _repr_html_(self) -> str:
        return "<br>".join(part._repr_html_() if isinstance(part, Plan) else (
            f"<p>island {escape(part.node)} on {part.runtime}: {escape(part.reason)}</p>") for part in self.parts)

    def __repr__(self) -> str:
        return f"<SegmentedPlan: {len(self.kernels)} kernels, {len(self.islands)} islands>"

    def __str__(self) -> str:
        lines = [f"{len(self.parts) - len(self.islands)} segments, {len(self.kernels)} kernels, "
                 f"{len(self.islands)} islands"]
        for part in self.parts:
            if isinstance(part, Island):
                share = self.share_of(part)
                said = "" if share is None else f", {share:.0%} of the time"
                lines.append(f"island {part.node} on {part.runtime}: {part.reason}{said}")
            else:
                lines.append(f"segment {part.graph.name}: {part}")
        return "\n".join(lines)


class SegmentedModel:
    """A graph of which not every node is compiled.

    It is called as a `CompiledModel` is.  Between two parts runs Python; a saved model has none, so it is not saved.

    Parameters
    ----------
    graph : as it was given, with sizes and values bound.
    cut : its parts.
    models : the compiled segments, in their order.
    """

    def __init__(self, graph: Graph, cut: Segments, models: tuple[CompiledModel, ...]) -> None:
        self.graph = graph
        self.models = models
        self._constants = cut.graph.constants
        compiled = iter(models)
        self._parts: tuple[CompiledModel | Island, ...] = tuple(
            p if isinstance(p, Island) else next(compiled) for p in cut.parts)
        self.plan = SegmentedPlan(parts=tuple(p if isinstance(p, Island) else p.plan for p in self._parts),
                                  seconds=[0.0] * len(cut.parts))

    def __repr__(self) -> str:
        return (f"<SegmentedModel {self.graph.name[:60]}: {len(self.plan.kernels)} kernels, "
                f"{len(self.islands)} islands>")

    @property
    def islands(self) -> tuple[Island, ...]:
        """What is not compiled, with reasons."""
        return self.plan.islands

    @property
    def shares(self) -> dict[Island, float | None]:
        """The share of the time of all calls so far that each island took; None before the first call."""
        return {island: self.plan.share_of(island) for island in self.islands}

    @property
    def kernels(self) -> dict[str, BuiltKernel]:
        """The different kernels of all segments by their symbol, built."""
        return {symbol: kernel for model in self.models for symbol, kernel in model.kernels.items()}

    def __call__(self, **inputs: np.ndarray) -> dict[str, np.ndarray]:
        """The outputs for arrays of the inputs."""
        return self.run(inputs)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The outputs for arrays by name.

        Raises
        ------
        UnsupportedGraphError : an input is missing or has another type, or an island's runtime refuses its operands.
        """
        if not any(self.plan.seconds):
            self.prepare()   # so that the shares of time are those of calls
        values: dict[str, np.ndarray] = {**self._constants, **given_arrays(self.graph, inputs)}
        for place, part in enumerate(self._parts):
            started = time.perf_counter()
            values |= part.run(values) if isinstance(part, Island) else _segment(part, values)
            self.plan.seconds[place] += time.perf_counter() - started
        given = [*self._constants.values(), *(values[name] for name, _ in self.graph.inputs)]
        return {name: _own(values[name], given) for name in self.graph.outputs}

    def start(self, inputs: Mapping[str, Any] | None = None, /, **more: np.ndarray) -> NoReturn:
        """Refuse.

        Raises
        ------
        UsageError : always: which outputs are whole only compiled models know.
        """
        first = self.islands[0]
        raise UsageError("a model with islands gives all outputs at once", where=first.node, witness=first.reason,
                         hint="call it")

    def prepare(self) -> None:
        """Compile and load every part, which the first call does else."""
        for part in self._parts:
            part.prepare()

    def save(self, path: object) -> NoReturn:
        """Refuse.

        Raises
        ------
        UsageError : always: an island needs Python.
        """
        raise self._refusal()

    def write_source(self, folder: object, name: str = "model") -> NoReturn:
        """Refuse.

        Raises
        ------
        UsageError : always: an island needs Python.
        """
        raise self._refusal()

    def _refusal(self) -> UsageError:
        first = self.islands[0]
        return UsageError("a model with islands runs in Python only", where=first.node, witness=first.reason,
                          hint="give what the island's shape follows from by values= or sizes=, or leave the node out")


def _own(output: np.ndarray, given: list[np.ndarray]) -> np.ndarray:
    """An output in memory of its own: what a caller writes there changes no input and no constant."""
    return output.copy() if any(np.may_share_memory(output, array) for array in given) else output


def _segment(model: CompiledModel, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of a segment; where an island made nothing, an extent is 0, and no compiled size is.

    A segment without elements is computed by the references.
    """
    own = {name: values[name] for name, _ in model.graph.inputs}
    empty = any(linear_in(e)[0] and n < 1 for name, t in model.graph.inputs
                for e, n in zip(t.shape, own[name].shape, strict=True))
    return interpret(model.graph, own) if empty else model.run(own)
