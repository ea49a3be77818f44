"""Which expressions an instruction makes the program's update of, where it chooses, shifts or compares.

All combinations are evaluated at once on small numbers, which every type has and no sum of a few leaves: what differs
there differs whatever the types are.  What agrees is a candidate for the proof, not a match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from polysched.errors import BudgetExceededError
from polysched.scop.body import Expr, IteratorRef, Load, ParameterRef, walk
from polysched.scop.dtypes import DType
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.equality.calls import in_operators
from polysched.tensorize.equality.evaluation import NotEvaluable, Vector, evaluate, numpy_dtype
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.proofs.body_proofs import references

SAMPLES = LIMITS.function_samples
LARGEST = LIMITS.largest_sample
MOST_VALUES = LIMITS.most_function_values
MOST_TRIED = LIMITS.most_tried


def functions(intrinsic: Intrinsic, update: Expr, target: str, pool: Sequence[Expr]) -> Iterator[tuple[Expr, ...]]:
    """Per input one expression, so that both updates agree on small numbers; first those that agree on large ones, too.

    Parameters
    ----------
    pool : the expressions to be tried, the same for all inputs.

    Raises
    ------
    BudgetExceededError : there are too many combinations.
    """
    contraction = intrinsic.contraction
    count = len(contraction.inputs)
    wanted = references(update) - {target}
    if not pool:
        return
    try:
        agreeing = _agreeing(intrinsic, update, target, pool, large=False)
        sure = _agreeing(intrinsic, update, target, pool, large=True) & agreeing
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


def _agreeing(intrinsic: Intrinsic, update: Expr, target: str, pool: Sequence[Expr], *,
              large: bool) -> np.typing.NDArray[np.bool_]:
    """Per combination whether both updates have the same values at all points."""
    contraction = intrinsic.contraction
    count = len(contraction.inputs)
    if (combinations := len(pool) ** count) * SAMPLES > MOST_VALUES:
        raise _too_many(intrinsic, combinations, MOST_VALUES // SAMPLES)
    values = _points(update, target, contraction.output_dtype, large=large)
    given: dict[str, Vector] = {}
    for at, (element, dtype) in enumerate(zip(contraction.inputs, contraction.input_dtypes, strict=True)):
        held = np.stack([np.broadcast_to(evaluate(e, values).astype(numpy_dtype(dtype)), SAMPLES) for e in pool])
        given[str(element)] = held.reshape([-1 if i == at else 1 for i in range(count)] + [SAMPLES])
    given[str(contraction.output)] = values[target].astype(numpy_dtype(contraction.output_dtype))
    theirs, mine = evaluate(in_operators(contraction.update), given), evaluate(in_operators(update), values)
    shape = [len(pool)] * count + [SAMPLES]
    theirs = np.broadcast_to(theirs.astype(numpy_dtype(update.dtype)) if large else theirs, shape)
    return np.asarray(np.all(theirs == mine, axis=-1))


def _points(update: Expr, target: str, output: DType, *, large: bool) -> dict[str, Vector]:
    """Numbers for all loads and iterators, the same in every run."""
    chooser = np.random.default_rng(3)
    types = {target: output} | {e.reference if isinstance(e, Load) else e.name: e.dtype for e in walk(update)
                                if isinstance(e, Load | IteratorRef | ParameterRef)}
    values: dict[str, Vector] = {}
    for name, dtype in types.items():
        low, high = dtype.value_range() if large and dtype.is_integer else (0, LARGEST)
        drawn = chooser.integers(low, high, SAMPLES, dtype=np.int64 if high < 1 << 63 else np.uint64, endpoint=True)
        values[name] = drawn.astype(numpy_dtype(dtype))
    return values
