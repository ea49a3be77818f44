"""Arrays of a function lie in the program's where all corresponding elements are the same distances apart."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.scop import from_c_text
from polysched.scop.scop import Array, Scop
from polysched.tensorize.functions.addresses import free_strides, same_place, step_name, strides
from polysched.tensorize.functions.state import State

EVERYTHING = isl.Set("{ : }")
PROGRAM = "void f(int m, int n, float A[m][n], float v[n], double d[n], float c[4][8]) {\n#pragma scop\n" \
    "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) A[i][j] = v[j] + d[j] + c[0][0];\n#pragma endscop\n}\n"
FUNCTION = "void g(int k, int inc, int ld, float *x, float *y, float *p) {\n#pragma scop\n" \
    "for (int i = 0; i < k; i++) { x[i * inc] = 1; y[i] = 2; p[i] = 3; }\n#pragma endscop\n}\n"


@pytest.fixture(scope="module")
def arrays() -> dict[str, Array]:
    scops: list[Scop] = [from_c_text(PROGRAM), from_c_text(FUNCTION)]
    return {a.name: a for s in scops for a in s.arrays}


def test_strides_are_products_of_the_inner_extents(arrays: dict[str, Array]) -> None:
    assert strides(arrays["A"], "") == [{("n",): 1}, {(): 1}]
    assert strides(arrays["A"], "_f_") == [{("_f_n",): 1}, {(): 1}]
    assert strides(arrays["c"], "") == [{(): 8}, {(): 1}]
    assert strides(arrays["v"], "") == [{(): 1}]
    assert free_strides(arrays["A"]) == [{(f"_f_{step_name('A', at)}",): 1} for at in range(2)]


def placed(arrays: dict[str, Array], ours: str, element: str, other: str, *, packs: bool = False) -> State | None:
    return same_place(State(context=EVERYTHING), arrays["y"], isl.Map(element), arrays[ours], isl.Map(other),
                      packs=packs)


@pytest.mark.parametrize(("ours", "other", "same"), [
    ("v", "[n] -> { [i] -> [i] : 0 <= i < n }", True), ("v", "[n] -> { [i] -> [i + 3] : 0 <= i < n - 3 }", True),
    ("A", "[m, n] -> { [i] -> [2, i] : 0 <= i < n and m > 2 }", True),
    ("v", "[n] -> { [i] -> [2i] : 0 <= 2i < n }", False), ("v", "[n] -> { [i] -> [n - 1 - i] : 0 <= i < n }", False),
    ("A", "[m, n] -> { [i] -> [i, 0] : 0 <= i < m }", False), ("d", "[n] -> { [i] -> [i] : 0 <= i < n }", False)])
def test_neighbours_of_the_function_are_neighbours_of_the_program(ours: str, other: str, same: bool,
                                                                arrays: dict[str, Array]) -> None:
    found = placed(arrays, ours, "{ [i] -> [i] }", other)
    assert (found is not None) is same
    if found is not None:
        assert found.operands["y"].array == ours


def test_the_first_element_is_what_both_agree_on(arrays: dict[str, Array]) -> None:
    found = placed(arrays, "A", "{ [i] -> [i] }", "[m, n] -> { [i] -> [2, i + 1] : 0 <= i < n - 1 and m > 2 }")
    assert found is not None
    base = dict(found.operands["y"].base)
    assert base[("n",)].range().is_equal(isl.Set("[m, n] -> { [2] : n >= 2 and m > 2 }"))
    assert base[()].range().is_equal(isl.Set("[m, n] -> { [1] : n >= 2 and m > 2 }"))
    again = same_place(found, arrays["y"], isl.Map("{ [i] -> [i + 1] }"), arrays["A"],
                       isl.Map("[m, n] -> { [i] -> [2, i + 2] : 0 <= i < n - 2 and m > 2 }"))
    assert again is not None
    shifted = same_place(found, arrays["y"], isl.Map("{ [i] -> [i] }"), arrays["A"],
                         isl.Map("[m, n] -> { [i] -> [2, i + 2] : 0 <= i < n - 2 and m > 2 }"))
    assert shifted is None, "another first element"
    elsewhere = same_place(found, arrays["y"], isl.Map("{ [i] -> [i] }"), arrays["v"], isl.Map("{ [i] -> [i] }"))
    assert elsewhere is None, "another array"


def test_a_copy_may_lie_at_any_constant_distances(arrays: dict[str, Array]) -> None:
    found = placed(arrays, "A", "{ [i] -> [i] }", "[m, n] -> { [i] -> [i, 0] : 0 <= i < m }", packs=True)
    assert found is not None
    assert found.values[step_name("y", 0)] == {("n",): 1}
    bent = placed(arrays, "v", "{ [i] -> [i] }", "[n] -> { [i] -> [i] : 0 <= i < 2; [i] -> [i + 1] : 2 <= i < n }",
                  packs=True)
    assert bent is None
