"""A published value beside ours: difference, what is asked, and where it stands."""

from __future__ import annotations

import pytest

from polysched.experiment.claims import Claim, at_least, at_most, claims_table


@pytest.mark.parametrize(("ours", "published", "difference"), [
    (1.23, 1.30, "-5%"), (2.9, 1.344, "2.2 times"), (26, 30, "-13%"), (16, 16, "none"), (0, 0, "none"),
    (3, 0, "+3.00"), (None, 1.0, "-"), (1.0, None, "-")])
def test_the_difference_is_of_the_published_value(ours: float | None, published: float | None,
                                                  difference: str) -> None:
    assert Claim(what="speed", ours=ours, published=published).difference() == difference


def test_a_bound_is_said_and_judged() -> None:
    assert at_least(1.3, 1.3) == ("at least 1.30", True)
    assert at_least(1.3, 1.29) == ("at least 1.30", False)
    assert at_most(0.1, 0.083, digits=3) == ("at most 0.100", True)
    assert at_least(1.3, None)[1] is at_most(1.3, None)[1] is False


def test_every_source_stands_once_below_the_table() -> None:
    claims = [Claim(what="a", ours=1, published=2, source="abstract"),
              Claim(what="b", ours=None, published=3, source="abstract", asked="all", holds=False)]
    text = claims_table(claims)
    assert text.count("abstract") == 1
    assert text.endswith("\n\n- abstract")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[2:4]]
    assert rows == [["a", "1.00", "2.00", "-50%", "nothing", "-"], ["b", "-", "3.00", "-", "all", "no"]]
