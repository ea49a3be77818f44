"""Bands without tiles say why; columns get tiles; every level of tiles can be given by hand beside the model's."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TiledSchedule, TilingOptions, tile
from polysched.tiling.explain import BandExplanation, explain_text, explanations
from tests.schedules import pluto_of
from tests.tiling.test_tile_bands import assert_legal

MACHINE = Target(vector_bits=512, vector_registers=32, cores=2, caches=(
    CacheLevel(level=1, size_bytes=48 << 10, ways=12), CacheLevel(level=2, size_bytes=2 << 20, ways=16),
    CacheLevel(level=3, size_bytes=32 << 20, ways=16, shared_by=2)))
TRANSPOSITION = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[j][i] = A[i][j];"
PRODUCT = ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
           " B[i][j] += A[i][k] * A[k][j];")


def tiled(body: str, n: int = 1024, **options: object) -> TiledSchedule:
    text = f"void f(int n, float A[n][n], float B[n][n], float x[n]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    return tile(pluto_of(text), TilingOptions(target=MACHINE, parameters={"n": n}, **options))


def explained(made: TiledSchedule) -> BandExplanation:
    (found,) = explanations(made, MACHINE)
    return found


@pytest.mark.parametrize(("n", "level"), [(1024, 2), (4000, 1)])
def test_a_transposition_is_tiled_for_the_cache_that_loses_its_lines(n: int, level: int) -> None:
    """Rows a power of two apart fall out of the second cache's sets, others out of the first cache only."""
    made = tiled(TRANSPOSITION, n)
    assert made.bands[0].sizes
    (traffic,) = (e for e in explained(made).levels if e.level == level)
    assert traffic.tiled_bytes < traffic.untiled_bytes / 5


def test_a_small_transposition_stays_and_says_what_it_was_compared_with() -> None:
    made = tiled(TRANSPOSITION, 100)
    assert not made.bands[0].sizes
    text = explain_text(explained(made))
    assert "no tiles: they would save less than 10% of the traffic into L2" in text
    assert "compared with, outermost first: " in text
    assert "if tiled" in text
    assert "lower bound" in text
    values = explained(made).to_json()
    assert values["edges"] == [None, None]
    assert values["candidate"]["order"]


@pytest.mark.parametrize(("body", "reason"), [
    ("for (int i = 0; i < n; i++) x[i] = 2.0f * x[i];", "one loop alone has nothing to reuse between tiles"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = 2.0f * A[i][j];", "they would save less than"),
])
def test_other_nests_say_why_too(body: str, reason: str) -> None:
    made = tiled(body)
    assert reason in explain_text(explained(made))


def test_outer_levels_by_hand_around_tiles_of_the_model() -> None:
    alone, made = tiled(PRODUCT), tiled(PRODUCT, outer_sizes=((512, 768, 512),))
    plan = made.bands[0].plan
    assert [level.edges for level in plan.outer] == [(512, 768, 512)]
    assert plan.edges == tuple(edge if edge is not None and edge < limit else None for edge, limit in zip(
        alone.bands[0].plan.edges, (512, 768, 512), strict=True))
    assert plan.order
    assert made.bands[0].register == alone.bands[0].register
    assert_legal(made)


def test_an_outer_level_alone_where_the_model_has_no_tiles() -> None:
    made = tiled(TRANSPOSITION, 100, outer_sizes=(40,))
    assert [level.edges for level in made.bands[0].plan.outer] == [(40, 40)]
    assert_legal(made)


def test_a_register_block_by_hand() -> None:
    assert tiled(PRODUCT, sizes="off", register=(4, 32)).bands[0].register == (4, 32)
    with pytest.raises(UsageError, match="no nest can have this register block"):
        tiled(PRODUCT, sizes="off", register=(3, 17))
