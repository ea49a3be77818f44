"""Which expressions an instruction makes the program's update of, where it chooses, shifts or compares.

All combinations are evaluated at once on small numbers, which every type has and no sum of a few leaves: what differs
there differs whatever the types are.  What agrees is a candidate for the proof, not a match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from polysched.errors import BudgetExceededError
from polysched.scop.body import Binary, Cast, Expr, IteratorRef, Literal, Load, ParameterRef, rebuild, walk
from polysched.scop.dtypes import INT32, UINT32, DType
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.semantics import is_table_read
from polysched.tensorize.equality.calls import in_operators
from polysched.tensorize.equality.evaluation import NotEvaluable, Vector, evaluate, numpy_dtype
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.proofs.body_proofs import references
from polysched.tensorize.software.fragment import Assigned

SAMPLES = LIMITS.function_samples
LARGEST = LIMITS.largest_sample
SCATTER = 2654435761  # 2^32 over the golden ratio, a prime
MOST_VALUES = LIMITS.most_function_values
MOST_TRIED = LIMITS.most_tried


def functions(intrinsic: Intrinsic, results: Sequence[Assigned], pool: Sequence[Expr]) -> Iterator[tuple[Expr, ...]]:
    """Per input one expression, so that all updates agree on small numbers; first those that agree on large ones, too.

    Parameters
    ----------
    results : of the program, in the order of the instruction's; the target is the reference of the old value.
    pool : the expressions to be tried, the same for all inputs.

    Raises
    ------
    BudgetExceededError : there are too many combinations.
    """
    contraction = intrinsic.contraction
    count = len(contraction.inputs)
    wanted = frozenset().union(*(references(r.update) for r in results)) - {r.target for r in results}
    if not pool and count:
        return
    try:
        agreeing = _agreeing(intrinsic, results, pool, large=False)
        if not agreeing.any():
            return
        sure = _agreeing(intrinsic, results, pool, large=True) & agreeing
    except NotEvaluable:
        if len(pool) ** count > MOST_TRIED:
            raise _too_many(intrinsic, len(pool) ** count, MOST_TRIED) from None
        agreeing = sure = np.ones([len(pool)] * count, dtype=bool)
    for places in (np.argwhere(sure), np.argwhere(agreeing & ~sure)):
        for place in sorted(map(tuple, places), key=lambda p: count - len({*p})):   # each expression once, if that does
            chosen = tuple(pool[at] for at in place)
            if frozenset().union(*map(references, chosen)) == wanted:
                yield chosen


def _too_many(intrinsic: Intrinsic, count: int, most: int) -> BudgetExceededError:
    return BudgetExceededError(
        f"{intrinsic.name} has {len(intrinsic.contraction.inputs)} inputs, and there are {count} ways to put "
        f"expressions of the update into them, more than {most}",
        hint="compute parts of the update in statements of their own")


def _agreeing(intrinsic: Intrinsic, results: Sequence[Assigned], pool: Sequence[Expr], *,
              large: bool) -> np.typing.NDArray[np.bool_]:
    """Per combination whether all updates have the same values at all points."""
    contraction = intrinsic.contraction
    count = len(contraction.inputs)
    if (combinations := len(pool) ** count) * SAMPLES > MOST_VALUES:
        raise _too_many(intrinsic, combinations, MOST_VALUES // SAMPLES)
    values = _points(results, [r.output_dtype for r in contraction.results], large=large)
    given: dict[str, Vector] = {}
    for at, (element, dtype) in enumerate(zip(contraction.inputs, contraction.input_dtypes, strict=True)):
        held = np.stack([np.broadcast_to(evaluate(e, values).astype(numpy_dtype(dtype)), SAMPLES) for e in pool])
        given[str(element)] = held.reshape([-1 if i == at else 1 for i in range(count)] + [SAMPLES])
    for wanted, mine in zip(contraction.results, results, strict=True):
        given[str(wanted.output)] = values[mine.target].astype(numpy_dtype(wanted.output_dtype))
    shape = [len(pool)] * count + [SAMPLES]
    agree = np.ones(shape[:-1], dtype=bool)
    for wanted, mine in zip(contraction.results, results, strict=True):
        theirs, ours = evaluate(_scattered(in_operators(wanted.update)), given), evaluate(
            _scattered(in_operators(mine.update)), values)
        theirs = np.broadcast_to(theirs.astype(numpy_dtype(mine.update.dtype)) if large else theirs, shape)
        agree &= np.all(theirs == ours, axis=-1)
    return agree


def _scattered(e: Expr) -> Expr:
    """Elements of tables as numbers that their subscripts alone decide (Knuth, TAOCP vol. 3, section 6.4)."""
    def change(x: Expr) -> Expr:
        if not is_table_read(x):
            return x
        total: Expr = Literal(str(len(x.function)), len(x.function), UINT32)
        for argument in (a for a in x.arguments if references(a)):   # others choose among equal tables
            moved = Binary("+", total, Cast(argument, UINT32), UINT32)
            total = Binary("*", moved, Literal(str(SCATTER), SCATTER, UINT32), UINT32)
        return Cast(Binary(">>", total, Literal("16", 16, INT32), UINT32), x.dtype)

    return rebuild(e, change)


def _points(results: Sequence[Assigned], outputs: Sequence[DType], *, large: bool) -> dict[str, Vector]:
    """Numbers for all loads and iterators, the same in every run."""
    chooser = np.random.default_rng(3)
    types = {r.target: output for r, output in zip(results, outputs, strict=True)}
    types |= {e.reference if isinstance(e, Load) else e.name: e.dtype for r in results for e in walk(r.update)
              if isinstance(e, Load | IteratorRef | ParameterRef)}
    values: dict[str, Vector] = {}
    for name, dtype in types.items():
        low, high = dtype.value_range() if large and dtype.is_integer else (0, LARGEST)
        drawn = chooser.integers(low, high, SAMPLES, dtype=np.int64 if high < 1 << 63 else np.uint64, endpoint=True)
        values[name] = drawn.astype(numpy_dtype(dtype))
    return values
