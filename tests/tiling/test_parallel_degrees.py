"""How many loops of a nest are parallel: free ones, wavefronts of tiles, diamonds; and updates that may not race."""

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, printed
from polysched.errors import IllegalScheduleError, UsageError
from polysched.measure.programs.instance_trace import verify_order
from polysched.pipeline.way import lowered_with_fallbacks
from polysched.scheduling import SchedulerOptions, pluto
from polysched.scheduling.marks import LoopMark
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
from polysched.scop import from_c_file, from_c_text
from polysched.target import Target
from polysched.tiling import TiledSchedule, TilingOptions, tile, tile_bands
from tests.tiers import and_campaign
from tests.tiling import kernels
from tests.tiling.test_tile_bands import assert_legal, plain, scheduled, shape

KERNELS = Path(__file__).parents[1] / "kernels"
PLAIN_C = EmitOptions(vector_bits=0)


def coincident_tiles(tiled: TiledSchedule) -> str:
    """One letter per tile loop of the first nest, outermost first: P when its iterations are independent, else -."""
    bands = [n for n in walk(from_isl(tiled.tree).root) if isinstance(n, Band)]
    assert all(b.mark is not None for b in bands)
    return "".join("P" if b.coincident[0] else "-" for b in bands
                   if b.mark and b.mark.role.value in ("tile", "wavefront"))


@pytest.mark.parametrize(("degrees", "flags", "marks"), [
    (1, "-P-", ["wavefront0", "tile1p", "tile2"]),
    (2, "-PP", ["wavefront0", "tile1p", "tile2p"]),
    (3, "-PP", ["wavefront0", "tile1p", "tile2p"]),
])
def test_a_band_of_three_pipelined_loops_gives_one_or_two_degrees(degrees: int, flags: str, marks: list[str]) -> None:
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=4, parallel_degrees=degrees))
    assert_legal(tiled)
    assert coincident_tiles(tiled) == flags
    assert shape(tiled)[:3] == marks
    verify_order(tiled)


def test_free_loops_come_first_and_wavefronts_give_the_rest() -> None:
    product = scheduled(kernels.product())
    assert coincident_tiles(tile(product, plain(sizes=4, parallel_degrees=2))) == "PP-"
    assert shape(tile(product, plain(sizes=4, parallel_degrees=2)))[:3] == ["tile0p", "tile1p", "tile2"]
    assert shape(tile(product, plain(sizes=4)))[:3] == ["tile0p", "tile1", "tile2"]


@pytest.mark.parametrize("degrees", [1, 2])
def test_concurrent_start_in_as_many_dimensions(degrees: int) -> None:
    dependences = analyse(from_c_file(KERNELS / "jacobi_2d.c"))
    schedule = pluto(dependences, options=SchedulerOptions(concurrent_start=degrees))
    tiled = tile(schedule, TilingOptions(sizes=4, parallel_degrees=degrees, register=False))
    assert coincident_tiles(tiled) == {1: "-P-", 2: "-PP"}[degrees]


@pytest.mark.parametrize("degrees", [1, 2])
def test_diamonds_have_degrees_too(degrees: int) -> None:
    tiled = tile(scheduled(kernels.jacobi()), plain(sizes=4, diamond=True, parallel_degrees=degrees))
    assert_legal(tiled)
    assert coincident_tiles(tiled) == {1: "-P-", 2: "-PP"}[degrees]


def test_the_loops_of_two_degrees_are_generated_for_several_skewed_statements() -> None:
    """Level by level isl's loop generation finds no end here; with the bands made one it takes a tenth of a second."""
    tiled = tile(pluto(analyse(from_c_file(KERNELS / "jacobi_2d.c"))),
                 TilingOptions(sizes=(2, 4, 64), parallel_degrees=2, register=False))
    assert coincident_tiles(tiled) == "-PP"
    assert emit(tiled, options=PLAIN_C).fallbacks == ()
    verify_order(tiled)


def test_two_parallel_loops_that_form_a_box_share_a_team() -> None:
    schedule = pluto(analyse(from_c_file(KERNELS / "gemm.c")))
    one, two = (tile(schedule, TilingOptions(sizes=4, parallel_degrees=d, register=False)) for d in (1, 2))
    assert "collapse" not in emit(one, options=PLAIN_C).text
    assert "#pragma omp parallel for collapse(2)" in emit(two, options=PLAIN_C).text
    verify_order(two)


def test_bounds_that_depend_on_each_other_are_not_collapsed() -> None:
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=4, parallel_degrees=2))
    assert "collapse" not in emit(tiled, options=PLAIN_C).text


UNEVEN = """void f(int n, double A[3][50][n], double B[3][50][n], double C[3][50]) {{
#pragma scop
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < 50; j++) {{
      {first}
      for (int k = 0; k < n; k++) B[i][j][k] = 2 * A[i][j][k];
    }}
#pragma endscop
}}"""


UNEVEN_TEAMS = [(3, 2, 2), (2, 2, 1), (3, 3, 1), (3, 1, 1)]


@pytest.mark.parametrize(("rows", "cores", "degrees", "first"), and_campaign(
    [*((*team, "") for team in UNEVEN_TEAMS), (*UNEVEN_TEAMS[0], "C[i][j] = 0;")],
    [(*team, "C[i][j] = 0;") for team in UNEVEN_TEAMS]))
