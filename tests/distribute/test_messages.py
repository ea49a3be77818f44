"""Messages hold exactly what passes between ranks: sets against a walk over all instances."""

import pytest

from polysched.distribute import Partition, distribute
from polysched.distribute.messages import OTHERWISE, with_whole_writes
from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.scop import AccessKind
from tests.distribute.programs import PROGRAMS, ranks_of, scop_of, sent_by_sets, sent_by_walking


@pytest.mark.parametrize("partition", [Partition(), Partition(kind="cyclic", ranks=3),
                                       Partition(kind="block-cyclic", ranks=3, block=2)], ids=lambda p: p.kind)
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "sum"])
def test_messages_are_exact(name: str, partition: Partition) -> None:
    made = distribute(scop_of(name), "i", partition=partition)
    expected = sent_by_walking(made.scop, ranks_of(made, 3))
    assert sent_by_sets(made, 3) == expected
    assert expected or name == "product"


def test_the_gathered_elements_are_those_that_are_written_last() -> None:
    made = distribute(scop_of("jacobi"), "i")
    assert {g.array for g in made.gathered} == {"A", "B"}


def test_temporaries_are_not_gathered() -> None:
    made = distribute(from_c_text(
        "void f(int n, double A[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) { double t = A[i]; A[i] = t * t; }\n"
        "#pragma endscop\n}\n"), "i")
    assert [g.array for g in made.gathered] == ["A"]
    assert not made.messages


def test_a_write_on_a_condition_reads_what_is_there() -> None:
    scop = with_whole_writes(scop_of("conditional"))
    statement = next(s for s in scop.statements if any(a.reference.endswith(OTHERWISE) for a in s.accesses))
    assert all(a.kind is not AccessKind.MAY_WRITE for s in scop.statements for a in s.accesses)
    assert {a.array for a in statement.accesses if a.reference.endswith(OTHERWISE)} == {"B"}


def test_writes_at_subscripts_from_memory_are_refused() -> None:
    scop = from_c_text("void f(int n, int x[n], double A[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) "
                       "A[x[i]] = i;\n#pragma endscop\n}\n")
    with pytest.raises(UnsupportedScopError, match="at a subscript that only the running program knows"):
        distribute(scop, "i")
