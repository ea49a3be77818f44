"""`safe`: a kernel runs the fastest of its codes, measured once for sizes of about these.

The codes are the transformed one, the loops as they are written compiled on one thread, and the Python function itself,
which is the faster one where NumPy has little to do or does it better.  Each runs a few times on copies of the
arguments, in turn.  Plain Python loops can be a thousand times slower: the function is given up once it has taken
several times as long as the transformed code.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import FrameType
from typing import Any

from polysched.kernel.limits import LIMITS
from polysched.kernel.specialisation import Specialisation
from polysched.target.one_line import OneLine

TURNS = LIMITS.turns
PATIENCE = LIMITS.patience
SHORTEST_WATCH_SECONDS = LIMITS.shortest_watch_seconds
CLEARLY_FASTER = LIMITS.clearly_faster


class Code(Enum):
    """What a call can run."""

    TRANSFORMED = "transformed"
    AS_WRITTEN = "as written"
    PYTHON = "python"


@dataclass(frozen=True)
class Choice(OneLine):
    """What calls of about one size run.

    Parameters
    ----------
    code : the fastest; the transformed one unless another is faster by a twentieth.
    seconds : the least wall time of a call of each, copies of arguments apart; without a code that was given up.
    """

    code: Code
    seconds: Mapping[Code, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code.value}: " + ", ".join(f"{c.value} {s * 1e3:.4f} ms" for c, s in self.seconds.items())


def measured_choice(kernel: Specialisation, function: Callable[..., Any], values: Mapping[str, Any],
                    sizes: Mapping[str, int]) -> Choice:
    """Run every code on copies of the arguments of one call, and take the fastest."""
    codes: dict[Code, Callable[[dict[str, Any]], object]] = {
        Code.TRANSFORMED: lambda given: _compiled(kernel, given, sizes),
        Code.AS_WRITTEN: lambda given: _compiled(kernel.as_written, given, sizes),
        Code.PYTHON: lambda given: function(**given)}
    for code in (Code.TRANSFORMED, Code.AS_WRITTEN):
        _seconds(codes[code], values)
    limit = PATIENCE * max(SHORTEST_WATCH_SECONDS, _seconds(codes[Code.TRANSFORMED], values))
    if not _finishes(function, values, limit):
        del codes[Code.PYTHON]
    seconds = {code: float("inf") for code in codes}
    for _ in range(TURNS):
        for code, run in codes.items():
            seconds[code] = min(seconds[code], _seconds(run, values))
    best = min(seconds, key=lambda code: seconds[code])
    clearly = seconds[best] < CLEARLY_FASTER * seconds[Code.TRANSFORMED]
    return Choice(best if clearly else Code.TRANSFORMED, seconds)


def _compiled(kernel: Specialisation, given: Mapping[str, Any], sizes: Mapping[str, int]) -> object:
    call = kernel.prepare(given, sizes)
    call.run()
    call.copy_back()
    return call.returned()


def _seconds(run: Callable[[dict[str, Any]], object], values: Mapping[str, Any]) -> float:
    given = copy.deepcopy(dict(values))
    started = time.perf_counter()
    run(given)
    return time.perf_counter() - started


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
