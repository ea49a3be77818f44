"""Traffic of nests that leave some of their bounding box empty, beside caches that are simulated element by element."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from polysched.dependence import analyse
from polysched.scheduling import pluto
from polysched.scheduling.options import SchedulerOptions
from polysched.scop import from_c_text
from polysched.target import host
from polysched.tiling import TilingOptions, tile
from polysched.tiling.explain import explanations
from polysched.tiling.footprints.traffic import traffic_bytes
from polysched.tiling.planning.band_plan import BandPlan, plan_structure

N, EDGE, ELEMENT = 40, 8, 8
Touch = tuple[tuple[str, tuple[int, ...], bool], ...]   # array, index, written

TRIANGLES = """void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
    #pragma scop
    for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = j; k <= i; k++)
        C[i][j] += A[i][k] * B[k][j];
    #pragma endscop
}"""
BANDED = """void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
    #pragma scop
    for (int i = 0; i < n; i++) for (int j = i; j < n && j < i + 12; j++) C[i][j] = A[i][j] + B[j][i];
    #pragma endscop
}"""
SEIDEL = """void f(int n, double A[n][n]) {
    #pragma scop
    for (int t = 0; t < n; t++) for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5;
    #pragma endscop
}"""
HEAT = """void f(int n, double A[2][n]) {
    #pragma scop
    for (int t = 0; t < n; t++) for (int i = 1; i < n - 1; i++)
        A[(t + 1) % 2][i] = A[t % 2][i - 1] + A[t % 2][i] + A[t % 2][i + 1];
    #pragma endscop
}"""


def triangles() -> Iterator[tuple[tuple[int, ...], Touch]]:
    for i in range(N):
        for j in range(i + 1):
            for k in range(j, i + 1):
                yield (i, j, k), (("A", (i, k), False), ("B", (k, j), False), ("C", (i, j), True))


def banded() -> Iterator[tuple[tuple[int, ...], Touch]]:
    for i in range(N):
        for j in range(i, min(N, i + 12)):
            yield (i, j), (("A", (i, j), False), ("B", (j, i), False), ("C", (i, j), True))


def seidel() -> Iterator[tuple[tuple[int, ...], Touch]]:
    for t in range(N):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                near = ((i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j))
                yield (t, t + i, t + j), (*(("A", at, False) for at in near), ("A", (i, j), True))


def diamonds() -> Iterator[tuple[tuple[int, ...], Touch]]:
    for t in range(N):
        for i in range(1, N - 1):
            near = tuple(("A", (t % 2, i + d), False) for d in (-1, 0, 1))
            yield (t - i, t + i), (*near, ("A", ((t + 1) % 2, i), True))


def moved(instances: Iterable[tuple[tuple[int, ...], Touch]], capacity: int) -> int:
    """Bytes into and out of a cache of single elements that throws out what was not used for longest."""
    cache: OrderedDict[tuple[str, tuple[int, ...]], bool] = OrderedDict()
    count = 0
    tiled = sorted(instances, key=lambda at: (tuple(c // EDGE for c in at[0]), at[0]))
    for _, touched in tiled:
        for array, index, written in touched:
            known = (array, index) in cache
            count += not known
            cache[array, index] = cache.pop((array, index), False) or written
            if len(cache) > capacity // ELEMENT:
                count += cache.popitem(last=False)[1]
    return ELEMENT * (count + sum(cache.values()))


def plan_of(text: str, **options: int) -> BandPlan:
    scop = from_c_text(text)
    tiled = tile(pluto(analyse(scop), options=SchedulerOptions(**options)), TilingOptions(
        sizes=EDGE, parameters={"n": N}, parallel=False, register=False, target=host()))
    plan = tiled.bands[0].plan
    assert plan is not None
    return plan


@pytest.mark.parametrize(("text", "instances", "tile_elements", "options"), [
    (TRIANGLES, triangles, 3 * EDGE**2, {}), (BANDED, banded, 3 * EDGE**2, {}),
    (SEIDEL, seidel, (2 * EDGE + 2) ** 2, {}), (HEAT, diamonds, 6 * EDGE, {"concurrent_start": 1})])
def test_predicted_traffic_is_that_of_a_simulated_cache(text, instances, tile_elements, options) -> None:
    plan = plan_of(text, **options)
    capacity = 2 * tile_elements * ELEMENT
    predicted = sum(traffic_bytes(plan.nest, plan_structure(plan), capacity, ELEMENT, in_box=False))
    assert predicted == pytest.approx(moved(instances(), capacity), rel=0.35)


@pytest.mark.parametrize("text", [TRIANGLES, BANDED, SEIDEL, HEAT])
@pytest.mark.parametrize("size", [100, 1000])
def test_no_bound_exceeds_what_is_predicted(text: str, size: int) -> None:
    scop = from_c_text(text)
    target = host()
    tiled = tile(pluto(analyse(scop)), TilingOptions(parameters={"n": size}, target=target))
    for explanation in explanations(tiled, target):
        for level in explanation.levels:
            assert level.bound.bytes <= min(level.tiled_bytes, level.untiled_bytes), level


def test_all_of_a_triangle_moves_once_where_it_fits() -> None:
    plan = plan_of(TRIANGLES)
    moved_once = traffic_bytes(plan.nest, plan_structure(plan), 1 << 30, ELEMENT, in_box=False)
    triangle = N * (N + 1) // 2 * ELEMENT
    assert sum(moved_once) == pytest.approx(4 * triangle, rel=0.02)
    assert sum(traffic_bytes(replace(plan.nest, counted=None), plan_structure(plan), 1 << 30, ELEMENT,
                             in_box=False)) == 4 * N * N * ELEMENT
