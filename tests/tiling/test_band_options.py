"""Tiles, orders, blocks, copies and threads of single bands; single values are the short form for all of them."""

from __future__ import annotations

from functools import cache

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.emit_c import emit
from polysched.errors import UsageError
from polysched.scheduling import Schedule, SchedulerOptions, pluto
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
from polysched.scop import from_c_text
from polysched.target import Target
from polysched.tiling import BandOptions, TiledSchedule, TilingOptions, tile, tile_bands

TARGET = Target(cores=2, vector_bits=0)
VECTORS = Target(cores=2, vector_bits=256)

TWO = """
void two(double a[256][256], double b[256][256], double c[256][256], double d[256][256]) {
#pragma scop
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++)
      d[i][j] = 2 * a[j][i];
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++)
      for (int k = 0; k < 256; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""
SWEEP = """
void sweep(int n, double a[n][n]) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      a[i][j] = a[i - 1][j] + a[i][j - 1];
#pragma endscop
}
"""
CHAIN = """
void chain(double a[256]) {
#pragma scop
  for (int i = 1; i < 256; i++)
    a[i] = 2 * a[i - 1];
#pragma endscop
}
"""


def tiled(text: str = TWO, **options: object) -> TiledSchedule:
    given = {"target": TARGET, "sizes": 32, **options}
    return tile(separate(text), TilingOptions(**given))


@cache
def separate(text: str) -> Schedule:
    """A schedule with a band per loop nest of the source."""
    return pluto(analyse(from_c_text(text)), options=SchedulerOptions(fusion="none"))


def marks(done: TiledSchedule, band: int) -> list[LoopMark]:
    return [n.mark for n in walk(from_isl(done.tree).root)
            if isinstance(n, Band) and n.mark is not None and n.mark.band == band]


def order(done: TiledSchedule, band: int, role: Role) -> list[int]:
    return [mark.member for mark in marks(done, band) if mark.role is role]


def test_bands_have_edges_of_their_own():
    done = tiled(bands={1: BandOptions(sizes=(8, 16, 64), outer_sizes=(128,))})
    assert done.bands[0].sizes == (32, 32)
    assert done.bands[1].plan is not None
    assert done.bands[1].plan.edges == (8, 16, 64)
    assert [level.edges for level in done.bands[1].plan.outer] == [(128, 128, 128)]
    off = tiled(bands={0: BandOptions(sizes="off")})
    assert [bool(band.sizes) for band in off.bands] == [False, True]


def test_single_values_hold_where_a_band_says_nothing():
    same = tiled(sizes=(32, 8), bands={1: BandOptions(order=(2, 1, 0))})
    assert same.bands[1].plan is not None
    assert same.bands[1].plan.edges == (32, 8, 8)
    assert TilingOptions(sizes=8, bands={1: BandOptions()}).for_band(1) == TilingOptions(sizes=8)


def test_bands_have_orders_of_their_own():
    done = tiled(parallel=False, bands={1: BandOptions(order=(2, 1, 0), point_order=(1, 2, 0))})
    assert order(done, 1, Role.TILE) == [2, 1, 0]
    assert order(done, 1, Role.POINT) == [1, 2, 0]
    assert order(done, 0, Role.TILE) == [0, 1]


def test_one_band_runs_on_one_thread():
    done = tiled(bands={0: BandOptions(parallel=False)})
    assert not any(mark.parallel for mark in marks(done, 0))
    assert any(mark.parallel for mark in marks(done, 1))
    others = tiled(parallel=False, bands={0: BandOptions(parallel=True)})
    assert any(mark.parallel for mark in marks(others, 0))
    assert not any(mark.parallel for mark in marks(others, 1))


def test_the_loop_on_threads_is_chosen_per_band():
    done = tiled(bands={0: BandOptions(parallel_loop=1), 1: BandOptions(parallel_loop=0)})
    assert [band.parallel_member for band in done.bands] == [1, 0]
    assert order(done, 0, Role.TILE)[0] == 1
    everywhere = tiled(parallel_loop=1)
    assert [band.parallel_member for band in everywhere.bands] == [1, 1]


@pytest.mark.parametrize("loop", [0, 1])
def test_a_wavefront_has_the_loop_on_threads_that_was_chosen(loop):
    done = tiled(SWEEP, parallel_loop=loop)
    assert done.bands[0].wavefront
    assert done.bands[0].parallel_member == loop


def test_bands_have_register_blocks_and_copies_of_their_own():
    block = tiled(sizes="auto", target=VECTORS, bands={1: BandOptions(register=(4, 8), packed=("b",))})
    assert block.bands[1].register == (4, 8)
    none = tiled(sizes="auto", target=VECTORS, bands={1: BandOptions(register=False)})
    assert none.bands[1].register == ()
    assert {array for buffer in emit(block).packed for array in buffer.arrays} <= {"b"}
    assert emit(tiled(sizes="auto", target=VECTORS, bands={1: BandOptions(packed=())})).packed == ()
    assert emit(tiled(sizes="auto", target=VECTORS, packed=(), bands={1: BandOptions(packed="auto")})).packed


def test_tiles_are_skewed_along_a_chosen_loop_that_is_not_free():
    done = tiled(bands={1: BandOptions(parallel_loop=2)})   # the loop of the sum, whose tiles follow each other
    assert done.bands[1].wavefront
    assert done.bands[1].parallel_member == 2


@pytest.mark.parametrize(("options", "problem", "witness"), [
    ({"bands": {5: BandOptions(sizes=8)}}, "there is no band 5", "bands are 0, 1"),
    ({"bands": {0: BandOptions(order=(2, 0, 1))}}, "band 0: no band has a loop of this order of tiles",
     "2,0,1: the deepest band has loops 0 to 1"),
    ({"bands": {0: BandOptions(parallel_loop=4)}}, "band 0: no band can run this loop on threads",
     "loop 4: the deepest band has 2 loops"),
    ({"bands": {1: BandOptions(sizes="off", parallel_loop=2)}}, "band 1: no band can run this loop on threads",
     "loop 2: it carries a dependence, or stands inside another loop"),
    ({"bands": {1: BandOptions(register=(4, 8))}, "target": VECTORS, "sizes": (2, 2)},
     "band 1: the register block is larger than the tiles around it",
     "band 1, loop i: a block of 4 rows in tiles of 2"),
])
def test_what_a_band_cannot_use_is_refused(options, problem, witness):
    with pytest.raises(UsageError) as refused:
        tiled(**options)
    assert refused.value.problem == problem
    assert refused.value.witness == witness


def test_a_list_longer_than_the_band_is_told():
    done = tiled(bands={0: BandOptions(sizes=(8, 8, 8))})
    assert done.fallbacks == ("tiles of 8,8,8: the deepest band has 2 loops, so what follows 8,8 is of no use",)


@pytest.mark.parametrize("options", [
    {"parallel_loop": -1}, {"parallel_loop": 0, "parallel": False}, {"parallel_loop": 0, "parallel_degrees": 2}])
def test_a_loop_on_threads_that_cannot_be_meant_is_refused(options):
    with pytest.raises(UsageError):
        TilingOptions(**options)
    with pytest.raises(UsageError, match="band 2"):
        TilingOptions(parallel_degrees=options.get("parallel_degrees", 1), bands={2: BandOptions(
            **{k: v for k, v in options.items() if k != "parallel_degrees"})})


@pytest.mark.parametrize("options", [{"parallel_loop": 0, "split": True}, {"parallel_loop": 1, "diamond": True}])
def test_a_loop_on_threads_by_hand_contradicts_shapes_that_have_their_own(options):
    with pytest.raises(UsageError) as refused:
        TilingOptions(**options)
    assert refused.value.problem == "split tiles and diamonds have loops of their own on threads"
    with pytest.raises(UsageError, match="band 2"):
        TilingOptions(bands={2: BandOptions(parallel_loop=options.pop("parallel_loop"))}, **options)


@pytest.mark.parametrize("options", [
    {"parallel_loop": 0}, {"bands": {0: BandOptions(parallel_loop=0)}}, {"bands": {0: BandOptions(parallel=True)}}])
def test_threads_are_chosen_without_tiles(options):
    done = tiled(sizes="off", register=False, **options)
    assert done.bands[0].parallel_member == 0


@pytest.mark.parametrize(("options", "problem", "witness"), [
    ({"parallel_loop": 3}, "no band can run this loop on threads", "loop 3: the deepest band has 3 loops"),
    ({"bands": {1: BandOptions(parallel_loop=2)}}, "band 1: no band can run this loop on threads",
     "loop 2: it carries a dependence, or stands inside another loop"),
    ({"bands": {5: BandOptions(parallel=False)}}, "there is no band 5", "bands are 0, 1"),
])
def test_threads_that_no_band_has_without_tiles_are_refused(options, problem, witness):
    with pytest.raises(UsageError) as refused:
        tiled(sizes="off", register=False, **options)
    assert refused.value.problem == problem
    assert refused.value.witness == witness


def test_the_loops_of_a_band_that_has_no_tiles_are_counted():
    with pytest.raises(UsageError) as refused:
        tiled(CHAIN, sizes="auto", parallel_loop=1)
    assert refused.value.witness == "loop 1: the deepest band has 1 loop"


@pytest.fixture
def no_time_for_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every attempt with tiles is stopped as isl stops it at the end of its budget."""
    real = tile_bands._tiled

    def slow(schedule: Schedule, options: TilingOptions, *more: object) -> TiledSchedule:
        if options.sizes != "off":
            isl.DEFAULT_CONTEXT.set_max_operations(1)
            isl.Set("{ [i] }")
        return real(schedule, options, *more)

    monkeypatch.setattr(tile_bands, "_tiled", slow)


@pytest.mark.usefixtures("no_time_for_tiles")
def test_threads_of_single_bands_hold_where_tiles_were_given_up():
    done = tiled(bands={0: BandOptions(parallel=False, sizes=8), 1: BandOptions(parallel_loop=1, order=(1, 0, 2))})
    assert done.fallbacks[-1] == tile_bands.WITHOUT_TILES
    assert [band.parallel_member for band in done.bands] == [None, 1]
    assert done.options is not None
    assert done.options.bands == {0: BandOptions(parallel=False), 1: BandOptions(parallel_loop=1)}


@pytest.mark.usefixtures("no_time_for_tiles")
def test_a_loop_that_only_tiles_bring_onto_threads_is_not_refused_where_they_were_given_up():
    assert tiled(SWEEP, parallel_loop=1).fallbacks[-1] == tile_bands.WITHOUT_TILES


@pytest.mark.usefixtures("no_time_for_tiles")
def test_what_else_was_given_up_is_told_where_tiles_were(monkeypatch):
    monkeypatch.setattr(tile_bands, "COPY_OPERATIONS", 1)
    assert tiled().fallbacks[-2:] == (tile_bands.WITHOUT_TILES, tile_bands.NO_COPIES)
