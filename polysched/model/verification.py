"""A compiled model beside another evaluation of the same graph: inputs, results, differences, times."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import UsageError, WrongResultError
from polysched.graph.evaluation.interpreter import interpret
from polysched.graph.evaluation.sequences import tensors_of
from polysched.graph.operators.families.narrow import codes_of
from polysched.graph.passes.widening import widened, widened_array
from polysched.graph.values.element_types import NARROW, array_type
from polysched.graph.values.graph import Graph
from polysched.graph.values.types import TensorType
from polysched.measure.timing.race import pairs
from polysched.model.island import runtime_failures
from polysched.model.limits import LIMITS
from polysched.records import dataclass

Arrays = Mapping[str, np.ndarray]
Run = Callable[[Arrays], dict[str, np.ndarray]]


def random_inputs(graph: Graph, seed: int = 1) -> dict[str, np.ndarray]:
    """Arrays for a graph without symbols: floats of a normal distribution, whole numbers 0 and 1."""
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {}
    for name, its_type in graph.inputs:
        if its_type.dtype.is_float:
            found[name] = rng.normal(size=its_type.extents).astype(its_type.numpy)
        else:
            found[name] = rng.integers(0, 2, its_type.extents).astype(its_type.numpy)
    return found


def by_interpreter(graph: Graph) -> Run:
    """The graph in NumPy."""
    return lambda arrays: interpret(graph, arrays)


def exact(graph: Graph) -> Run:
    """The graph in NumPy with float64 in place of every shorter floating type."""
    wide = widened(graph)
    return lambda arrays: interpret(wide, {name: widened_array(np.asarray(a)) for name, a in arrays.items()})


def by_onnxruntime(model: str | Path, threads: int) -> Run:
    """The model file by ONNX Runtime.

    Raises
    ------
    UsageError : the package is not there, or refuses the model.
    """
    try:
        import onnxruntime
    except ImportError:
        raise UsageError("the package onnxruntime is missing", hint="python -m pip install onnxruntime") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    failures: tuple[type[Exception], ...] = (RuntimeError, *runtime_failures())
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except failures as failure:
        raise _refused(model, failure) from None
    names = [o.name for o in session.get_outputs()]
    declared = {o.name: o.type for o in session.get_outputs()}
    wanted = {i.name for i in session.get_inputs()}

    def run(arrays: Arrays) -> dict[str, np.ndarray]:
        try:
            results = session.run(names, {n: a for n, a in arrays.items() if n in wanted})
        except failures as failure:
            raise _refused(model, failure) from None
        return {name: _of_bytes(value, declared[output]) for output, result in zip(names, results, strict=True)
                for name, value in tensors_of(output, result)}
    return run


def _of_bytes(value: Any, declared: str) -> Any:
    """A result whose elements are short floats, which ONNX Runtime gives as bytes.

    Parameters
    ----------
    declared : ONNX Runtime's name of its type.
    """
    own = next((t for t in NARROW if declared == f"tensor({t.name.replace('_', '')})"), None)
    as_bytes = isinstance(value, np.ndarray) and value.dtype == np.uint8
    return value.view(array_type(own)) if own is not None and own.is_float and as_bytes else value


def _refused(model: str | Path, failure: Exception) -> UsageError:
    return UsageError("ONNX Runtime does not run the model", where=str(model),
                      witness=str(failure).strip()[:300],
                      hint="--verify reference compares with the operators' references instead")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How far an output is from what is wanted.

    Parameters
    ----------
    output : its name.
    largest : the largest absolute difference; a whole number of whole numbers.
    place : of the element that exceeds its tolerance the most; None where none does.
    found, wanted : that element.
    """

    output: str
    largest: float
    place: tuple[int, ...] | None = None
    found: float = 0.0
    wanted: float = 0.0

    @property
    def witness(self) -> str:
        """The element and what it is, whole numbers to the last digit."""
        found, wanted = (f"{v:g}" if isinstance(v, float) else str(v) for v in (self.found, self.wanted))
        return f"element {list(self.place or ())}: {found}, wanted {wanted}"


