"""What a reduction says of itself: its accumulators, its references, and whether its order counts."""

from polysched.dependence.reductions.reduction import Reduction
from polysched.scop.dtypes import FLOAT64, INT32

SUM = Reduction(statement="S0", operator="sum", write="w", reads=("r",), dtype=FLOAT64, exact=False, also=("w2",))
PLACE = Reduction(statement="S0", operator="argmax", write="w", reads=("r",), dtype=INT32, exact=True, places=("p",),
                  ties="first")
LAST = Reduction(statement="S0", operator="last", write="w", reads=(), dtype=INT32, exact=True, ties="last")


def test_a_place_and_a_last_index_have_an_order() -> None:
    assert SUM.any_order
    assert not PLACE.any_order
    assert not LAST.any_order


def test_an_order_beside_counts_for_the_whole_statement() -> None:
    both = Reduction(statement="S0", operator="sum", write="w", reads=("r",), dtype=INT32, exact=True, beside=(PLACE,))
    assert both.accumulators == (both, PLACE)
    assert not both.any_order


def test_own_references_are_those_of_the_accumulator_and_the_place() -> None:
    assert SUM.own == {"w", "w2", "r"}
    assert PLACE.own == {"w", "r", "p"}


def test_one_line_says_what_an_order_changes() -> None:
    assert str(SUM) == "S0: sum of float64, another order rounds differently"
    assert str(PLACE) == "S0: argmax of int32, in order, because the first of equal values counts"
    assert str(LAST) == "S0: last of int32, in order, or in ranges whose results are combined in order"
