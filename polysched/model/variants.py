"""Several codes of one kernel for likely sizes, and the sizes for which the model takes each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp, log

from polysched.model.limits import LIMITS
from polysched.pipeline.optimized import Optimized
from polysched.records import dataclass
from polysched.search.variants import least_regret, thresholds
from polysched.tiling.planning.predict import predict, program_seconds


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a kernel is compiled and predicted for.

    Parameters
    ----------
    assumed : values that the models take for its parameters.
    parameter : whose values were sampled; empty where nothing is predicted.
    sampled : these values.
    shared : every thread of a team calls it.
    """

    assumed: tuple[tuple[str, int], ...] = ()
    parameter: str = ""
    sampled: tuple[int, ...] = ()
    shared: bool = False


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The functions of a kernel, for growing values of one of its sizes.

    Parameters
    ----------
    functions : at least one.
    borders : from which value on each function but the first one runs; they grow.
    place : of the size among the kernel's own.
    """

    functions: tuple[str, ...]
    borders: tuple[int, ...] = ()
    place: int = 0


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Code for one likely value.

    Parameters
    ----------
    function : its C function.
    likely : the value of the size that it was made for.
    digest : of its C, without the names of its functions.
    seconds : by the model, for the sampled values; empty where the model cannot say.
    """

    function: str
    likely: int
    digest: str
    seconds: Mapping[int, float]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The codes that are kept.

    Parameters
    ----------
    choice : what the driver runs.
    likely : the value that each was made for.
    regret : by the model, how many times slower than the best code of each sampled size; 0 where it cannot say.
    """

    choice: Choice
    likely: tuple[int, ...]
    regret: float

    def told(self, name: str) -> str:
        """One line.

        Parameters
        ----------
        name : of the size.
        """
        if len(self.likely) == 1:
            return f"one code for all {name}, made for {self.likely[0]}"
        ends = [f"{name} < {border}: made for {value}" for border, value in zip(
            self.choice.borders, self.likely, strict=False)]
        by = f"regret {self.regret:.2f} by the model" if self.regret else "borders between the likely values"
        return f"{'; '.join(ends)}; else: made for {self.likely[-1]} ({by})"


def predicted_seconds(made: Optimized, asked: Asked) -> dict[int, float]:
    """Wall time of a kernel by the projected model, for every sampled size; empty where it cannot say."""
    target, found = made.options.target(), {}
    for size in asked.sampled:
        sizes = {**dict(asked.assumed), asked.parameter: size}
        seconds = program_seconds(predict(made.dependences, made.tiled.tree, target=target, parameters=sizes,
                                          plans=made.tiled.plans), target)
        if seconds is None:
            return {}
        found[size] = seconds
    return found


def choose(candidates: Sequence[Candidate], place: int) -> Chosen:
    """The codes of least regret and their borders, of those that the model can predict.

    Where it predicts fewer than two, every code is kept, with borders between the likely values.

    Parameters
    ----------
    candidates : at least one, for growing likely values.
    place : of the size among the kernel's own.
    """
    known = [c for c in candidates if c.seconds]
    if len(known) < min(2, len(candidates)):
        return _between(candidates, place)
    candidates = known
    found = least_regret([c.seconds for c in candidates], LIMITS.most_variants)
    runs = [candidates[k] for _, k in thresholds(found.of_size)]
    firsts = [min(s for s in found.of_size if s >= least) for least, _ in thresholds(found.of_size)]
    borders = [_crossing(a, b, first) for (a, b), first in zip(pairwise(runs), firsts[1:], strict=True)]
    return _chosen(runs, borders, place, found.regret)


def _crossing(before: Candidate, after: Candidate, first: int) -> int:
    """Where the times of two codes cross below the first sampled size of the second one, linear in the logarithms."""
    last = max(size for size in before.seconds if size < first)
    above = log(after.seconds[last] / before.seconds[last])
    below = log(before.seconds[first] / after.seconds[first])
    share = above / (above + below) if above > 0 and below >= 0 else 0.5
    return min(first, max(last + 1, round(exp(log(last) + share * log(first / last)))))


def _between(candidates: Sequence[Candidate], place: int) -> Chosen:
    """Every different code, from the geometric mean of its likely value and the one before on; the last ones first."""
    runs: list[Candidate] = []
    for candidate in candidates:
        if not runs or candidate.digest != runs[-1].digest:
            runs.append(candidate)
    runs = runs[-LIMITS.most_variants:]
    borders = [max(a.likely + 1, round((a.likely * b.likely) ** 0.5)) for a, b in pairwise(runs)]
    return _chosen(runs, borders, place, 0.0)


def _chosen(runs: Sequence[Candidate], borders: Sequence[int], place: int, regret: float) -> Chosen:
    return Chosen(choice=Choice(functions=tuple(c.function for c in runs), borders=tuple(borders), place=place),
                  likely=tuple(c.likely for c in runs), regret=regret)
