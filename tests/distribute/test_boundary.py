"""What runs before messages are sent, and what while they are on their way."""

import pytest

from polysched.distribute import Partition, distribute
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scop.points import fix_parameters, points_of
from tests.distribute.programs import PROGRAMS, scop_of, sizes_of
from tests.distribute.test_simulated import compare


@pytest.mark.parametrize("partition", [Partition(), Partition(kind="cyclic", ranks=3)], ids=lambda p: p.kind)
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("product", "floyd")])
def test_results_with_messages_on_their_way(name: str, partition: Partition) -> None:
    scop = scop_of(name)
    assert compare(scop, "i", partition, 3, sizes_of(scop), 3, overlap=True)


def test_the_parts_are_the_step_once_and_the_boundary_is_its_rim() -> None:
    made = distribute(scop_of("jacobi"), "i", overlap=True)
    first, rest = made.parts
    known = {"n": 12, "t": 3, "polysched_first": 3, "polysched_end": 8, "polysched_step0": 2}

    def rows(part):
        return [(s.name, p) for s in part.statements for p in points_of(fix_parameters(s.domain, known))]

    assert sorted(rows(first) + rows(rest)) == sorted(rows(made.part))
    assert {p[1] for _, p in rows(first)} == {3, 7}
    assert made.headline().endswith("messages overlap with the interior")


def test_without_messages_there_is_nothing_to_overlap() -> None:
    with pytest.raises(UsageError, match="so none can overlap"):
        distribute(scop_of("product"), "i", overlap=True)


def test_a_boundary_that_would_overwrite_what_the_interior_reads_is_refused() -> None:
    with pytest.raises(IllegalScheduleError, match="the interior breaks the anti dependence") as refusal:
        distribute(scop_of("floyd"), "i", overlap=True)
    assert refusal.value.hint is not None
    assert "leave the overlap out" in refusal.value.hint