def differences(found: Arrays, wanted: Arrays) -> list[Difference]:
    """The difference of every output; NaN equals NaN.

    A float may differ by a share of itself, and by a share of the largest element; other elements are equal.
    """
    result = []
    for name, right in wanted.items():
        left = found[name]
        if left.shape != right.shape or left.dtype != right.dtype:
            raise WrongResultError(f"the output {name!r} has another type", witness=f"{left.dtype}{left.shape}, "
                                   f"wanted {right.dtype}{right.shape}",
                                   hint="report the model: this is a fault of polysched, or of what it is compared "
                                        "with")
        result.append(_difference(name, left, right))
    return result


def _difference(name: str, left: np.ndarray, right: np.ndarray) -> Difference:
    if not left.size:
        return Difference(output=name, largest=0.0)
    if right.dtype.kind in WHOLE:
        return _whole_difference(name, left, right)
    wide, other = left.astype(np.float64), right.astype(np.float64)
    finite = np.abs(other[np.isfinite(other)])
    allowed = np.zeros(right.shape)
    if right.dtype.kind == "f":
        largest = float(finite.max()) if finite.size else 0.0
        allowed = LIMITS.relative_tolerance * np.abs(other) + LIMITS.absolute_share * largest
    elif (own := TensorType.of_array(right).dtype).is_float:
        allowed = np.abs(other) * 2.0 ** -codes_of(own).mantissa   # the next one
    far = _distances(wide, other)
    with np.errstate(invalid="ignore"):
        beyond = np.where(far == 0, -1.0, np.where(np.isfinite(far), far - allowed, np.inf))
    worst = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
    most = float(np.nan_to_num(far, nan=np.inf).max())
    if beyond[worst] <= 0:
        return Difference(output=name, largest=most)
    return Difference(output=name, largest=most, place=tuple(int(p) for p in worst), found=float(wide[worst]),
                      wanted=float(other[worst]))


WHOLE = "biu"
"""NumPy's kinds of elements that are whole numbers."""


def _whole_difference(name: str, left: np.ndarray, right: np.ndarray) -> Difference:
    """The difference of whole numbers, none of which may differ; doubles have no place for all of 64 bits."""
    far = _whole_distances(left, right)
    worst = np.unravel_index(int(np.argmax(far)), far.shape)
    if not far[worst]:
        return Difference(output=name, largest=0.0)
    return Difference(output=name, largest=int(far[worst]), place=tuple(int(p) for p in worst),
                      found=int(left[worst]), wanted=int(right[worst]))


