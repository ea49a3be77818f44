"""Plots: which there are, and what the roofs and the numbers on them are."""

import dataclasses
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed: polysched[report]")

from polysched.experiment import record as records
from polysched.experiment.plots import save
from polysched.measure import results
from polysched.report import Results, read_results
from polysched.report.entry import TileTime
from polysched.report.figures import plots, roof_labels, roofs, slug, svg_of, varying_edges
from polysched.report.numbers import quantity, seconds_text
from tests.report.made_results import PEAKS, contest, measured, record


@pytest.fixture
def read(tmp_path: Path) -> Results:
    path = tmp_path / "r.jsonl"
    results.append(path, measured("gemm", ratio=12.0))
    results.append(path, measured("atax", ratio=0.8))
    records.append(path, contest("case", {"polysched": 1.0, "numpy": 2.0}))
    records.append(path, record("3 deep", candidates=[
        {"edges": [8, a, b], "measured_seconds": [a + b], "predicted_seconds": a} for a in (4, 8) for b in (16, 32)]))
    return read_results([path])


def test_the_plots_that_results_allow(read: Results) -> None:
    assert [p.name for p in plots(read.entries)] == [
        "speed-up-2-threads", "speed-up-peers-us-2-threads", "roofline", "tiles-3-deep"]


def test_numbers_stand_on_the_plots(read: Results) -> None:
    bars, _, roofline, heat = (svg_of(p) for p in plots(read.entries))
    for words in ("gemm", "atax", "12.0", "0.80", "times as fast as original"):
        assert words in bars, words
    for words in ("peak 80 GFLOP/s", "memory 20 GB/s", "L1 400 GB/s", "operations per byte", "gemm"):
        assert words in roofline, words
    assert "L3" not in roofline      # shared by the threads, so one thread's bandwidth says nothing
    for words in ("4", "8", "16", "32", "measured", "predicted", "2.0", "innermost edge"):
        assert words in heat, words
    assert "8 × 4" not in heat, "edges that do not vary are no axis"


def test_a_heat_map_is_over_the_edges_that_vary(read: Results) -> None:
    *_, heat = plots(read.entries)
    assert heat.caption.endswith(
        "Columns: the innermost edge that varies, rows: the edges around it that vary; edge 1 is 8.")


@pytest.mark.parametrize(("edges", "varying", "fixed"), [
    (((4, 8), (8, 8)), ((4,), (8,)), "edge 2 is 8"),
    (((4, 8, 1), (8, 8, 2)), ((4, 1), (8, 2)), "edge 2 is 8"),
    (((4, 8), (8, 16)), ((4, 8), (8, 16)), ""),
    (((4, 8), (4, 8, 2)), ((4, 8), (4, 8, 2)), ""),
])
def test_edges_that_vary(edges: tuple[tuple[int, ...], ...], varying: tuple[tuple[int, ...], ...], fixed: str) -> None:
    tiles, words = varying_edges([TileTime(edges=e, seconds=1.0) for e in edges])
    assert (tuple(t.edges for t in tiles), words) == (varying, fixed)


def test_private_caches_count_once_per_thread(read: Results) -> None:
    assert roofs(read.entries[0]) == [("L1", 400e9), ("L2", 180e9), ("memory", 20e9)]
    assert roof_labels([("L1", 400e9), ("L2", 380e9), ("memory", 20e9)]) == [
        "", "L1 400, L2 380 GB/s", "memory 20 GB/s"]


def test_paper_plots_are_black_on_white_pdf_files(read: Results, tmp_path: Path) -> None:
    for plot in plots(read.entries, paper=True):
        save(plot.figure, tmp_path / f"{plot.name}.pdf")
        assert (tmp_path / f"{plot.name}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(("seconds", "text"), [
    (123.4, "123"), (12.34, "12.3"), (1.0, "1.00"), (0.01234, "0.0123"), (0.00001234, "0.0000123"), (0.0, "0")])
def test_seconds_have_three_digits(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_quantities_have_prefixes() -> None:
    assert quantity(2.126e9, "FLOP/s") == "2.13 GFLOP/s"
    assert quantity(12.0, "B/s") == "12 B/s"
    assert slug("A & B/c") == "a-b-c"


def test_where_bars_would_fill_pages_there_is_a_row_of_dots_per_kernel(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    for number in range(30):
        records.append(path, contest(f"k{number}", {"numpy": 2.0, "torch": 1.5, "polysched": 1.0}))
    (plot,) = plots(read_results([path]).entries)
    assert plot.figure.get_size_inches()[1] < 0.3 * 30
    drawn = svg_of(plot)
    assert all(word in drawn for word in ("k0", "k29", "torch", "times as fast as numpy"))


def test_each_experiments_own_reference_is_hollow_in_a_roofline(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    results.append(path, measured("gemm"))
    records.append(path, contest("case", {"numpy": 2.0, "polysched": 1.0}, flop_count=10**9, bytes_moved=10**8,
                                 dtype="float64", peaks=dataclasses.asdict(PEAKS), reference="numpy"))
    (roofline,) = (p for p in plots(read_results([path]).entries) if p.name == "roofline")
    filled = [c for c in roofline.figure.axes[0].collections if len(c.get_facecolor())]
    assert len(filled) == 2


def test_names_in_a_roofline_stand_beside_each_other() -> None:
    committed = Path(__file__).parents[2] / "experiments" / "blas" / "results.jsonl"
    found = [p for p in plots(read_results([committed], any_machine=True).entries) if p.name.startswith("roofline")]
    assert found
    for plot in found:
        (axes,) = plot.figure.axes
        plot.figure.draw_without_rendering()
        names = {t.get_text(): t.get_window_extent() for t in axes.texts
                 if not t.get_rotation() and "peak" not in t.get_text()}
        assert len(names) > 2
        for name, box in names.items():
            assert not [other for other, place in names.items() if other != name and box.overlaps(place)], name
            assert box.x1 <= axes.bbox.x1 + 1, f"{name} leaves the plot"
