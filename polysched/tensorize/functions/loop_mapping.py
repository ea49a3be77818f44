"""Which instances of two statements may correspond: the same loops in any order, each shifted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TypeAlias

import islpy as isl

from polysched.tensorize.functions.state import PREFIX, State
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.software.polynomials import Polynomial, add, affine_text, divided, of_affine, parameters_of

Bounds: TypeAlias = list[tuple[Polynomial | None, Polynomial | None]]   # the least and the greatest value per loop
MOST_LOOPS = LIMITS.most_mapped_loops


def loop_mappings(state: State, ours: isl.Set, theirs: isl.Set) -> Iterator[tuple[State, isl.Map]]:
    """Bijections `{ [program's] -> [function's] }` of two domains, proved by isl, with what they say of parameters.

    Parameters
    ----------
    ours, theirs : domains of the program and of the function.
    """
    depth = ours.dim(isl.dim_type.set)
    if depth != theirs.dim(isl.dim_type.set) or depth > MOST_LOOPS:
        return
    mine, wanted = _bounds(ours, quotients=True), _bounds(theirs)
    for order in itertools.permutations(range(depth)):
        made = _shifted(state, [mine[at] for at in order], wanted)
        if made is None:
            continue
        after, shifts = made
        mapping = _mapping(order, shifts).intersect_domain(ours.intersect_params(after.context))
        mapping = after.in_program(mapping)
        if mapping.range().is_equal(after.in_program(theirs)):
            yield after, mapping


def _bounds(domain: isl.Set, *, quotients: bool = False) -> Bounds:
    """Least and greatest value per dimension; None where it has no such bound.

    Parameters
    ----------
    quotients : a bound may divide a size, as the end of a loop in steps does.
    """
    kind = isl.dim_type.set
    return [(of_affine(domain.dim_min(at), quotients=quotients) if domain.dim_has_lower_bound(kind, at) else None,
             of_affine(domain.dim_max(at), quotients=quotients) if domain.dim_has_upper_bound(kind, at) else None)
            for at in range(domain.dim(kind))]


def _shifted(state: State, mine: Bounds, wanted: Bounds) -> tuple[State, list[Polynomial]] | None:
    """How far every loop is shifted, and the state with the parameters that the extents say."""
    shifts: list[Polynomial] = []
    for (low, high), (first, last) in zip(mine, wanted, strict=True):
        if low is None or high is None or first is None or last is None:
            return None
        start = state.known(first)
        if start is None:
            return None
        shift = add(start, low, -1)
        end = add(high, shift)
        state = _with_extent(state, last, end)
        if any(len(m) > 1 for m in shift):
            return None
        shifts.append(shift)
    return state, shifts


def _with_extent(state: State, last: Polynomial, end: Polynomial) -> State:
    """The state in which a bound of the function has a value of the program, if that gives one more parameter."""
    unknown = [m for m in last if m and m[0].startswith(PREFIX) and m[0].removeprefix(PREFIX) not in state.values]
    if len(unknown) != 1:
        return state
    rest = state.known({m: c for m, c in last.items() if m != unknown[0]})
    value = divided(add(end, rest or {}, -1), last[unknown[0]])
    return state if value is None else state.with_value(unknown[0][0].removeprefix(PREFIX), value)


def _mapping(order: tuple[int, ...], shifts: list[Polynomial]) -> isl.Map:
    names = sorted({n for s in shifts for n in parameters_of(s)})
    dims = ", ".join(f"j{at}" for at in range(len(order)))
    images = ", ".join(f"j{at} + {affine_text(s)}" for at, s in zip(order, shifts, strict=True))
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, f"[{', '.join(names)}] -> {{ [{dims}] -> [{images}] }}")
