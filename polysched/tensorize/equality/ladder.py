"""Equality of two bodies, cheapest proof first: normal form, exhaustion, SAT with free products, SAT with a limit.

All questions of one match share one budget for what is tried exhaustively, and their answers (`questions.one_budget`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from enum import Enum
from functools import partial
from threading import Timer

import numpy as np

from polysched.errors import BudgetExceededError
from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, IteratorRef, Literal, Load, ParameterRef, children, distinct
from polysched.scop.dtypes import INT64, DType
from polysched.tensorize.description.semantics import reads_table
from polysched.tensorize.equality.bits import Circuit, NotACircuit, Word
from polysched.tensorize.equality.calls import in_operators
from polysched.tensorize.equality.evaluation import NotEvaluable, Vector, evaluate, numpy_dtype
from polysched.tensorize.equality.normal_form import Normaliser
from polysched.tensorize.equality.questions import Questions, asked_here
from polysched.tensorize.equality.tables import values_of_tables
from polysched.tensorize.limits import LIMITS

EXHAUSTIVE_BITS = LIMITS.exhaustive_bits
QUICK_OPERATIONS = LIMITS.quick_operations
QUICK_CONFLICTS = LIMITS.quick_conflicts
SLICE = LIMITS.exhaustive_slice
CONFLICTS = LIMITS.equality_conflicts
PRODUCT_CONFLICTS = LIMITS.product_conflicts
PRODUCT_BITS = LIMITS.product_bits
CIRCUIT_NODES = LIMITS.circuit_nodes
LAST_SECONDS = LIMITS.solver_seconds
SAMPLES = LIMITS.equality_samples


class Verdict(Enum):
    """EQUAL and DIFFERENT are proved; UNKNOWN counts as no match."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Outcome:
    """What the ladder found.

    Parameters
    ----------
    rung : `normal form`, `exhaustive`, `sample`, `SAT, free products`, `SAT`, or `` when nothing decided.
    witness : for DIFFERENT: input values and both results.
    reassociated : the proof looked past the order in which floats are added and multiplied, so roundings may differ,
        of the result or of what is compared or converted on the way.
    """

    verdict: Verdict
    rung: str
    witness: str = ""
    reassociated: bool = False


def same_function(left: Expr, right: Expr, *, ranges: dict[str, tuple[int, int]] | None = None,
                  conflicts: int = CONFLICTS, asked: Questions[Outcome] | None = None) -> Outcome:
    """Whether two expressions have the same value for every value of their loads.

    Parameters
    ----------
    ranges : per load, the values that can occur, where that is fewer than the type has.
    conflicts : what the solver may spend on each of its rungs, counted, so that every run decides the same.
    asked : whose budget and answers are used; those of the match that is going on when None.

    Returns
    -------
    UNKNOWN where every rung that applies ran out of its budget; the witness names the budgets.
    """
    if left == right:
        return Outcome(Verdict.EQUAL, "identical")
    if left.dtype != right.dtype:
        return Outcome(Verdict.DIFFERENT, "types", f"{left.dtype} against {right.dtype}")
    asked = asked_here() if asked is None else asked
    if max(map(_occurrences, (left, right))) >= CIRCUIT_NODES:   # too many to be looked up
        return _answered(left, right, ranges or {}, conflicts, asked)
    key = (left, right, tuple(sorted((ranges or {}).items())), conflicts)
    if key not in asked.answers:
        asked.answers[key] = _answered(left, right, ranges or {}, conflicts, asked)
    return asked.answers[key]


def _answered(left: Expr, right: Expr, ranges: dict[str, tuple[int, int]], conflicts: int,
              asked: Questions[Outcome]) -> Outcome:
    """The answer to a question of two expressions of one type that was not asked before."""
    left, right = in_operators(left), in_operators(right)
    if reads_table(left) or reads_table(right):
        left, right = values_of_tables(left, right, partial(_same_subscript, ranges=ranges, conflicts=conflicts,
                                                            asked=asked))
    limits: list[str] = []
    key: Hashable = None
    try:
        normaliser = Normaliser(ranges)
        forms = [normaliser.form(e).text() for e in (left, right)]
        if forms[0] == forms[1]:
            return Outcome(Verdict.EQUAL, "normal form", reassociated=_rounds(left) or _rounds(right))
        key = _of_forms(forms, left, right, ranges)
    except BudgetExceededError as error:
        limits.append(error.problem)
    if key is not None and key in asked.answers:
        return asked.answers[key]
    outcome = _by_rungs(left, right, ranges, conflicts, asked, limits)
    if key is not None and outcome.verdict is not Verdict.UNKNOWN:   # other words may be decided
        asked.answers[key] = outcome
    return outcome


