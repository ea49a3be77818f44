"""Valid sizes, refused sizes, and the sizes that are taken when none are given."""

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.measure.programs.bounds import extents_at, stray_accesses, valid_sizes
from polysched.measure.programs.problem_size import MOST_BYTES, MOST_INSTANCES, array_bytes, choose_size
from polysched.scop import all_from_c_text, from_c_text
from polysched.scop.scop import Scop


def scop_of(parameters: str, body: str) -> Scop:
    return from_c_text(f"void f({parameters})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n", path="f.c")


FILL = "for (int i = 0; i < n; i++) A[i] = 0;"


@pytest.mark.parametrize(("parameters", "body", "sizes"), [
    ("int n, double A[77]", FILL, {"n": 77}),
    ("int n, double A[77]", "for (int i = 1; i <= n; i++) A[i] = A[i - 1];", {"n": 76}),
    ("int n, double A[77]", "for (int i = n; i > 0; i--) A[2 * i] = 0;", {"n": 38}),
    ("int n, double A[5][9]", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = 0;", {"n": 5}),
    ("int n, int m, double A[5][9]", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = 0;",
     {"n": 5, "m": 9}),
    ("double A[9]", "for (int i = 0; i < 9; i++) A[i] = 0;", {})])
def test_constant_extents_give_the_largest_size(parameters: str, body: str, sizes: dict[str, int]) -> None:
    chosen = choose_size([scop_of(parameters, body)], {})
    assert chosen.values == sizes
    assert set(chosen.chosen) == set(sizes)


def test_the_largest_size_is_really_the_largest() -> None:
    scop = scop_of("int n, double A[77]", "for (int i = 3; i < n - 2; i++) A[2 * i - 5] = A[i + 1];")
    largest = choose_size([scop], {}).values["n"]
    choose_size([scop], {"n": largest})
    with pytest.raises(UsageError, match="leaves the array A"):
        choose_size([scop], {"n": largest + 1})


def test_free_sizes_are_affordable() -> None:
    scop = scop_of("int steps, int n, double A[n][n]",
                   "for (int t = 0; t < steps; t++) for (int i = 0; i < n; i++)\n"
                   "  for (int j = 0; j < n; j++) A[i][j] += t;")
    chosen = choose_size([scop], {})
    assert 0 < chosen.instances <= MOST_INSTANCES
    assert array_bytes([scop], chosen.values) <= MOST_BYTES
    assert chosen.values["n"] >= 500
    assert 10 <= chosen.values["steps"] <= 100


def test_a_single_row_is_long_enough_to_be_measured() -> None:
    chosen = choose_size([scop_of("int n, double A[n], double B[n]", "for (int i = 0; i < n; i++) A[i] = B[i];")], {})
    assert chosen.values["n"] >= 1_000_000
    assert array_bytes([scop_of("int n, double A[n]", FILL)], chosen.values) <= MOST_BYTES
    strided = scop_of("int n, int s, double *A", "for (int i = 0; i < n; i++) A[i * s] = 0;")
    chosen = choose_size([strided], {})
    assert chosen.instances >= 4000
    assert array_bytes([strided], chosen.values) <= MOST_BYTES


COMPUTED = """
void f(int n, int pad, double *A) {
  const int wide = 2 * n + pad;
  int rows = (wide + 3) / 4;
#pragma scop
  for (int i = 0; i < rows; i++) A[i] = 0;
#pragma endscop
}
"""


def test_a_size_that_the_function_computes_is_what_it_computes() -> None:
    scop = from_c_text(COMPUTED)
    chosen = choose_size([scop], {"n": 11, "pad": 5})
    assert chosen.values == {"rows": 7}
    assert chosen.spelled == {"n": 11, "pad": 5}
    assert extents_at(scop, scop.array("A"), chosen.values) == (7,)
    free = choose_size([scop], {"pad": 0})
    assert free.values["rows"] == (2 * free.spelled["n"] + 3) // 4


def test_no_size_that_the_function_computes_fits() -> None:
    with pytest.raises(UsageError, match="no sensible sizes were found"):
        choose_size([from_c_text(COMPUTED)], {"n": -9, "pad": 0})


def test_given_sizes_are_kept_and_the_others_fit_in() -> None:
    scop = scop_of("int n, int m, double A[100]",
                   "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i + j] = 0;")
    assert choose_size([scop], {"n": 90}).values == {"n": 90, "m": 11}


def test_two_regions_share_their_limits() -> None:
    text = ("void f(int n, double A[30], double B[20])\n{\n#pragma scop\nfor (int i = 0; i < n; i++) A[i] = 0;\n"
            "#pragma endscop\n#pragma scop\nfor (int i = 0; i < n; i++) B[i] = 0;\n#pragma endscop\n}\n")
    assert choose_size(all_from_c_text(text), {}).values == {"n": 20}


def test_a_pointer_needs_as_many_elements_as_are_reached() -> None:
    scop = scop_of("int n, double *A", "for (int i = 0; i < n; i++) A[3 * i + 2] = 0;")
    assert extents_at(scop, scop.array("A"), {"n": 10}) == (30,)


def test_the_refusal_names_access_element_and_extent() -> None:
    scop = scop_of("int n, double A[77]", FILL)
    with pytest.raises(UsageError) as refusal:
        choose_size([scop], {"n": 80})
    lines = str(refusal.value).splitlines()
    assert lines[0] == "f.c:4: with n=80 the access S0_w0 leaves the array A"
    assert lines[2] == "  hint: choose smaller values with --size"
    element, rest = lines[1].removeprefix("  witness: A[").split("]", 1)
    assert 77 <= int(element) < 80
    assert rest == ", but the array has 77 elements"


def test_a_region_that_never_runs_is_refused() -> None:
    with pytest.raises(UsageError, match="no statement of f runs with n=0"):
        choose_size([scop_of("int n, double A[77]", FILL)], {"n": 0})


def test_valid_sizes_are_exact() -> None:
    scop = scop_of("int n, double A[77]", FILL)
    valid = valid_sizes(scop, stray_accesses(scop))
    for n, fits in ((1, True), (77, True), (78, False)):
        assert valid.fix_val(isl.dim_type.param, 0, isl.Val(n)).is_empty() is not fits


def test_statements_that_run_at_odd_sizes_only_do_not_make_it_tiny() -> None:
    scop = scop_of("int h, int w, double A[h][w]",
                   "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) { A[i][j] += 1;\n"
                   "  if (2 * i == h - 1 || 2 * j == w - 1) A[i][j] += 2; }")
    chosen = choose_size([scop], {}).values
    assert chosen["h"] == chosen["w"]
    assert chosen["h"] > 500
    assert chosen["h"] % 2
