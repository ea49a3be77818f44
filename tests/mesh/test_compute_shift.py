"""The compute-shift order: its rings executed on arrays, memory, and what cannot be had."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import PlacementError
from polysched.mesh import MeshTarget, Message, Operator, OperatorGraph, chain, compute_shift
from polysched.mesh.compute_shift import every_rings, rings_of

ITEM = 8


def product(m: int, n: int, k: int, name: str = "p") -> Operator:
    return Operator(name=name, work=2.0 * m * n * k, extents=(m, n), weights=ITEM * k * n, result=ITEM * m * n)


def shifted_product(a: np.ndarray, b: np.ndarray, grid: tuple[int, int], turns: tuple[int, int]
                    ) -> tuple[np.ndarray, dict[tuple[int, int], list[int]]]:
    """A product on a grid, executed part by part, and the bytes each core passed on along its row and its column.

    The common axis is cut into chunks.  A core has the chunks of its part of a row panel and of its part of a column
    panel, begins where both do, and gets the next part of its ring when it has used up one.
    """
    (h, w), (along, across) = grid, turns
    (m, k), n = a.shape, b.shape[1]
    chunks = int(np.lcm(along, across))
    size, of_a, of_b = k // chunks, chunks // along, chunks // across
    begin = {(r, c): (c % along * of_a + r % across * of_b) % chunks for r in range(h) for c in range(w)}
    rows = {r: slice(r * m // h, (r + 1) * m // h) for r in range(h)}
    columns = {c: slice(c * n // w, (c + 1) * n // w) for c in range(w)}

    def chunk(number: int) -> slice:
        return slice(number % chunks * size, (number % chunks + 1) * size)

    left = {(r, c): {(p + t) % chunks: a[rows[r], chunk(p + t)] for t in range(of_a)} for (r, c), p in begin.items()}
    right = {(r, c): {(p + t) % chunks: b[chunk(p + t), columns[c]] for t in range(of_b)}
             for (r, c), p in begin.items()}
    result, passed = np.zeros((m, n)), {core: [0, 0] for core in begin}
    for t in range(chunks):
        for (r, c), p in begin.items():
            now = (p + t) % chunks
            result[rows[r], columns[c]] += left[r, c][now] @ right[r, c][now]
        if (t + 1) % of_a == 0 and t + 1 < chunks:
            for core, part in left.items():
                passed[core][0] += sum(piece.nbytes for piece in part.values())
            left = {(r, c): left[r, c // along * along + (c + 1) % along] for r, c in left}
        if (t + 1) % of_b == 0 and t + 1 < chunks:
            for core, part in right.items():
                passed[core][1] += sum(piece.nbytes for piece in part.values())
            right = {(r, c): right[r // across * across + (r + 1) % across, c] for r, c in right}
    return result, passed


@pytest.mark.parametrize(("grid", "turns"), [((2, 3), (1, 1)), ((2, 3), (3, 2)), ((4, 2), (2, 2)), ((4, 2), (1, 4)),
                                             ((1, 6), (6, 1)), ((4, 6), (3, 2))])
def test_rings_see_every_part_and_pass_on_what_is_said(grid, turns) -> None:
    m, n, k = 8, 12, 24
    draw = np.random.default_rng(0)
    a, b = draw.integers(-9, 9, (m, k)).astype(float), draw.integers(-9, 9, (k, n)).astype(float)
    result, passed = shifted_product(a, b, grid, turns)
    assert (result == a @ b).all()
    rings = rings_of(product(m, n, k), [Message(source="x", sink="p", bytes=ITEM * m * k, cut="rows")],
                     MeshTarget(rows=4, columns=6), grid=grid, turns=turns)
    assert {tuple(p) for p in passed.values()} == {rings.shifted}


def test_more_turns_need_less_memory_and_shift_more() -> None:
    operator, inputs = product(64, 64, 64), [Message(source="x", sink="p", bytes=ITEM * 64 * 64, cut="rows")]
    few, many = (rings_of(operator, inputs, MeshTarget(rows=8, columns=8), grid=(8, 8), turns=t)
                 for t in ((1, 1), (8, 8)))
    assert many.kept < few.kept
    assert many.held < few.held
    assert sum(many.shifted) > sum(few.shifted) == 0
    assert few.gathered[0] == many.shifted[0]   # what is not passed around while it computes is gathered before
    assert many.seconds > few.seconds           # weights: kept whole, they need neither


def test_every_spread_divides_its_grid_and_fits_the_extents() -> None:
    found = every_rings(product(3, 5, 4), [], MeshTarget(rows=4, columns=4))
    assert found
    assert all(r.rows <= 3 and r.columns <= 4 and r.columns % r.row_turns == r.rows % r.column_turns == 0
               for r in found)


def test_memory_decides_how_much_is_shifted() -> None:
    graph = chain("mlp", [product(32, 512, 256, "widen"), product(32, 256, 512, "narrow")])
    roomy, tight = (compute_shift(graph, MeshTarget(rows=4, columns=4, memory=size)) for size in (4 << 20, 220_000))
    assert roomy.latency.value < tight.latency.value
    assert sum(sum(r.shifted) for r in roomy.rings) < sum(sum(r.shifted) for r in tight.rings)
    for found in (roomy, tight):
        assert sum(r.kept for r in found.rings) + max(r.held for r in found.rings) <= found.target.memory
        assert found.latency.bound <= found.latency.value


def test_what_does_not_fit_or_has_no_rings_is_refused() -> None:
    graph = chain("two", [product(32, 512, 256, "a"), product(32, 256, 512, "b")])
    with pytest.raises(PlacementError, match="do not fit in compute-shift order"):
        compute_shift(graph, MeshTarget(rows=2, columns=2, memory=10_000))
    with pytest.raises(PlacementError, match="every core"):
        compute_shift(graph, MeshTarget(rows=2, columns=2, dead=((0, 0),)))


def test_one_operator_on_one_core_shifts_nothing() -> None:
    graph = OperatorGraph(name="one", operators=(Operator(name="o", work=1e6),))
    found = compute_shift(graph, MeshTarget(rows=1, columns=1))
    assert found.latency.value == found.latency.bound == 1e6 / found.target.compute
    assert "1x1 cores" in str(found)
    assert found.to_json()["operators"][0]["shifted"] == [0, 0]