def _of_forms(forms: list[str], left: Expr, right: Expr, ranges: Mapping[str, tuple[int, int]]) -> Hashable:
    """What questions over the same integers have in common, whatever their words; None where something may round."""
    if _nodes(left) + _nodes(right) >= CIRCUIT_NODES or any(
            not e.dtype.is_integer for e in distinct(left, right)):
        return None
    inputs = _inputs(left, right)
    return (*forms, tuple(sorted((n, d.name, ranges.get(n)) for n, d in inputs.items())))


def _by_rungs(left: Expr, right: Expr, ranges: dict[str, tuple[int, int]], conflicts: int, asked: Questions[Outcome],
              limits: list[str]) -> Outcome:
    """The answer of the first rung that decides."""
    for rung in _rungs(left, right, ranges, conflicts, asked, limits):
        try:
            outcome = rung()
        except NotEvaluable as error:
            limits.append(str(error))
            continue
        if outcome is not None:
            return outcome
    return Outcome(Verdict.UNKNOWN, "", "; ".join(dict.fromkeys(limits)))


def _same_subscript(a: Expr, b: Expr, *, ranges: dict[str, tuple[int, int]], conflicts: int,
                    asked: Questions[Outcome]) -> bool:
    """Whether two subscripts are the same number for every value of their loads."""
    sides = [x if x.dtype == INT64 else Cast(x, INT64) for x in (a, b)]
    return same_function(*sides, ranges=ranges, conflicts=conflicts, asked=asked).verdict is Verdict.EQUAL


def _rungs(left: Expr, right: Expr, ranges: dict[str, tuple[int, int]], conflicts: int, asked: Questions[Outcome],
           limits: list[str]) -> Iterator[Callable[[], Outcome | None]]:
    """The further questions, the cheapest first; adds to `limits` what cannot be asked, or was asked in vain."""
    inputs = _inputs(left, right)
    bits = sum(_bits(dtype, ranges.get(name)) for name, dtype in inputs.items())
    nodes = _nodes(left) + _nodes(right)
    few = all(d.is_integer for d in inputs.values()) and bits <= EXHAUSTIVE_BITS
    work = nodes * 2 ** bits if few else math.inf
    tried = asked.affords(work)
    exhaustive = partial(_exhaustive, left, right, inputs, ranges, lambda count: asked.spend(nodes * count))
    if tried and work <= QUICK_OPERATIONS:
        yield exhaustive
    yield partial(_sampled, left, right, inputs, ranges)
    if nodes < CIRCUIT_NODES:
        yield from _sat_rungs(left, right, inputs, ranges, min(conflicts, QUICK_CONFLICTS) if tried else conflicts,
                              limits)
    else:
        limits.append(f"its circuit has more than {CIRCUIT_NODES} nodes")
    if tried:
        yield exhaustive
    limits.append(_why_open(left, right, bits, few=few))
    if few and not tried:
        asked.refused += 1
        limits[-1] = asked.words


def _why_open(left: Expr, right: Expr, bits: float, *, few: bool) -> str:
    """What would help the last rung: so many bits of inputs are few enough to be tried, or are not."""
    if any(e.dtype.is_float for e in distinct(left, right)):
        return "floats are compared by their normal form alone"
    return ("" if few else f"{bits:.0f} bits of inputs are too many to try; use narrower types, or "
            ) + "spell the update as the instruction does"


