"""isl's own scheduler: its policies of fusion, and the schedule as written where its budget runs out."""

from __future__ import annotations

import pytest

from polysched.scheduling.isl_scheduler import isl_schedule
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.tree.tree_text import band_list, tree_text
from tests.scheduling.primitives.programs import order, product, stencil, two_loops


def test_a_product_is_one_band() -> None:
    made = isl_schedule(product().dependences)
    (band,) = band_list(made.tree)
    assert band["permutable"]
    assert [m["parallel"] for m in band["members"]].count(True) == 2


def test_a_stencil_becomes_permutable() -> None:
    (band,) = band_list(isl_schedule(stencil().dependences).tree)
    assert band["permutable"]
    assert len(band["members"]) == 2


@pytest.mark.parametrize(("fusion", "bands"), [("none", 2), ("max", 1)])
def test_fusion(fusion: str, bands: int) -> None:
    made = isl_schedule(two_loops().dependences, options=SchedulerOptions(fusion=fusion))
    assert len(band_list(made.tree)) == bands, tree_text(made.tree)


def test_what_takes_too_long_stays_as_it_was_written() -> None:
    made = isl_schedule(product().dependences, options=SchedulerOptions(isl_operations=10))
    assert order(made) == order(product())
    assert "ran out" in made.report.rungs[0]
