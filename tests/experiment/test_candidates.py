"""How well a model ranks candidates: Spearman's rho with ties, and what its pick costs."""

from __future__ import annotations

import itertools
import statistics
from pathlib import Path
from typing import Any

import pytest

from polysched.dependence import analyse
from polysched.experiment import Settings
from polysched.experiment.candidates import WRITTEN, VersionedFunction, _ranks, loss, raced, rank_correlation, seconds
from polysched.scheduling import pluto
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tiling import TilingOptions, tile

TEXT = """
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] *= 2.0;
#pragma endscop
}
"""


def candidates(predicted: list[float], measured: list[float]) -> list[dict[str, Any]]:
    return [{"predicted_seconds": p, "measured_seconds": [m, 0.0, 99.0]}
            for p, m in zip(predicted, measured, strict=True)]


def test_the_median_of_the_repeats_counts() -> None:
    assert seconds({"measured_seconds": [5.0, 1.0, 3.0]}) == 3.0
    assert seconds({"measured_seconds": [4.0, 1.0]}) == 2.5


def test_without_ties_rho_is_the_formula_of_the_textbook() -> None:
    for order in itertools.permutations(range(1, 5)):
        squares = sum((i + 1 - r) ** 2 for i, r in enumerate(order))
        assert rank_correlation(candidates([1e-9, 1e-3, 2e-3, 7.0], [float(r) for r in order])) == pytest.approx(
            1 - 6 * squares / (4 * 15))


@pytest.mark.parametrize("values", [[1.0, 1.0, 2.0], [3.0, 1.0, 3.0, 3.0], [2.0, 2.0]])
def test_equal_values_share_the_mean_of_their_ranks(values: list[float]) -> None:
    """Any order of the equal ones gives these ranks on average."""
    orders = [[sorted(range(len(values)), key=lambda i: (values[i], own[i])).index(j) for j in range(len(values))]
              for own in itertools.permutations(range(len(values)))]
    assert _ranks(values) == pytest.approx([statistics.mean(o[j] for o in orders) for j in range(len(values))])


def test_a_model_that_says_the_same_of_all_ranks_nothing() -> None:
    assert rank_correlation(candidates([1.0, 1.0], [1.0, 2.0])) is None
    assert rank_correlation(candidates([1.0, 2.0], [1.0, 1.0])) is None
    assert rank_correlation(candidates([1.0], [1.0])) is None
    assert rank_correlation([]) is None


def test_a_pick_loses_what_it_is_slower_than_the_best() -> None:
    own = candidates([1.0, 2.0, 3.0], [3.0, 2.0, 4.0])
    assert loss(own[0], own) == pytest.approx(0.5)
    assert loss(own[1], own) == 0.0
    assert loss(None, own) is None


@pytest.fixture(scope="module")
def scop() -> Scop:
    return from_c_text(TEXT)


def test_a_version_is_the_file_in_its_wrapper(scop: Scop, tmp_path: Any) -> None:
    own = VersionedFunction(scop=scop, sizes={"n": 64}, folder=tmp_path)
    made = own.as_written()
    assert (tmp_path / "original_text.c").read_text() == own.source.text
    assert made.command[-1] == str(tmp_path / "original.json")
    assert made.build is not None


def test_schedules_are_timed_where_they_agree_with_the_c_file(tmp_path: Path) -> None:
    right, other = from_c_text(TEXT), from_c_text(TEXT.replace("2.0", "3.0"))
    tiled = {name: tile(pluto(analyse(scop)), TilingOptions(sizes="off")) for name, scop in
             {"right": right, "wrong": other}.items()}
    settings = Settings(folder=tmp_path, config={"rounds": 3}, threads=(1,), budget_seconds=0.2)
    kernel = VersionedFunction(scop=right, sizes={"n": 1000}, folder=tmp_path)
    found = raced(kernel, tiled, settings, lambda doing: None, threads=1)
    assert set(found["seconds"]) == {WRITTEN, "right"}
    assert all(0 < taken < 1 for taken in found["seconds"].values())
    assert list(found["problems"]) == ["wrong"]
