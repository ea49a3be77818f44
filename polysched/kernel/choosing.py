"""`safe`: a kernel runs the fastest of its codes, measured once for sizes of about these.

The codes are the transformed one, the loops as they are written compiled on one thread, and the Python function itself,
which is the faster one where NumPy has little to do or does it better.  They are raced by a search
(`search.clients.raced_calls`) on copies of the arguments; a database of the options keeps what came of it.  Plain
Python loops can be a thousand times slower: the function is given up once it has taken several times as long as the
transformed code.
"""

from __future__ import annotations

import copy
import logging
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.errors import OutputError, UsageError
from polysched.kernel.limits import LIMITS
from polysched.kernel.specialisation import Specialisation
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.target import build_cache

if TYPE_CHECKING:
    from polysched.search.clients.raced_calls import Call
    from polysched.search.tuned import Tuned

_LOG = logging.getLogger(__name__)
PATIENCE = LIMITS.patience
SHORTEST_WATCH_SECONDS = LIMITS.shortest_watch_seconds
AS_WRITTEN = Recipe(scheduler="original", tile="off", instruction="none", collapse=False, expand=False)
"""What makes the loops as they are written, but for threads, of which they get none."""


class Code(Enum):
    """What a call can run."""

    TRANSFORMED = "transformed"
    AS_WRITTEN = "as written"
    PYTHON = "python"


@dataclass(frozen=True)
class Choice:
    """What calls of about one size run.

    Parameters
    ----------
    code : the fastest; the transformed one unless the interval of another one's gain lies above 1.
    seconds : the least wall time of a call of each, copies of arguments apart; without a code that was given up.
    found : per code beside the transformed one the search that raced the two.
    """

    code: Code
    seconds: Mapping[Code, float] = field(default_factory=dict)
    found: Mapping[Code, Tuned] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code.value}: " + ", ".join(f"{c.value} {s * 1e3:.4f} ms" for c, s in self.seconds.items())


def measured_choice(kernel: Specialisation, function: Callable[..., Any], values: Mapping[str, Any],
                    sizes: Mapping[str, int]) -> Choice:
    """Race every code with the transformed one on copies of the arguments of one call, and take the fastest.

    Where nothing runs at these sizes, the transformed one is taken.
    """
    from polysched.search.clients.raced_calls import fastest, raced_calls  # loaded by `safe` kernels alone
    first, *others = _calls(kernel, function, values, sizes)
    scop = kernel.python.scop
    spelled = {p.spelling: int(sizes[p.name]) for p in scop.parameters if p.name in sizes}
    try:
        raced = raced_calls(scop, spelled, kernel.options, first, others, database=kernel.options.database)
    except OutputError:   # a database that cannot be written keeps nothing
        raced = raced_calls(scop, spelled, kernel.options, first, others)
    except UsageError as refusal:   # at sizes at which nothing runs there is nothing to measure
        _LOG.info("%s is not measured: %s", scop.name, refusal.problem)
        return Choice(code=Code.TRANSFORMED)
    best = fastest(raced)
    return Choice(code=Code.TRANSFORMED if best is None else Code(best.name), seconds=_least(raced),
                  found={Code(call.name): found for call, found in raced})


def _calls(kernel: Specialisation, function: Callable[..., Any], values: Mapping[str, Any],
           sizes: Mapping[str, int]) -> list[Call]:
    """What is raced, the transformed code first; compiled code has run once."""
    from polysched.search.clients.raced_calls import Call

    def transformed() -> tuple[float, float]:
        return _seconds(lambda given: _compiled(kernel, given, sizes), values)

    def as_written() -> tuple[float, float]:
        return _seconds(lambda given: _compiled(kernel.as_written, given, sizes), values)

    def python() -> tuple[float, float]:
        return _seconds(lambda given: function(**given), values)

    transformed()
    as_written()
    own, plain = (build_cache.entry_key(one.key_parts, kernel.compiler) for one in (kernel, kernel.as_written))
    return [Call(name=Code.TRANSFORMED.value, recipe=Recipe(), run=transformed, code=own),
            Call(name=Code.AS_WRITTEN.value, recipe=AS_WRITTEN, run=as_written, code=plain),
            Call(name=Code.PYTHON.value, recipe=AS_WRITTEN, run=python, code=f"{own} in Python",
                 compiler=_interpreter(), refused=lambda: _given_up(transformed, function, values))]


def _interpreter() -> str:
    """What runs Python functions."""
    return f"{platform.python_implementation()} {platform.python_version()}, NumPy {np.__version__}"


def _least(raced: Sequence[tuple[Call, Tuned]]) -> dict[Code, float]:
    """The least wall time of a call of each code."""
    seconds = {Code.TRANSFORMED: min(found.least_seconds for _, found in raced)}
    for call, found in raced:
        own = [own for trial in (*found.trials, *found.fresh) for _, own in trial.pairs]
        if own:
            seconds[Code(call.name)] = min(own)
    return seconds


def _compiled(kernel: Specialisation, given: Mapping[str, Any], sizes: Mapping[str, int]) -> object:
    call = kernel.prepare(given, sizes)
    call.run()
    call.copy_back()
    return call.returned()


def _seconds(run: Callable[[dict[str, Any]], object], values: Mapping[str, Any]) -> tuple[float, float]:
    """Wall and processor seconds of one call on copies of its arguments."""
    given = copy.deepcopy(dict(values))
    processor, started = time.process_time(), time.perf_counter()
    run(given)
    return time.perf_counter() - started, time.process_time() - processor


def _given_up(transformed: Callable[[], tuple[float, float]], function: Callable[..., Any],
              values: Mapping[str, Any]) -> str:
    """Why the Python function is not timed; empty where it ends in time."""
    limit = PATIENCE * max(SHORTEST_WATCH_SECONDS, transformed()[0])
    return "" if _finishes(function, values, limit) else f"it took longer than {limit:.3g} s, and was given up"


class _TooSlowError(BaseException):
    """The function that is watched has taken too long; not an Exception, so that it cannot swallow this."""


def _finishes(function: Callable[..., Any], values: Mapping[str, Any], limit_seconds: float) -> bool:
    """Whether a Python function ends in time; it is interrupted between two of its lines when it does not."""
    given, before = copy.deepcopy(dict(values)), sys.gettrace()
    end = time.perf_counter() + limit_seconds

    def watch(frame: FrameType, event: str, argument: Any) -> Any:
        if time.perf_counter() > end:
            raise _TooSlowError
        return watch

    sys.settrace(watch)
    try:
        function(**given)
    except _TooSlowError:
        return False
    finally:
        sys.settrace(before)
    return time.perf_counter() <= end
