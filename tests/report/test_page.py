"""The page: what is in it, that it is self-contained and well formed, and that names from results cannot break it."""

import dataclasses
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed: polysched[report]")
pytest.importorskip("matplotlib", reason="matplotlib is not installed: polysched[report]")

from polysched.errors import UsageError
from polysched.experiment import record as records
from polysched.measure import results
from polysched.report import Results, read_results
from polysched.report.page import page_html
from tests.html_reader import Page
from tests.report.made_results import MACHINE, contest, measured, record


def page_of(entries: Results, title: str = "T") -> tuple[str, Page]:
    text = page_html(entries, title=title)
    styles = "".join(re.findall(r"<style>(.*?)</style>", text, flags=re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    return text, Page(re.sub(r"<style[^>]*>.*?</style>|<!doctype html>", "", text, flags=re.DOTALL))


@pytest.fixture
def both(tmp_path: Path) -> Results:
    path = tmp_path / "r.jsonl"
    results.append(path, measured("gemm", ratio=3.0))
    results.append(path, measured("broken", timing=None, failure="crashed with signal 11"))
    records.append(path, contest("case", {"polysched": 1.0, "numpy": 2.0, "torch": 0.0}))
    records.append(path, record("tiled", candidates=[
        {"edges": [8, edge], "measured_seconds": [1.0 * edge]} for edge in (8, 16)]))
    return read_results([path])


def test_everything_is_in_it(both: Results) -> None:
    text, page = page_of(both, "Some title")
    for words in ("Some title", "gemm", "n=1000", "case", "Example CPU & Co", "gcc 12", "-O3", "abc", "islpy 1",
                  "signal 11", "wrong", "band permutable", "#pragma omp parallel for", "geometric mean",
                  "Speed-up over original", "Roofline of Example CPU", "Tile sizes of tiled", "cycles"):
        assert words in page.text, words
    assert page.counts["svg"] == 4     # two of speed-ups, a roofline, a heat map
    assert "github-dark" not in text
    assert "prefers-color-scheme: dark" in text


def test_no_stand_in_colour_is_left(both: Results) -> None:
    text, _ = page_of(both)
    assert "var(--ink)" in text
    assert not re.search("#0[147]0[258]0[369]", text)


def test_the_same_results_give_the_same_page(both: Results) -> None:
    assert page_html(both, title="T") == page_html(both, title="T")


def test_names_cannot_break_the_page(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    evil = '"><script>alert(1)</script>&amp;'
    listing = dataclasses.replace(measured("f").listings[0], original=evil, schedule=evil, transformed=evil)
    results.append(path, measured(evil, sizes={evil: 1}, listings=(listing,), steps=(evil,),
                                  machine=dataclasses.replace(MACHINE, cpu=evil)))
    records.append(path, record(evil, note=evil, machine_note=evil))
    records.append(path, contest("x", {evil: 1.0, "numpy": 2.0}))
    _, page = page_of(read_results([path], any_machine=True), title=evil)
    assert "script" not in page.counts
    assert page.text.count(evil) > 6


def test_a_reader_is_warned(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    busy = measured("f", git_revision="abc-dirty", peaks=None)
    timing = busy.timing
    assert timing is not None
    disturbed = tuple(dataclasses.replace(s, thread_cpu_seconds=s.wall_seconds / 3, involuntary_switches=9)
                      for s in timing.transformed)
    results.append(path, dataclasses.replace(busy, timing=dataclasses.replace(timing, transformed=disturbed)))
    text = page_of(read_results([path]))[1].text
    assert "20 of 40 timed calls were disturbed" in text
    assert "Files had been changed since the git revision" in text
    assert "The machine's peak was not measured" in text
    assert "Roofline" not in text


@pytest.mark.parametrize("package", ["jinja2", "matplotlib", "pygments"])
def test_a_missing_package_is_refused(both: Results, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=f"a report needs {package}") as refusal:
        page_html(both, title="T")
    assert refusal.value.hint == "python -m pip install 'polysched[report]'"
