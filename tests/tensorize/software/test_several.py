"""Several assignments of one statement as what they write at once."""

from dataclasses import replace

from polysched.scop.body import Expr, Load, walk
from polysched.scop.scop import Scop
from polysched.tensorize.matching.grouping import Together, groups_of_statements
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.several import fragment_of_several
from tests.tensorize.described import program, unit

TWO = unit("two", "int32_t P[8], int32_t Q[8]",
           "for (int i = 0; i < 8; i++) { int32_t t = P[i]; P[i] = t + Q[i]; Q[i] = t - Q[i]; }")


def merged(body: str) -> Fragment:
    scop = program("int32_t P[19], int32_t Q[19]", f"for (int i = 0; i < 19; i++) {{ {body} }}")
    first = next(g for g in groups_of_statements(scop, TWO, sizes={}, kept=0) if isinstance(g, Together))
    return first.fragment


def again(fragment: Fragment, scop: Scop) -> Fragment | None:
    return fragment_of_several(scop, fragment.statement, {})


def read(update: Expr) -> set[str]:
    return {e.reference for e in walk(update) if isinstance(e, Load)}


def test_later_assignments_read_what_earlier_ones_wrote() -> None:
    fragment = merged("P[i] += Q[i]; Q[i] = P[i] - 2 * Q[i];")
    first, second = fragment.results
    loads = {first.target, second.target}
    assert [fragment.statement.access(t).array for t in (first.target, second.target)] == ["P", "Q"]
    assert first.target in read(second.update)   # the value before
    assert loads <= read(first.update)


def test_one_assignment_is_not_several() -> None:
    fragment = merged("P[i] += Q[i]; Q[i] = 3;")
    assert again(fragment, fragment.scop) is not None
    alone = replace(fragment.statement, body=fragment.statement.body[:1])
    assert fragment_of_several(fragment.scop, alone, {}) is None
