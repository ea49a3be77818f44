"""The ends of loops as sums of sizes, or as the least and greatest of several, and the box that they make."""

from collections.abc import Callable

import islpy as isl
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.tensorize.matching.any_size import over
from polysched.tensorize.matching.general_loops import NotGeneralError, loops_of_all_sizes
from polysched.tensorize.software.fragment import statement_fragment
from polysched.tensorize.software.sizes import run_time_sizes

SAMPLE = {"n": 40, "q": 30}
ENDS: dict[str, tuple[Callable[[int, int], range], bool]] = {   # by the head: its values, and whether it is a box
    "int k = 0; k < n; k++": (lambda n, q: range(n), True),
    "int k = n / 2; k < n; k++": (lambda n, q: range(n // 2, n), True),
    "int k = 0; k < n && k < q; k++": (lambda n, q: range(min(n, q)), True),
    "int k = 0; k < n && k < 2 * q && k < 35; k++": (lambda n, q: range(min(n, 2 * q, 35)), True),
    "int k = n > q ? n - q : 0; k < n; k++": (lambda n, q: range(max(n - q, 0), n), True),
    "int k = 0; k <= i && k < q; k++": (lambda n, q: range(min(n, q)), False)}
SIZES = ((2, 2), (3, 9), (9, 3), (17, 16), (40, 30), (41, 90))


@pytest.mark.parametrize("head", ENDS)
def test_loops_have_their_ends_at_every_size(head: str) -> None:
    wanted, is_box = ENDS[head]
    scop = from_c_text(f"void f(int n, int q, int c[n], int a[2 * n]) {{\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
                       f"for ({head}) c[i] += a[k];\n#pragma endscop\n}}\n")
    scop = analysed(scop).dependences.scop
    fragment = statement_fragment(scop, scop.statement("S0"), SAMPLE)
    assert fragment is not None
    context = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n, q] -> { : n >= 2 and q >= 2 }")
    domain = over(scop.statement("S0").domain, {}, ("n", "q")).intersect_params(context)
    values, _ = run_time_sizes(SAMPLE, ("n", "q"))
    loops, around, _ = loops_of_all_sizes(fragment, domain, context, values)
    assert bool(around.is_subset(domain)) == is_box
    assert domain.is_subset(around)
    first, extent = (str(number) for number in (loops[1].lower, loops[1].extent))
    for n, q in SIZES:
        at = {"ps_size_n": n, "ps_size_q": q}
        k = wanted(n, q)
        assert evaluated(first, at) == k.start
        assert evaluated(extent, at) == len(k)


def evaluated(text: str, at: dict[str, int]) -> int:
    """C whose only branches are `(a < b ? a : b)`, as Python."""
    while "?" in text:
        sign = text.rindex("?")   # no branch stands behind it
        begin, end = _opening(text, sign), _closing(text, sign)
        yes, no = text[sign + 1: end].split(" : ")
        chosen = yes if evaluated(text[begin + 1: sign], at) else no
        text = f"{text[:begin]}({chosen}){text[end + 1:]}"
    return int(eval(text.replace("/", "//").strip(), dict(at)))


def _opening(text: str, at: int) -> int:
    depth = 0
    for place in range(at, -1, -1):
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth < 0:
            return place
    raise ValueError(text)


def _closing(text: str, at: int) -> int:
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth < 0:
            return place
    raise ValueError(text)


def test_ends_that_are_no_such_sums_are_refused() -> None:
    head = "int k = n > 7 ? 7 : n; k < 2 * n; k++"   # the least of two, where it begins
    with pytest.raises(NotGeneralError, match="the ends of loop k are not affine"):
        _refused(head)


def test_a_condition_on_the_sizes_around_the_loops_is_not_forgotten() -> None:
    with pytest.raises(NotGeneralError, match="a condition on the sizes decides whether it runs"):
        _refused("int k = 0; k < n && n > 9; k++")


def _refused(head: str) -> None:
    scop = from_c_text(f"void f(int n, int c[n], int a[2 * n]) {{\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
                       f"for ({head}) c[i] += a[k];\n#pragma endscop\n}}\n")
    scop = analysed(scop).dependences.scop
    fragment = statement_fragment(scop, scop.statement("S0"), {"n": 40})
    assert fragment is not None
    context = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n >= 2 }")
    values, _ = run_time_sizes({"n": 40}, ("n",))
    loops_of_all_sizes(fragment, scop.statement("S0").domain.intersect_params(context), context, values)
