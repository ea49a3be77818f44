"""Instances that an instruction leaves out: loops whose bounds are no box (`for (j = 0; j <= i; j++)`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import islpy as isl

from polysched.tensorize.description.contraction import Dimension
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.semantics import Affine
from polysched.tensorize.proofs.correspondence import Grouped
from polysched.tensorize.proofs.isl_check import Refusal, fused_index
from polysched.tensorize.software.fragment import Fragment


def missing_instances(fragment: Fragment, intrinsic: Intrinsic, groups: Sequence[Grouped] | None,
                      loops: Sequence[tuple[str, ...]]) -> Refusal | None:
    """Refuse a mapping that puts iterations of the program where the instruction computes nothing.

    Parameters
    ----------
    groups : of dimensions, in the matcher's order; None for an instruction that leaves out nothing.
    loops : per group its loops, outermost first.
    """
    if groups is None:
        return None
    names = [d.name for d in intrinsic.contraction.dimensions]
    missing = places(fragment, names, groups, loops).range().subtract(instances(intrinsic))
    if missing.is_empty():
        return None
    point = missing.sample_point()
    at = ", ".join(f"{n} = {point.get_coordinate_val(isl.dim_type.set, i)}" for i, n in enumerate(names))
    return Refusal(f"{intrinsic.name} computes nothing at ({at}), where the program has an iteration",
                   frozenset(n for members in loops for n in members), tuple(range(len(groups))))


def left_out(fragment: Fragment, intrinsic: Intrinsic, groups: Sequence[Grouped] | None,
             loops: Sequence[tuple[str, ...]]) -> isl.Set | None:
    """The iterations of the box around the program's at whose places the instruction computes nothing.

    Parameters
    ----------
    groups, loops : as of `missing_instances`.
    """
    if groups is None:
        return None
    names = [d.name for d in intrinsic.contraction.dimensions]
    everywhere = _places(fragment, names, groups, loops).intersect_domain(fragment.iterations_of_all_sizes[1])
    return everywhere.subtract_range(instances(intrinsic)).domain()


def places(fragment: Fragment, names: Sequence[str], groups: Sequence[Grouped],
           loops: Sequence[tuple[str, ...]]) -> isl.Map:
    """From iterations of the program to the instance of the instruction that computes them, in its own execution."""
    return _places(fragment, names, groups, loops).intersect_domain(fragment.domain)


def _places(fragment: Fragment, names: Sequence[str], groups: Sequence[Grouped],
            loops: Sequence[tuple[str, ...]]) -> isl.Map:
    """As `places`, also where the program has no iteration."""
    where, tiles = [], []
    for g, part in enumerate(groups):
        rest, terms = math.prod(part.extents), []
        tiles.append(f"ps_t{g}")
        terms.append(f"{rest} * ps_t{g}")
        for name, size in zip(part.dimensions, part.extents, strict=True):
            rest //= size
            terms.append(f"{rest} * ps_{name}")
            where.append(f"0 <= ps_{name} < {size}")
        where.append(f"{' + '.join(terms)} = {fused_index(fragment, loops[g])}")
    statement = fragment.statement
    text = f"{{ {statement.name}[{', '.join(statement.iterators)}] -> D[{', '.join(f'ps_{n}' for n in names)}] : " \
           f"exists {', '.join(tiles)}: {' and '.join(where)} }}"
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text)


@lru_cache(maxsize=512)
def instances(intrinsic: Intrinsic) -> isl.Set:
    """What one execution computes."""
    dimensions = intrinsic.contraction.dimensions
    text = f"{{ D[{', '.join(d.name for d in dimensions)}] : {' and '.join(map(_bounds, dimensions)) or 'true'} }}"
    return isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)


@lru_cache(maxsize=512)
def first_instances(intrinsic: Intrinsic) -> frozenset[int]:
    """Where dimensions begin whose first iterations compute nothing (`for i: for k < i`: the first i is 1)."""
    computed = instances(intrinsic)
    return frozenset(int(computed.dim_min_val(at).get_num_si())
                     for at in range(len(intrinsic.contraction.dimensions))) - {0}


def _bounds(d: Dimension) -> str:
    upper = "" if d.upper is None else f" and {d.name} < {_text(d.upper)}"
    return f"{_text(d.lower)} <= {d.name} and 0 <= {d.name} < {d.extent}{upper}"


def _text(affine: Affine) -> str:
    return " + ".join([*(f"{c} * {n}" for n, c in affine.terms), str(affine.constant)])