def _sat_rungs(left: Expr, right: Expr, inputs: dict[str, DType], ranges: dict[str, tuple[int, int]],
               most: int, limits: list[str]) -> Iterator[Callable[[], Outcome | None]]:
    """The questions to the solver, each with so many conflicts, with wide products and divisions fewer."""
    hard = _multiplies_wide(left) or _multiplies_wide(right)
    most = min(most, PRODUCT_CONFLICTS) if _divides(left) or _divides(right) else most
    for free in (True, False):
        circuit = Circuit(free_products=free)
        try:
            sides = circuit.word(left), circuit.word(right)
        except NotACircuit as error:
            limits.append(f"the solver knows no {error}")
            return
        last = min(most, PRODUCT_CONFLICTS) if hard and not free else most
        yield partial(_by_sat, left, right, circuit, sides, inputs, ranges, last)
    limits.append(f"{last} conflicts of the solver did not decide")


def _nodes(e: Expr) -> int:
    """Nodes of an expression, shared ones counted once, as far as a circuit may have them."""
    return sum(1 for _ in itertools.islice(distinct(e), CIRCUIT_NODES))


def _occurrences(e: Expr) -> int:
    """Nodes of an expression, those that several places share counted in each, as comparing it takes them."""
    counts: dict[int, int] = {}

    def of(x: Expr) -> int:
        if id(x) not in counts:
            counts[id(x)] = 1 + sum(map(of, children(x)))
        return counts[id(x)]

    return of(e)


def _rounds(e: Expr) -> bool:
    """Floats are added or multiplied somewhere, in an order that the normal form does not tell."""
    return any(isinstance(x, Binary) and x.dtype.is_float for x in distinct(e))


def _multiplies_wide(e: Expr) -> bool:
    """Somewhere two values that are no constants are multiplied, both wider than a solver can follow."""
    return any(isinstance(x, Binary) and x.op == "*" and all(
        not isinstance(_below_casts(side), Literal) and _below_casts(side).dtype.bits > PRODUCT_BITS
        for side in (x.left, x.right)) for x in distinct(e))


def _divides(e: Expr) -> bool:
    """Somewhere a value is divided by a number that is no power of two."""
    return any(isinstance(x, Binary) and x.op in ("/", "%") and not (
        isinstance(x.right, Literal) and (number := int(x.right.value)) & (number - 1) == 0) for x in distinct(e))


def _below_casts(e: Expr) -> Expr:
    """Below conversions, which add no bits."""
    while isinstance(e, Cast):
        e = e.operand
    return e


def _inputs(*expressions: Expr) -> dict[str, DType]:
    found: dict[str, DType] = {}
    for e in distinct(*expressions):
        if isinstance(e, Load):
            found[e.reference] = e.dtype
        elif isinstance(e, IteratorRef | ParameterRef):
            found[e.name] = e.dtype
    return found


def _bits(dtype: DType, known: tuple[int, int] | None) -> float:
    return math.log2(known[1] - known[0] + 1) if known else float(dtype.bits)


