"""How values show themselves: in one line, as text, as HTML."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest

from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.records import LONGEST as LONGEST_REPR
from polysched.scheduling.picture import draw_tiles
from tests.measure.test_results import MEASUREMENT
from tests.smooth import smooth


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="IPython is not installed")
def test_ipython_on_a_terminal_shows_the_text():
    pretty = importlib.import_module("IPython.lib.pretty").pretty
    optimized = optimize(smooth().scop, PipelineOptions(tile=3, parallel=False))
    for value in (optimized, optimized.scop, optimized.dependences, optimized.schedule, optimized.tiled,
                  optimized.source, draw_tiles(optimized.dependences, optimized.tiled.tree), MEASUREMENT):
        assert pretty(value) == str(value).rstrip("\n")
        assert "Set(" not in pretty(value)


def test_a_value_is_one_line_inside_another():
    optimized = optimize(smooth().scop, PipelineOptions(vector_bits=256))
    told = {
        repr(optimized.scop): "<Scop smooth(steps, n): 1 statements, 1 arrays>",
        repr(optimized.dependences): "<Dependences of smooth: ",
        repr(optimized.schedule): "<Schedule of smooth: pluto>",
        repr(optimized.tiled): "<TiledSchedule of smooth: ",
        repr(optimized.source): "<CSource of smooth: ",
        repr(optimized): "<Optimized smooth: pluto, ",
        repr(MEASUREMENT): "<Measurement ",
    }
    for line, beginning in told.items():
        assert line.startswith(beginning)
        assert line.endswith(">")
        assert "\n" not in line
        assert len(line) <= LONGEST_REPR
    assert repr([optimized]) == f"[{optimized!r}]"


def test_a_long_line_is_cut():
    scop = replace(smooth().scop, name="f" * 400)
    assert len(repr(scop)) == LONGEST_REPR
    assert repr(scop).endswith("f...>")
