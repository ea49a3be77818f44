"""The problem size that a function runs with when the user names none, or not every parameter.

Where array extents are constants, the largest size that keeps every access in bounds; where they follow the
parameters, a size that runs for about a second; the number of time steps then fits in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import starmap
from math import prod

import islpy as isl

from polysched.errors import UsageError
from polysched.measure.programs.bounds import StrayAccess, check_sizes, extents_at, stray_accesses, valid_sizes
from polysched.measure.programs.c_integers import evaluate, names_in
from polysched.records import dataclass
from polysched.scop.points import fix_parameters, isl_value, with_sizes
from polysched.scop.scop import Scop

DIM = isl.dim_type
LONG_EDGES = (4_000_000, 1_000_000, 400_000, 100_000, 40_000, 10_000, 4000)
EDGES = (2000, 1600, 1200, 1000, 800, 600, 500, 400, 300, 200, 150, 100, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1)
TRIP_COUNTS = (100, 50, 20, 10, 5, 2, 1)
MOST_INSTANCES = 400_000_000
MOST_INSTANCES_WITHIN_ARRAYS = 10_000_000_000
MOST_INSTANCES_OF_LONG_EDGES = 4_000_000   # what a square of the largest of EDGES has
MOST_BYTES = 512 << 20


@dataclass(frozen=True, kw_only=True)
class ProblemSize:
    """A value for every parameter of a Scop.

    Parameters
    ----------
    values : by the parameter's name in the Scop.
    spelled : the same by the C spelling, for the user.
    chosen : spellings that the user did not give.
    instances : statement instances, at most (bounding boxes of the domains).
    """

    values: Mapping[str, int]
    spelled: Mapping[str, int]
    chosen: tuple[str, ...]
    instances: int


def choose_size(scops: Sequence[Scop], given: Mapping[str, int]) -> ProblemSize:
    """Complete the sizes that the user gives, and refuse those that cannot work.

    Parameters
    ----------
    scops : all regions of one function.
    given : by C spelling.

    Raises
    ------
    UsageError : an access would leave its array, or nothing would run.
    """
    parameters = [p for scop in scops for p in scop.parameters]
    by_spelling = {p.spelling: p.name for p in parameters}
    computed = {p.name: p.definition for p in parameters if p.definition}
    fixed = {by_spelling[s]: v for s, v in given.items() if s in by_spelling}
    stray = [(scop, stray_accesses(scop)) for scop in scops]
    _check_all(stray, fixed)
    valid = reduce(isl.Set.intersect, starmap(valid_sizes, stray))
    if computed:
        known = {p.spelling: p.name for p in parameters if not p.definition}
        values, spelled = _complete_computed(scops, valid, known, computed, given)
    else:
        values = _complete(scops, valid, fixed)
        spelled = {spelling: values[name] for spelling, name in by_spelling.items()}
    _check_all(stray, values)
    return ProblemSize(values=values, spelled=spelled, instances=_instances(scops, values, spelled),
                       chosen=tuple(s for s in spelled if s not in given))


def _check_all(stray: Sequence[tuple[Scop, tuple[StrayAccess, ...]]], values: Mapping[str, int]) -> None:
    """Refuse values at which an access of some region would leave its array."""
    for scop, found in stray:
        check_sizes(scop, values, found)


def _instances(scops: Sequence[Scop], values: Mapping[str, int], spelled: Mapping[str, int]) -> int:
    """How many instances there are at most; refuses sizes at which there are none."""
    instances = instance_bound(scops, values)
    if instances == 0:
        sizes = ", ".join(f"{s}={v}" for s, v in spelled.items()) or "these sizes"
        raise UsageError(f"no statement of {scops[0].name} runs with {sizes}",
                         hint="choose larger values with --size")
    return instances


def _roles(scops: Sequence[Scop], valid: isl.Set, fixed: Mapping[str, int], names: Sequence[str]
           ) -> tuple[list[str], list[str], list[str]]:
    """Free parameters that are extents of arrays, other free ones, and those that arrays bound."""
    within = with_sizes(valid, fixed)
    context = with_sizes(reduce(isl.Set.intersect, (scop.context for scop in scops)), fixed)
    bounded = [n for n in names if _largest(within, n) != _largest(context, n)]
    free = [n for n in names if n not in bounded]
    edges = [n for n in free if _decides_an_extent(scops, n)]
    return edges, [n for n in free if n not in edges], bounded


def _most_instances(edges: Sequence[str], edge: int) -> int:
    if edge > EDGES[0]:
        return MOST_INSTANCES_OF_LONG_EDGES
    return MOST_INSTANCES if edges else MOST_INSTANCES_WITHIN_ARRAYS


def _complete(scops: Sequence[Scop], valid: isl.Set, fixed: Mapping[str, int]) -> dict[str, int]:
    """Values for all parameters: free ones by their role, then the largest for those that arrays bound."""
    names = dict.fromkeys(p.name for scop in scops for p in scop.parameters)
    valid = _where_all_runs(scops, valid, fixed)
    edges, counts, bounded = _roles(scops, valid, fixed, [n for n in names if n not in fixed])
    values = dict(fixed)
    cap = None
    for wanted, count in _candidates(bool(edges or bounded), bool(counts)):
        edge = _largest_together(valid, edges, wanted) if edges else wanted
        guess = dict(fixed) | dict.fromkeys(edges, edge) | dict.fromkeys(counts, count)
        remaining = with_sizes(valid, guess)
        if remaining.is_empty():
            continue
        values = guess | _balanced_largest(remaining, bounded, cap=cap)
        cap = edge
        if 0 < instance_bound(scops, values) <= _most_instances(edges, wanted) and (
                array_bytes(scops, values) <= MOST_BYTES):
            break
    if len(values) < len(names):
        raise UsageError(f"no sensible sizes were found for {scops[0].name}", witness=str(valid),
                         hint="give them with --size")
    return values


def _complete_computed(scops: Sequence[Scop], valid: isl.Set, known: Mapping[str, str], computed: Mapping[str, str],
                       given: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Values where the function computes some of the sizes before the region: `int rows = (n + 3) / 4;`.

    All integers that are open get the same value, the largest with which the computed ones are valid and affordable.

    Parameters
    ----------
    known : the other parameters of the region, their names by C spelling.
    computed : C expressions over integer parameters of the function, by name.
    given : by C spelling.

    Returns
    -------
    The values of all parameters by name, and those of the function's integers by C spelling.
    """
    spellings = dict.fromkeys((*known, *(n for text in computed.values() for n in names_in(text))))
    running = _where_all_runs(scops, valid, {})
    for edge in (*LONG_EDGES, *EDGES):
        spelled = {s: given.get(s, edge) for s in spellings}
        found = {name: evaluate(text, spelled) for name, text in computed.items()}
        values = {name: spelled[s] for s, name in known.items()} | {n: v for n, v in found.items() if v is not None}
        if len(values) < len(known) + len(computed) or with_sizes(running, values).is_empty():
            continue
        most = MOST_INSTANCES_OF_LONG_EDGES if edge > EDGES[0] else MOST_INSTANCES
        if instance_bound(scops, values) <= most and array_bytes(scops, values) <= MOST_BYTES:
            return values, spelled
    raise UsageError(f"no sensible sizes were found for {scops[0].name}", witness="; ".join(
        f"{name} = {text}" for name, text in computed.items()), hint="give them with --size")