def test_a_loop_inside_shares_the_team_of_one_in_uneven_parts(rows: int, cores: int, degrees: int,
                                                              first: str) -> None:
    text = UNEVEN.format(rows=rows, first=first)
    made = tile(pluto(analyse(from_c_text(text))), TilingOptions(target=Target(cores=cores), sizes="off"))
    marked = [n for n in walk(from_isl(made.tree).root) if isinstance(n, Band) and n.mark and n.mark.parallel]
    assert len(marked) == degrees or first
    text = emit(made, options=PLAIN_C).text
    assert ("collapse(2)" in text) is ("collapse" in text) is (degrees == 2)
    verify_order(made)


def test_no_degrees_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one degree"):
        TilingOptions(parallel_degrees=0)


def test_updates_of_a_relaxed_reduction_do_not_race() -> None:
    """They may run in any order, but not at the same time."""
    scop = from_c_text("""
        void f(int n, double A[n][n], double s[1]) {
        #pragma scop
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++)
            s[0] += A[i][j];
        #pragma endscop
        }""")
    tiled = tile(pluto(analyse(scop, reductions="reassociate")), TilingOptions(sizes=4))
    assert coincident_tiles(tiled) == "--"
    assert "wavefront" not in str(tiled.tree)
    assert "#pragma" not in emit(tiled, options=PLAIN_C).text


def test_degrees_that_take_too_long_are_given_up_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every attempt with several degrees is stopped as isl stops it at the end of its budget."""
    real = tile_bands._tiled

    def slow(schedule: Schedule, options: TilingOptions, planned: set[int] | None = None) -> TiledSchedule:
        if options.parallel_degrees > 1:
            isl.DEFAULT_CONTEXT.set_max_operations(1)
            isl.Set("{ [i] }")
        return real(schedule, options, planned)

    monkeypatch.setattr(tile_bands, "_tiled", slow)
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=4, parallel_degrees=3))
    assert coincident_tiles(tiled) == "-P-"
    assert tiled.fallbacks == ("3 parallel loops per nest took more than 10 s of tiling",
                               "2 parallel loops per nest took more than 10 s of tiling")
    assert tiled.fallbacks[0] in str(tiled)


def test_split_tiles_that_take_too_long_become_wavefronts(monkeypatch: pytest.MonkeyPatch) -> None:
    real = tile_bands._tiled

    def slow(schedule: Schedule, options: TilingOptions, planned: set[int] | None = None) -> TiledSchedule:
        made = real(schedule, options, planned)
        if made.one_at_a_time is not None or any(band.pieces for band in made.bands):
            isl.DEFAULT_CONTEXT.set_max_operations(1)
            isl.Set("{ [i] }")
        return made

    schedule = pluto(analyse(from_c_text("""
        void f(int steps, double a[4000], double b[4000]) {
        #pragma scop
        for (int t = 0; t < steps; t++) {
          for (int i = 1; i < 3999; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
          for (int i = 1; i < 3999; i++) a[i] = b[i];
        }
        #pragma endscop
        }""")))
    options = TilingOptions(target=replace(Target(), cores=2), split=True, sizes=(16, 64))
    assert any(band.pieces for band in tile(schedule, options).bands)
    monkeypatch.setattr(tile_bands, "_tiled", slow)
    tiled = tile(schedule, options)
    assert [bool(band.sizes) for band in tiled.bands] == [True]
    assert not any(band.pieces for band in tiled.bands)
    assert tiled.fallbacks == ("tiles were not split: that took more than 10 s of tiling",)
    assert "wavefront" in str(tiled.tree)


def endless(schedule: Schedule, options: TilingOptions, planned: set[int] | None = None) -> TiledSchedule:
    """An attempt that isl stops at the end of its budget."""
    isl.DEFAULT_CONTEXT.set_max_operations(1)
    return TiledSchedule(schedule=schedule, tree=isl.Schedule("{ domain: \"{ S[i] }\" }"), options=options)


def test_loops_that_take_too_long_to_judge_run_as_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tile_bands, "_tiled", endless)
    schedule = scheduled(kernels.gauss_seidel())
    tiled = tile(schedule, plain(sizes=4))
    assert tiled.tree.plain_is_equal(schedule.tree)
    assert tiled.bands == ()
    assert "took more than 10 s to judge: they run as scheduled" in tiled.fallbacks[-1]
    text = emit(tiled, options=PLAIN_C).text
    assert text.count("for (") == 3
    assert "#pragma" not in text


def test_marks_that_were_given_are_checked_even_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tile_bands, "_tiled", endless)
    schedule = scheduled(kernels.gauss_seidel())
    mark = isl.Id(LoopMark(parallel=True).to_text())
    wrong = schedule.tree.get_root().child(0).band_split(1).insert_mark(mark)
    with pytest.raises(IllegalScheduleError):
        tile(replace(schedule, tree=wrong.get_schedule()), plain(sizes=4))


def test_degrees_that_isl_makes_no_loops_of_are_given_up() -> None:
    one, two = (tile(scheduled(kernels.gauss_seidel()), plain(sizes=4, parallel_degrees=degrees)) for degrees in (1, 2))
    cut = printed(lowered_with_fallbacks(two, replace(PLAIN_C, max_operations=40_000)))
    assert cut.fallbacks == ("all parallel loops of a nest but one were given up: generating the loops takes more than "
                             "40000 isl operations or 0.25 s",)
    assert cut.text.count("for (") == emit(one, options=PLAIN_C).text.count("for (")
