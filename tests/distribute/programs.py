"""Programs that are distributed in tests, and a second witness for their messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import islpy as isl

from polysched.distribute import Distributed
from polysched.distribute.sent import sent
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters, instances_in_order, pairs_of, points_of
from polysched.scop.scop import AccessKind, Scop

PROGRAMS = {
    "jacobi": ("int n, int t, double A[n][n], double B[n][n]",
               "for (int k = 0; k < t; k++) { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) "
               "B[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]); "
               "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) "
               "A[i][j] = 0.25 * (B[i - 1][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1]); }"),
    "lu": ("int n, double A[n][n]",
           "for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) { for (int k = 0; k < j; k++) "
           "A[i][j] -= A[i][k] * A[k][j]; A[i][j] /= A[j][j]; } for (int j = i; j < n; j++) "
           "for (int k = 0; k < i; k++) A[i][j] -= A[i][k] * A[k][j]; }"),
    "product": ("int n, double A[n][n], double B[n][n], double C[n][n]",
                "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { C[i][j] = 0.0; "
                "for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j]; }"),
    "floyd": ("int n, double A[n][n]",
              "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
              "A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];"),
    "seidel": ("int n, int t, double A[n][n]",
               "for (int k = 0; k < t; k++) for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) "
               "A[i][j] = (A[i - 1][j] + A[i][j] + A[i + 1][j]) / 3;"),
    "reverse": ("int n, double x[n], double A[n][n]",
                "for (int i = n - 1; i >= 0; i--) for (int j = i + 1; j < n; j++) x[i] -= A[i][j] * x[j];"),
    "conditional": ("int n, int t, double A[n], double B[n]",
                    "for (int k = 0; k < t; k++) { for (int i = 1; i < n - 1; i++) if (A[i] > 0.5) B[i] = A[i - 1]; "
                    "for (int i = 1; i < n - 1; i++) A[i] = B[i - 1] - B[i + 1]; }"),
    "sum": ("int n, double A[n], double s[1], double B[n]",
            "s[0] = 0.0; for (int i = 0; i < n; i++) s[0] += A[i]; for (int i = 0; i < n; i++) B[i] = A[i] / s[0];"),
}
SIZES = {"n": 7, "t": 3}


def scop_of(name: str) -> Scop:
    arguments, body = PROGRAMS[name]
    return from_c_text(f"void f({arguments}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


def sizes_of(scop: Scop) -> dict[str, int]:
    return {p.name: SIZES[p.name] for p in scop.parameters}


def sent_by_sets(distributed: Distributed, ranks: int) -> Counter[tuple[int, int, str]]:
    """Elements by sender, receiver and array, all steps together, counted in the messages' sets."""
    found = Counter[tuple[int, int, str]]()
    for message in sent(distributed, ranks, sizes_of(distributed.scop)):
        found[message.sender, message.receiver, message.array] += message.count
    return found


def sent_by_walking(scop: Scop, owners: Mapping[str, Mapping[tuple[int, ...], int]],
                    executors: Mapping[str, Mapping[tuple[int, ...], set[int]]] | None = None
                    ) -> Counter[tuple[int, int, str]]:
    """The same by running over all instances in the order of the program, with the last writer of every element.

    Parameters
    ----------
    owners : per statement and instance the rank.
    executors : the ranks that run it; its owner alone unless given.
    """
    sizes, found = sizes_of(scop), Counter[tuple[int, int, str]]()
    writer: dict[tuple[str, tuple[int, ...]], tuple[int, int, set[int]]] = {}
    known: set[tuple[tuple[str, tuple[int, ...]], int, int]] = set()
    order = instances_in_order(scop.domain, scop.schedule, sizes, [s.name for s in scop.statements])
    for number, (name, point) in enumerate(order):
        statement = scop.statement(name)
        rank = owners[statement.name][point]
        ranks = {rank} if executors is None else executors[statement.name][point]
        elements = [(a, element) for a in statement.accesses
                    for element in _elements(a.relation, sizes, point)]
        for access, element in elements:
            place = (access.array, element)
            reads = access.kind is not AccessKind.MUST_WRITE
            for reader in ranks - writer[place][2] if reads and place in writer else ():
                value = (place, writer[place][1], reader)
                if value not in known:
                    known.add(value)
                    found[writer[place][0], reader, access.array] += 1
        for access, element in elements:
            if access.is_write:
                writer[access.array, element] = (rank, number, ranks)
    return found


def _elements(relation: isl.Map, sizes: Mapping[str, int], point: tuple[int, ...]) -> list[tuple[int, ...]]:
    relation = fix_parameters(relation, {**sizes})
    for at, value in enumerate(point):
        relation = relation.fix_val(isl.dim_type.in_, at, isl.Val(value))
    return points_of(relation.range())


def ranks_of(distributed: Distributed, ranks: int) -> dict[str, dict[tuple[int, ...], int]]:
    """Per statement and instance its rank, by the formula and not by the sets."""
    sizes = sizes_of(distributed.scop)
    places = {name: pairs_of(fix_parameters(owner.intersect_domain(distributed.scop.statement(name).domain), sizes))
              for name, owner in distributed.owners.items()}
    axis = [a for own in places.values() for _, (a,) in own]
    return {name: {point: distributed.partition.owner(a, min(axis), max(axis), ranks) for point, (a,) in own}
            for name, own in places.items()}


def executors_of(distributed: Distributed, ranks: int) -> dict[str, dict[tuple[int, ...], set[int]]]:
    """Per statement and instance the ranks that run it, by the trapezoid's formula and not by the sets."""
    sizes, tile = sizes_of(distributed.scop), distributed.tile
    owned = ranks_of(distributed, ranks)
    places = {}
    for statement in distributed.scop.statements:
        both = distributed.owners[statement.name].flat_range_product(
            isl.Map.from_aff(distributed.steps[0][statement.name])).intersect_domain(statement.domain)
        places[statement.name] = dict(pairs_of(fix_parameters(both, sizes)))
    coordinates = [a for own in places.values() for a, _ in own.values()]
    first, last = min(coordinates), max(coordinates)
    block = -(-(last - first + 1) // ranks)
    found: dict[str, dict[tuple[int, ...], set[int]]] = {}
    for name, own in places.items():
        for point, (a, s) in own.items():
            left = tile.steps - 1 - s % tile.steps
            near = {q for q in range(ranks) if first + q * block <= min(first + (q + 1) * block - 1, last)
                    and first + q * block - tile.below * left <= a
                    <= min(first + (q + 1) * block - 1, last) + tile.above * left}
            assert owned[name][point] in near
            found.setdefault(name, {})[point] = near
    return found