def _where_all_runs(scops: Sequence[Scop], valid: isl.Set, fixed: Mapping[str, int]) -> isl.Set:
    """The valid sizes at which every statement has an instance; all of them when there are none."""
    domains = (statement.domain.params() for scop in scops for statement in scop.statements)
    running = reduce(isl.Set.intersect, domains, valid)
    return valid if with_sizes(running, fixed).is_empty() else running.coalesce()


def _candidates(edges: bool, counts: bool) -> Iterator[tuple[int, int]]:
    """Edge lengths from large to small, each with trip counts from large to small.

    The long ones are for arrays of one dimension, which would be done in a microsecond else.
    """
    for edge in (*LONG_EDGES, *EDGES) if edges else EDGES[:1]:
        for count in (TRIP_COUNTS if edge == EDGES[-1] or not edges else TRIP_COUNTS[:3]) if counts else (1,):
            yield edge, count


def instance_bound(scops: Sequence[Scop], values: Mapping[str, int]) -> int:
    """At most this many statement instances run: the bounding boxes of the domains."""
    total = 0
    for statement in (s for scop in scops for s in scop.statements):
        domain = fix_parameters(statement.domain, values)
        if domain.is_empty():
            continue
        total += prod(int(domain.dim_max_val(d).to_python()) - int(domain.dim_min_val(d).to_python()) + 1
                      for d in range(statement.depth))
    return total


