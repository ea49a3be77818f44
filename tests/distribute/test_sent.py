"""Messages between numbered ranks; that their elements are exact is tested in test_messages.py."""

import pytest

from polysched.distribute import Partition, distribute
from polysched.distribute.sent import AtSizes, Run, Sent, sent
from polysched.errors import UsageError
from tests.distribute.programs import scop_of


def test_neighbours_of_a_stencil_exchange_a_row_a_step() -> None:
    found = sent(distribute(scop_of("jacobi"), "i"), 3, {"n": 7, "t": 1})
    assert found == (
        Sent(step=(0,), sender=0, receiver=1, array="B", count=5, elements="B[2][1..5]"),
        Sent(step=(0,), sender=1, receiver=0, array="B", count=5, elements="B[3][1..5]"),
        Sent(step=(0,), sender=1, receiver=2, array="B", count=5, elements="B[4][1..5]"),
        Sent(step=(0,), sender=2, receiver=1, array="B", count=5, elements="B[5][1..5]"))
    assert found[0].headline() == "step 0: rank 0 to rank 1, 5 elements, B[2][1..5]"


def test_elements_that_are_no_box_are_named_one_by_one() -> None:
    made = distribute(scop_of("reverse"), "i", partition=Partition(kind="cyclic", ranks=2))
    assert {m.elements for m in sent(made, 2, {"n": 4})} == {"x[2]", "x[1]"}
    made = distribute(scop_of("conditional"), "i", partition=Partition(kind="block-cyclic", ranks=2, block=2))
    assert "B[1], B[4], B[5], B[8], ..." in {m.elements for m in sent(made, 2, {"n": 16, "t": 2})}


def test_sizes_at_which_nothing_runs_send_nothing() -> None:
    assert sent(distribute(scop_of("jacobi"), "i"), 3, {"n": 2, "t": 3}) == ()
    assert sent(distribute(scop_of("product"), "i"), 3, {"n": 0}) == ()


@pytest.mark.parametrize("ranks", [1, 40])
def test_any_number_of_ranks(ranks: int) -> None:
    at = AtSizes(distributed=distribute(scop_of("jacobi"), "i"), ranks=ranks, sizes={"n": 7, "t": 1})
    assert sum(at.run_in((0,), rank).own for rank in range(ranks)) == 25
    assert bool(sent(at.distributed, ranks, at.sizes)) == (ranks > 1)


def test_what_a_rank_runs_in_a_step() -> None:
    scop, sizes = scop_of("jacobi"), {"n": 14, "t": 2}
    overlapped = AtSizes(distributed=distribute(scop, "i", overlap=True), ranks=3, sizes=sizes)
    assert overlapped.run_in((0,), 1) == Run(own=48, replicas=0, first=24)
    tiled = AtSizes(distributed=distribute(scop, "i", time_tile=2), ranks=3, sizes=sizes)
    assert tiled.run_in((0,), 1) == Run(own=96, replicas=24)
    assert tiled.run_in((0,), 0) == Run(own=96, replicas=12)


def test_what_is_gathered() -> None:
    at = AtSizes(distributed=distribute(scop_of("jacobi"), "i"), ranks=3, sizes={"n": 7, "t": 1})
    assert [at.gathered_from(rank) for rank in range(3)] == [{"A": 10, "B": 10}, {"A": 10, "B": 10}, {"A": 5, "B": 5}]


def test_ranks_that_do_not_fit_are_refused() -> None:
    made = distribute(scop_of("jacobi"), "i", partition=Partition(kind="cyclic", ranks=3))
    with pytest.raises(UsageError, match="made for 3 ranks, not 2"):
        sent(made, 2, {"n": 7, "t": 1})
    with pytest.raises(UsageError, match="0 ranks run nothing"):
        sent(distribute(scop_of("jacobi"), "i"), 0, {"n": 7, "t": 1})
