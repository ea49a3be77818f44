"""Decisions about instructions in a region, and what runs for them meanwhile."""

from dataclasses import replace
from typing import Any

import pytest

from polysched.pipeline import instructed, way
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.verified_replacements import BegunVerdict
from polysched.pipeline.way import started_region
from polysched.scop import from_c_text
from polysched.target.processor import processor_flags
from polysched.tensorize.options import TensorizeOptions

PRODUCT = """void product(int m, int n, int q, int C[m][n], const unsigned char A[m][q], const signed char B[q][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < q; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def test_a_comparison_that_nobody_asks_for_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where arrays that are too large let the region be analysed anew."""
    waited: list[str] = []
    verdict = BegunVerdict(result=lambda: pytest.fail("asked"), wait=lambda: waited.append("yes"))
    begun = instructed.Begun(None, None, verdict)

    def made(scop: object, expansion: object, given: object, *_: object) -> None:
        assert given is begun
        assert not waited
    monkeypatch.setattr(way, "_made", made)
    monkeypatch.setattr(way, "_with_original", lambda _: None)
    way.Started(None, None, None, begun, {}).finished()
    assert waited == ["yes"]


def test_a_region_of_a_file_is_not_started_for_an_instruction_alone() -> None:
    assert started_region(from_c_text(PRODUCT), PipelineOptions()) is None


BESIDE = """void beside(int m, int n, int q, int p, int C[m][n], const unsigned char A[m][q], const signed char B[q][n],
            double Y[p][p], const double X[p][p])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < q; k++)
                C[i][j] += A[i][k] * B[k][j];
    for (int i = 0; i < p; i++)
        for (int j = 0; j < p; j++)
            Y[i][j] += X[j][i];
#pragma endscop
}
"""


@pytest.mark.skipif("avx2" not in processor_flags(), reason="this machine does not list AVX2")
def test_loops_as_written_run_only_where_no_statement_has_much_to_do() -> None:
    started = started_region(replace(from_c_text(BESIDE), source=None), PipelineOptions())
    assert started is not None
    assert started.alone is not None
    assert "|| (double)((long)p) * ((long)p) >= " in started.alone.text, started.alone.text


@pytest.mark.parametrize("by_hand", [{"packed": frozenset({"A"})}, {"tile": 32}, {"register_block": (4, 8)},
                                     {"scheduler": "original"}])
def test_choices_by_hand_need_the_ordinary_code(by_hand: dict[str, Any]) -> None:
    """It is the stages of ordinary code that refuse them."""
    options = PipelineOptions(tensorize=TensorizeOptions(intrinsic="auto"), **by_hand)
    assert started_region(replace(from_c_text(PRODUCT), source=None), options) is None


@pytest.mark.skipif("avx2" not in processor_flags(), reason="this machine does not list AVX2")
def test_the_region_by_an_instruction_alone_has_no_tiles() -> None:
    started = started_region(replace(from_c_text(PRODUCT), source=None), PipelineOptions())
    assert started is not None
    assert started.alone is not None
    assert "return 2;" in started.alone.text
    assert "band 1" not in started.alone.text
    assert started.is_right()
    assert any("verified: S0" in line for line in started.finished().steps())
