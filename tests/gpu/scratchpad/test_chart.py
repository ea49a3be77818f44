"""The Gantt chart."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from polysched.gpu.scratchpad.chart import gantt
from tests.gpu.scratchpad.accelerated import mapped, norm


def test_a_row_per_engine_and_a_bar_per_instruction() -> None:
    own = mapped(norm(8, 8), tile=(4,)).timeline
    root = ElementTree.fromstring(gantt("a < b", own.engines, own.runs))
    kinds = [child.tag.rpartition("}")[2] for child in root]
    assert kinds.count("rect") == len(own.runs)
    assert kinds.count("line") == len(own.engines)
    assert root[0].text == "a < b"


def test_an_empty_timeline_is_a_chart() -> None:
    assert "<rect" not in gantt("nothing", ("CUBE",), ())
