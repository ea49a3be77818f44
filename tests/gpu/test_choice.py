"""Few launches of many work items are preferred."""

from polysched.gpu.choice import costs_less, seconds_of
from tests.gpu.mapped import STENCIL, WAVEFRONT, mapped


def test_more_launches_cost_more() -> None:
    mapping = mapped(STENCIL)
    assert seconds_of(mapping, {"t": 10, "n": 1000}) < seconds_of(mapping, {"t": 100, "n": 1000})


def test_a_wavefront_beats_one_work_item() -> None:
    assert costs_less(mapped(WAVEFRONT, "pluto"), mapped(WAVEFRONT), {"n": 4000})
