"""Elements of windows and the order of sums, asked with the sizes as parameters, beside the answers at sizes."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.dependence.dependences import Dependences
from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.tensorize import Intrinsic, MatchOptions, match
from polysched.tensorize.matching.any_size import for_all_sizes, over
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.parametric_proofs import (
    at_all_sizes,
    changed_order,
    several_elements,
    unknown_digits,
)
from tests.tensorize.described import unit

WINDOW = unit("window", "int32_t Y[4], const int16_t X[5], const int16_t W[2]",
              "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] += X[i + k] * W[k];")
FLOATS = unit("floats", "float Y[4], const float X[4][2], const float W[2]",
              "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] = Y[i] + X[i][k] * W[k];")
ROW = unit("row", "int32_t Y[4], const int16_t X[4], const int16_t W[4]",
           "for (int i = 0; i < 4; i++) Y[i] += X[i] * W[i];")
IN_ORDER = MatchOptions(numerics=Numerics(reassociate=False))


def matches(head: str, body: str, intrinsic: Intrinsic,
            options: MatchOptions | None = None) -> tuple[tuple[Match, ...], Dependences]:
    scop = from_c_text(f"void f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    dependences = analysed(scop, for_instructions=True).dependences
    found = match(dependences.scop, intrinsic, options or MatchOptions(), dependences=dependences)
    return found.matches, dependences


def test_the_domain_and_the_accesses_have_parameters() -> None:
    (found, *_), _ = matches("int n, int C[n], short A[n + 1], short B[2]",
                             "for (int i = 0; i < n; i++) for (int k = 0; k < 2; k++) C[i] += A[i + k] * B[k];", WINDOW)
    domain = over(found.fragment.statement.domain, found.fragment.sizes, ["n"])
    relations = {a.reference: over(a.relation, found.fragment.sizes, ["n"]) for a in found.fragment.statement.accesses}
    there = at_all_sizes(found.fragment, found.fragment.loops, domain, relations, lowers={}, unknown=["n"])
    assert there.domain.dim(isl.dim_type.param) == 1
    assert not there.is_box
    assert all(there.relation(r) is relation for r, relation in relations.items())
    assert several_elements(found, there) == ""
    wrong = dict(relations)   # as if A were read at A[2 * i + k]
    reference = next(a.reference for a in found.fragment.statement.reads if a.array == "A")
    name = found.fragment.statement.name
    wrong[reference] = isl.Map(f"[n] -> {{ {name}[i, k] -> A[2 * i + k] }}").intersect_domain(domain)
    assert "one element of X for" in several_elements(found, at_all_sizes(
        found.fragment, there.given, domain, wrong, lowers={}, unknown=["n"]))


@pytest.mark.parametrize("loop", ["for (int k = 0; k < n; k++)", "for (int k = n - 1; k >= 0; k--)"])
def test_sums_keep_the_order_of_upward_loops(loop: str) -> None:
    head, up = "int m, int n, float C[m], float A[m][n], float B[n]", "k++" in loop
    body = f"for (int i = 0; i < m; i++) {loop} C[i] = C[i] + A[i][k] * B[k];"
    found, dependences = matches(head, body, FLOATS, IN_ORDER)
    if not found:
        assert not up
        return
    ordered = [m for m in found if m.ordered]
    assert ordered
    for one in ordered:
        loops = for_all_sizes(one, dependences, ("m", "n")).match.fragment.loops
        domain = over(one.fragment.statement.domain, one.fragment.sizes, ("m", "n"))
        there = at_all_sizes(one.fragment, loops, domain, {}, lowers={}, unknown=("m", "n"))
        name = one.fragment.statement.name
        later = isl.Map(f"[m, n] -> {{ {name}[i, k] -> {name}[i, l] : l > k }}")
        assert changed_order(one, there, [later]) == ""
        assert "in another order" in changed_order(one, there, [later.reverse().intersect_domain(domain)])


def test_loops_that_share_a_group_need_their_lengths() -> None:
    body = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) C[i][j] += A[i][j] * B[i][j];"
    found, dependences = matches("int m, int n, int C[m][n], short A[m][n], short B[m][n]", body, ROW)
    together = [m for m in found if any(len(members) > 1 for members in m.loops)]
    assert together
    for one in together:
        fragment, domain = one.fragment, over(one.fragment.statement.domain, one.fragment.sizes, ("m", "n"))
        fixed = at_all_sizes(fragment, fragment.loops, domain, {}, lowers={}, unknown=("m", "n"))
        assert unknown_digits(one, fixed) == ""
        loops = for_all_sizes(one, dependences, ("m", "n")).match.fragment.loops
        assert "is tells lanes apart and is not known" in unknown_digits(
            one, at_all_sizes(fragment, loops, domain, {}, lowers={}, unknown=("m", "n")))


def test_windows_may_begin_at_a_size() -> None:
    """As they move with the loop, they may move with a size."""
    head, loops = "int m, int n, int C[n], short A[2 * n + 2], short B[2]", "for (int i = m; i < n; i++) "
    found, dependences = matches(head, loops + "for (int k = 0; k < 2; k++) C[i] += A[i + k + m] * B[k];", WINDOW)
    made = for_all_sizes(found[0], dependences, ("m", "n"))
    assert made.match.fragment.loop("i").lower.text.endswith("m")
    assert made.match.loops == found[0].loops
