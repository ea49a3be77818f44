"""Pipelines of different programs on different workers: each item passes through all stages.

While a stage works on one item, the stage before it works on the next one.  All nodes are sent before any value exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.runtime.dataflow.codes import Code
from polysched.runtime.dataflow.nodes import Future
from polysched.runtime.dataflow.program import Program


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One program of a pipeline.

    Parameters
    ----------
    code : takes what the stage before gives, then `constants`.
    worker : of the program.
    constants : further arguments, the same for every item.
    """

    code: Code
    worker: int
    constants: tuple[Any, ...] = ()


def pipeline(program: Program, stages: Sequence[Stage], items: Iterable[Sequence[Any]]) -> list[tuple[Future, ...]]:
    """Send all items through all stages; the futures of the last stage's values, per item.

    Parameters
    ----------
    items : the arguments of the first stage, in front of its constants.

    Raises
    ------
    UsageError : there is no stage, or no such worker.
    """
    if not stages:
        raise UsageError("a pipeline has at least one stage", where=program.name)
    program.load(*(stage.code for stage in stages))
    constants = [tuple(program.put(value) for value in stage.constants) for stage in stages]
    ends = []
    for item in items:
        values: tuple[Any, ...] = tuple(item)
        for stage, more in zip(stages, constants, strict=True):
            made = program.call(stage.code, *values, *more, worker=stage.worker)
            values = made if isinstance(made, tuple) else (made,)
        ends.append(values)
    return ends