def _exhaustive(left: Expr, right: Expr, inputs: dict[str, DType], ranges: dict[str, tuple[int, int]],
                spend: Callable[[int], None]) -> Outcome:
    """Every combination of inputs, in slices along the first input so that memory stays small.

    Each input has an axis of its own, so that what reads few inputs is computed for their values alone.

    Parameters
    ----------
    spend : is told how many combinations were tried.
    """
    rows, axes = _grid(inputs, ranges)
    first = axes[0] if axes else ""
    length = math.prod(rows[n].size for n in axes[1:])
    count = max(1, SLICE // length)
    for start in range(0, rows[first].size if axes else 1, count):
        part = {n: v[start: start + count] if n == first else v for n, v in rows.items()}
        outcome = _judge_all(left, right, part, "exhaustive")
        spend(length * (part[first].size if axes else 1))
        if outcome.verdict is Verdict.DIFFERENT:
            return outcome
    return Outcome(Verdict.EQUAL, "exhaustive")


def _grid(inputs: dict[str, DType], ranges: dict[str, tuple[int, int]]) -> tuple[dict[str, Vector], list[str]]:
    """All values of each input along an axis of its own, and the inputs that have one: those of several values."""
    values: dict[str, Vector] = {}
    for name, dtype in inputs.items():
        low, high = ranges.get(name) or dtype.value_range()
        values[name] = np.arange(low, high + 1, dtype=np.int64).astype(numpy_dtype(dtype))
    axes = [n for n, v in values.items() if v.size > 1]   # no more than there are bits
    return {n: v.reshape([-1 if n == axis else 1 for axis in axes]) for n, v in values.items()}, axes


def _judge_all(left: Expr, right: Expr, rows: Mapping[str, Vector], rung: str) -> Outcome:
    a, b = evaluate(left, rows), evaluate(right, rows)
    bad = ~((a == b) | ((a != a) & (b != b)))
    if a.dtype.kind == "f":   # 0 and -0 are equal, and two values
        bad |= (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    if not bad.any():
        return Outcome(Verdict.EQUAL, rung)
    shape = np.broadcast_shapes(bad.shape, *(v.shape for v in rows.values()))
    at = np.unravel_index(int(np.broadcast_to(bad, shape).argmax()), shape)
    values = {n: np.broadcast_to(v, shape)[at] for n, v in rows.items()}
    given = ", ".join(f"{n} = {v}" for n, v in values.items())
    mine, other = (np.broadcast_to(x, shape)[at] for x in (a, b))
    return Outcome(Verdict.DIFFERENT, rung, f"{given or 'always'}: {mine} against {other}")


def _sampled(left: Expr, right: Expr, inputs: dict[str, DType],
             ranges: dict[str, tuple[int, int]]) -> Outcome | None:
    """Different at some point; None proves nothing."""
    chooser = np.random.default_rng(1)
    rows: dict[str, Vector] = {}
    for name, dtype in inputs.items():
        if dtype.is_float:
            whole = chooser.integers(-64, 64, SAMPLES)
            rows[name] = np.where(chooser.random(SAMPLES) < 0.25, -0.0, whole).astype(numpy_dtype(dtype))
            continue
        low, high = ranges.get(name) or dtype.value_range()
        drawn = chooser.integers(low, high, SAMPLES, dtype=np.int64 if high < 1 << 63 else np.uint64, endpoint=True)
        drawn[: SAMPLES // 4] = chooser.choice(np.array([low, high, max(low, min(high, 0))], drawn.dtype), SAMPLES // 4)
        rows[name] = drawn.astype(numpy_dtype(dtype))
    outcome = _judge_all(left, right, rows, "sample")
    return outcome if outcome.verdict is Verdict.DIFFERENT else None


def _by_sat(left: Expr, right: Expr, circuit: Circuit, sides: tuple[Word, Word], inputs: dict[str, DType],
            ranges: dict[str, tuple[int, int]], conflicts: int) -> Outcome | None:
    """None when the rung decides nothing: a spurious counterexample, or the budget."""
    from pysat.solvers import Solver  # when a solver is asked, not with the package

    for name, (low, high) in ranges.items():
        if name in circuit.inputs:
            _bound(circuit, circuit.inputs[name], inputs[name], low, high)
    circuit.clauses.append([circuit.any_of([circuit.differ(x, y) for x, y in zip(*sides, strict=True)])])
    rung = "SAT, free products" if circuit.free_products else "SAT"
    with Solver("glucose4", bootstrap_with=circuit.clauses) as solver:
        solver.conf_budget(conflicts)
        timer = Timer(LAST_SECONDS, solver.interrupt)
        timer.daemon = True
        timer.start()
        found = solver.solve_limited(expect_interrupt=True)
        timer.cancel()
        if found is None:
            return None
        if not found:
            return Outcome(Verdict.EQUAL, rung)
        true = set(solver.get_model())
    values = {n: _number(w, inputs[n], true) for n, w in circuit.inputs.items()}
    rows: dict[str, Vector] = {n: np.array([values.get(n, 0)]).astype(numpy_dtype(d)) for n, d in inputs.items()}
    try:
        outcome = _judge_all(left, right, rows, rung)
    except NotEvaluable:
        return None
    return outcome if outcome.verdict is Verdict.DIFFERENT else None


def _bound(circuit: Circuit, word: list[int], dtype: DType, low: int, high: int) -> None:
    def constant(value: int) -> list[int]:
        return [1 if value >> i & 1 else -1 for i in range(dtype.bits)]

    circuit.clauses.append([-circuit.less(word, constant(low), dtype.is_signed)])
    circuit.clauses.append([-circuit.less(constant(high), word, dtype.is_signed)])


def _number(word: list[int], dtype: DType, true: set[int]) -> int:
    bits = sum(1 << i for i, x in enumerate(word) if x in true)
    return bits - (1 << dtype.bits) if dtype.is_signed and bits >> (dtype.bits - 1) else bits
