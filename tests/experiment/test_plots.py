"""What is drawn is what was measured: every bar in its place, of its height, and a file that is always the same."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from polysched.errors import OutputError, UsageError
from polysched.experiment import plots
from polysched.experiment.plots import BAR_WIDTH, BarPanel, bar_panels, counted_bars, grouped_bars, new_figure, save

SERIES = {"gcc": [1.0, None, 3.0], "ours": [2.0, 5.0, None], "none": [None, None, None]}


def bars(axes: Any) -> dict[str, list[tuple[float, float]]]:
    """By label, middle and height of each bar."""
    return {c.get_label(): [(round(b.get_x() + b.get_width() / 2, 6), b.get_height()) for b in c]
            for c in axes.containers}


def test_bars_stand_around_their_workload_and_gaps_stay_empty() -> None:
    axes = grouped_bars(["a", "b", "c"], SERIES, ylabel="speed", line_at=1.5).axes[0]
    step = round(BAR_WIDTH / 3, 6)
    found = bars(axes)
    assert {name: [h for _, h in b] for name, b in found.items()} == {"gcc": [1.0, 3.0], "ours": [2.0, 5.0], "none": []}
    assert [x for x, _ in found["gcc"]] == pytest.approx([0 - step, 2 - step], abs=1e-5)
    assert [x for x, _ in found["ours"]] == pytest.approx([0, 1])
    assert [t.get_text() for t in axes.get_xticklabels()] == ["a", "b", "c"]
    assert axes.get_ylabel() == "speed"
    assert [line.get_ydata()[0] for line in axes.get_lines()] == [1.5]
    assert [t.get_text() for t in axes.get_legend().get_texts()] == list(SERIES)


def test_panels_share_the_names_below_the_last() -> None:
    figure = bar_panels(["a", "b"], [BarPanel(series={"x": [1, 2]}, ylabel="ms"),
                                     BarPanel(series={"x": [10, 1000]}, ylabel="G/s", logarithmic=True)])
    first, last = figure.axes
    assert not any(t.get_text() for t in first.get_xticklabels())
    assert [t.get_text() for t in last.get_xticklabels()] == ["a", "b"]
    assert (first.get_yscale(), last.get_yscale()) == ("linear", "log")
    assert first.get_xlim() == last.get_xlim() == (-0.6, 1.6)


def test_counts_lie_one_behind_another() -> None:
    axes = counted_bars({"first": {"right": 3, "none": 0}, "second": {"wrong": 60, "right": 1}}, xlabel="pairs").axes[0]
    pieces = {c.get_label(): [(b.get_x(), b.get_width()) for b in c] for c in axes.containers}
    assert pieces == {"right": [(0, 3), (0, 1)], "wrong": [(3, 0), (1, 60)]}
    assert [t.get_text() for t in axes.texts] == ["3", "", "", "60"]   # a piece of 1 in 61 has no room
    assert axes.yaxis_inverted()
    assert counted_bars({}, xlabel="x").axes[0].containers == []


@pytest.mark.parametrize("ending", [".svg", ".pdf"])
def test_the_same_figure_is_the_same_file(ending: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}{ending}" for n in range(2)]
    for path in paths:
        save(grouped_bars(["a"], {"x": [1.0]}, ylabel="ms"), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("name", ["plot.nonsense", "nowhere/plot.svg"])
def test_a_file_that_cannot_be_written_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="the plot cannot be written"):
        save(new_figure()[0], tmp_path / name)


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UsageError, match=r"polysched\[plot\]"):
        plots.new_figure()