def array_bytes(scops: Sequence[Scop], values: Mapping[str, int]) -> int:
    """The bytes of all arrays of the regions."""
    sizes = {array.name: prod(max(0, e) for e in extents_at(scop, array, values)) * array.dtype.bytes
             for scop in scops for array in scop.arrays}
    return sum(sizes.values())


def _decides_an_extent(scops: Sequence[Scop], name: str) -> bool:
    """Whether arrays grow with the parameter (a size) or not (a number of repetitions)."""
    small = {p.name: 64 for scop in scops for p in scop.parameters}
    return any(extents_at(scop, a, small) != extents_at(scop, a, small | {name: 96})
               for scop in scops for a in scop.arrays)


def _as_tuple_set(valid: isl.Set) -> tuple[isl.Set, list[str]]:
    """The parameters of a set of parameter values as its dimensions."""
    names = [valid.get_dim_name(DIM.param, i) or "" for i in range(valid.dim(DIM.param))]
    params = isl.Set.from_params(valid.params())
    return params.move_dims(DIM.set, 0, DIM.param, 0, len(names)), names


def _largest(valid: isl.Set, name: str) -> int | None:
    """The largest value of one parameter; None when there is none."""
    values, names = _as_tuple_set(valid)
    if name not in names or values.is_empty():
        return None
    largest = values.dim_max_val(names.index(name))
    return int(largest.to_python()) if largest.is_int() else None


def _largest_together(valid: isl.Set, names: Sequence[str], most: int) -> int:
    """The largest value up to `most` that all these parameters can have at once; `most` where there is none.

    A program whose statements all run at odd sizes only is not measured at a tiny one.
    """
    values, order = _as_tuple_set(valid)
    first = order.index(names[0])
    for name in names[1:]:
        values = values.equate(DIM.set, first, DIM.set, order.index(name))
    largest = values.upper_bound_val(DIM.set, first, isl_value(most)).dim_max_val(first)
    return int(largest.to_python()) if largest.is_int() else most


def _balanced_largest(valid: isl.Set, names: list[str], *, cap: int | None) -> dict[str, int]:
    """The largest values for these parameters: first the smallest of them as large as possible, then each in turn."""
    values, order = _as_tuple_set(valid)
    for name in names:
        if cap is not None:
            capped = values.upper_bound_val(DIM.set, order.index(name), isl_value(cap))
            values = values if capped.is_empty() else capped
    floor = _largest_common_floor(values, [order.index(n) for n in names])
    for name in names:
        values = values.lower_bound_val(DIM.set, order.index(name), isl_value(floor))
    chosen = {}
    for name in names:
        position = order.index(name)
        largest = values.dim_max_val(position)
        values = values.fix_val(DIM.set, position, largest)
        chosen[name] = int(largest.to_python())
    return chosen


def _largest_common_floor(values: isl.Set, positions: list[int]) -> int:
    """The largest t for which some point has all these coordinates at least t."""
    if not positions:
        return 0
    low, high = None, min(int(values.dim_max_val(p).to_python()) for p in positions)

    def reachable(floor: int) -> bool:
        bounded = values
        for position in positions:
            bounded = bounded.lower_bound_val(DIM.set, position, isl_value(floor))
        return not bounded.is_empty()

    if reachable(high):
        return high
    low = min(0, high)
    while not reachable(low):
        low = 2 * low - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reachable(middle) else (low, middle)
    return low
