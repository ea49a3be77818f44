"""Instructions that add several elements to one: whether their own order is the program's.

An execution runs its text's loops one after the other. Around it run the loops that stayed outside, in the program's
order, and then the tiles of the groups in theirs. A mapping keeps the order of updates if every update of an element
has a later place in this sequence than the one before it, which isl decides for the dependences between updates.

What padding adds has to be -0.0, the one float that keeps every sum: +0.0 turns a sum of -0.0 into +0.0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import islpy as isl
import numpy as np

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.equality.evaluation import NotEvaluable, evaluate
from polysched.tensorize.proofs.correspondence import Grouped, is_shared
from polysched.tensorize.proofs.isl_check import Refusal, fused_index, iteration_map
from polysched.tensorize.software.fragment import Fragment


def runs_in_order(intrinsic: Intrinsic) -> bool:
    """Whether one execution updates each element in the order of its text, which is the machine's.

    A library function may reorder. A finish and limits act on whole sums, of which the text has several parts.
    """
    contraction = intrinsic.contraction
    special = contraction.finish or contraction.limits or contraction.others or contraction.tables or contraction.scale
    return contraction.in_order and not special and not intrinsic.library and not intrinsic.any_order


@lru_cache(maxsize=512)
def negative_zeros(intrinsic: Intrinsic) -> frozenset[str] | None:
    """The inputs whose padding is -0.0, that of all others being zero, so that padding adds -0.0; None for none."""
    contraction = intrinsic.contraction
    types = dict(zip(contraction.inputs, contraction.input_dtypes, strict=True))
    signed = sorted({e.array for e, dtype in types.items() if dtype.is_float and not is_shared(intrinsic, e.array)})
    for count in range(len(signed) + 1):
        for chosen in map(frozenset, itertools.combinations(signed, count)):
            values = {str(e): np.array([-0.0 if e.array in chosen else 0]) for e in types}
            values[str(contraction.output)] = np.array([-0.0])
            try:
                total = evaluate(contraction.update, values)
            except NotEvaluable:
                return None
            if not total[0] and np.signbit(total[0]):
                return chosen
    return None


def reordered(fragment: Fragment, intrinsic: Intrinsic, own: Sequence[isl.Map], groups: Sequence[Grouped],
              loops: Sequence[tuple[str, ...]], *, equal: frozenset[str] = frozenset()) -> Refusal | None:
    """Refuse a mapping that would update an element in another order than the program.

    Parameters
    ----------
    own : the dependences between updates of one element.
    loops : per group its loops, outermost first.
    equal : loops that have one value in all updates of an element; they decide nothing.
    """
    parts = [(part, members) for part, members in zip(groups, loops, strict=True) if not {*members} <= equal]
    mapped = frozenset(name for members in loops for name in members)
    sequence = _sequence(fragment, intrinsic, parts, mapped | equal)
    not_later = sequence.lex_ge_map(sequence)
    wrong = next((both for r in own if not (both := r.intersect(not_later)).is_empty()), None)
    if wrong is None:
        return None
    summed = [at for at, g in enumerate(groups) if not intrinsic.contraction.output.names & {*g.dimensions}]
    blamed = frozenset(n for at in summed for n in loops[at])
    return Refusal(f"{intrinsic.name} would add to one element in another order than the program does "
                   f"({_sample(wrong)})", blamed or mapped, tuple(summed or range(len(groups))))


def _sequence(fragment: Fragment, intrinsic: Intrinsic, parts: Sequence[tuple[Grouped, tuple[str, ...]]],
              apart: frozenset[str]) -> isl.Map:
    """When an iteration is computed: by the loops around, but for those `apart`, the tiles, and the text's loops."""
    outer = [loop.name for loop in fragment.loops if loop.name not in apart]
    tiles = [f"floor(({fused_index(fragment, members)}) / {math.prod(part.extents)})" for part, members in parts]
    return iteration_map(fragment, [*outer, *tiles, *_places(fragment, intrinsic, parts)])


def _places(fragment: Fragment, intrinsic: Intrinsic,
            parts: Sequence[tuple[Grouped, tuple[str, ...]]]) -> Iterator[str]:
    """The place of an iteration in its execution: one number per dimension, in the order of the text's loops."""
    found: dict[str, str] = {}
    for part, members in parts:
        rest = math.prod(part.extents)
        for name, size in zip(part.dimensions, part.extents, strict=True):
            rest //= size
            found[name] = f"(floor(({fused_index(fragment, members)}) / {rest}) mod {size})"
    for dimension in (d for d in intrinsic.contraction.dimensions if d.name in found):
        yield f"{'-' * (dimension.name in intrinsic.contraction.descending)}{found[dimension.name]}"


def _sample(pairs: isl.Map) -> str:
    """Two iterations that would change their order, the program's first one first."""
    point = pairs.lexmin().sample().wrap().sample_point()
    count = point.get_space().dim(isl.dim_type.set)
    values = [str(point.get_coordinate_val(isl.dim_type.set, at)) for at in range(count)]
    half = len(values) // 2
    return f"iterations ({', '.join(values[:half])}) and ({', '.join(values[half:])})"