def _whole_distances(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The absolute differences of whole numbers of one type, which are at most 2**64 - 1."""
    more, less = np.maximum(found, wanted).astype(np.uint64), np.minimum(found, wanted).astype(np.uint64)
    with np.errstate(over="ignore"):   # modulo 2**64, as negative numbers were converted
        distances: np.ndarray = more - less
    return distances


def _distances(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The absolute differences of elements; 0 where both are NaN or the same infinity."""
    if found.dtype == wanted.dtype and found.dtype.kind in WHOLE:
        return _whole_distances(found, wanted).astype(np.float64)
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        return np.where(same, 0.0, np.abs(found - wanted))


def check(found: Arrays, wanted: Arrays, what: str) -> float:
    """The largest absolute difference.

    Raises
    ------
    WrongResultError : an element differs by more than its tolerance.
    """
    all_of_them = differences(found, wanted)
    for each in all_of_them:
        if each.place is not None:
            raise WrongResultError(f"the output {each.output!r} is not what {what} computes",
                                   witness=each.witness,
                                   hint="--verify with another reference shows which of both errs; fusion='greedy' "
                                        "tells apart whether a plan by cost does")
    return max((each.largest for each in all_of_them), default=0.0)


def check_beside(found: Arrays, other: Arrays, reference: Callable[[], Arrays], what: str) -> float:
    """The largest absolute difference from another evaluation, whose own error may be the larger one.

    An output that differs from it by more than its tolerance is compared with a reference in float64: its error may
    be twice the other's.

    Raises
    ------
    WrongResultError : an output is neither near the other evaluation nor near the reference.
    """
    all_of_them = differences(found, other)
    far = [each for each in all_of_them if each.place is not None]
    right = reference() if far else {}
    for each in far:
        assert each.place is not None
        ours, theirs = (error(arrays[each.output], right[each.output]) for arrays in (found, other))
        if not ours <= LIMITS.most_of_the_others_error * theirs:
            raise WrongResultError(f"the output {each.output!r} is not what {what} computes", witness=(
                f"{each.witness}; the error against float64 is "
                f"{ours:.3g}, that of {what} {theirs:.3g}"),
                                   hint="--verify with another reference shows which of both errs; fusion='greedy' "
                                        "tells apart whether a plan by cost does")
    return max((each.largest for each in all_of_them), default=0.0)


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What shorter storage costs one output.

    Parameters
    ----------
    output : its name.
    largest : the largest absolute error.
    relative : the same over the largest element that is wanted.
    root_mean_square : of the errors, over that of the elements that are wanted.
    """

    output: str
    largest: float
    relative: float
    root_mean_square: float

    def __str__(self) -> str:
        return (f"{self.output}: largest error {self.largest:.3g}, {self.relative:.2e} of the largest element, "
                f"root mean square {self.root_mean_square:.2e}")


def losses(found: Arrays, wanted: Arrays) -> list[Loss]:
    """The loss of every output with elements, beside a reference."""
    result = []
    for name, right in wanted.items():
        if right.size:
            wide, far = right.astype(np.float64), _distances(found[name], right)
            top, square = float(np.abs(wide).max()), float(np.sqrt(np.mean(wide**2)))
            result.append(Loss(output=name, largest=float(far.max()), relative=_share(float(far.max()), top),
                               root_mean_square=_share(float(np.sqrt(np.mean(far**2))), square)))
    return result


def _share(part: float, whole: float) -> float:
    """One over the other; infinite where there is no whole, 0 where there is no part."""
    return part / whole if whole else float("inf") if part else 0.0


def check_loss(found: Arrays, wanted: Arrays, what: str) -> list[Loss]:
    """The losses of a model that is stored short.

    Raises
    ------
    WrongResultError : the errors of an output are more, in the root mean square, than short storage may cost.
    """
    all_of_them = losses(found, wanted)
    for each in all_of_them:
        if not each.root_mean_square <= LIMITS.most_loss:
            raise WrongResultError(f"the output {each.output!r} is not near what {what} computes",
                                   witness=str(each), hint="store the model as float32")
    return all_of_them


def error(found: np.ndarray, right: np.ndarray) -> float:
    """The largest absolute difference from a reference; NaN equals NaN, infinite where only one of them is finite."""
    return float(np.nan_to_num(_distances(found, right), nan=np.inf).max(initial=0.0))


@dataclass(frozen=True, kw_only=True)
class Times:
    """Two runs timed in alternation, each behind a rest.

    Parameters
    ----------
    seconds : the median of ours.
    ratio : the median of other / ours; above 1 ours is faster.
    interval : the quarter and three quarters of those ratios.
    """

    seconds: float
    ratio: float
    interval: tuple[float, float]


def timed(ours: Run, other: Run, arrays: Arrays, *, rounds: int = 0) -> Times:
    """Times of both in alternation.

    Threads of a team spin for a while behind a call, and would hold the cores that the other's team needs: each call
    that is timed comes behind a rest, and some that are not timed.
    """
    taken = [(pair.first, pair.own) for pair in pairs(
        partial(_seconds, ours, arrays), partial(_seconds, other, arrays), most=rounds or LIMITS.rounds)]
    ratios = [b / a for a, b in taken]
    low, _, high = statistics.quantiles(ratios, n=4)
    return Times(seconds=statistics.median(a for a, _ in taken), ratio=statistics.median(ratios), interval=(low, high))


def rested(run: Run, arrays: Arrays) -> None:
    """Some calls, when the threads of all other runtimes in this process sleep, until a team has its cores again."""
    time.sleep(LIMITS.rest_seconds)
    ready = time.perf_counter() + LIMITS.warm_seconds
    run(arrays)
    while time.perf_counter() < ready:
        run(arrays)


def _seconds(run: Run, arrays: Arrays) -> float:
    rested(run, arrays)
    started = time.perf_counter()
    run(arrays)
    return time.perf_counter() - started
