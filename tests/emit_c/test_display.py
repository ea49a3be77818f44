"""Emitted C as HTML, in colour where Pygments is there."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from polysched.emit_c import emit
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop import html
from polysched.tiling import TilingOptions, tile
from tests.html_reader import Page
from tests.smooth import smooth


@pytest.mark.skipif(importlib.util.find_spec("pygments") is None, reason="Pygments is not installed")
def test_emitted_c_is_coloured():
    source = optimize(smooth().scop, PipelineOptions(tile=3)).source
    page = Page(source._repr_html_())
    assert source.text in page.text
    assert page.counts["span"] > 20


def test_emitted_c_without_pygments_is_the_same_text(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygments", None)
    monkeypatch.setattr(html.importlib.util, "find_spec", lambda name: None)
    source = emit(tile(smooth(), TilingOptions(sizes="off")))
    page = Page(source._repr_html_())
    assert source.text in page.text
    assert page.counts["span"] == 0
