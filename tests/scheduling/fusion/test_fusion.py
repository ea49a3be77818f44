"""Fusion policies on programs where they differ."""

import pytest

from polysched.dependence import analyse, violation
from polysched.scheduling import SchedulerOptions, pluto
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_text


def fused(body: str, policy: str, **options: int) -> str:
    dependences = analyse(from_c_text(f"""
        void f(int n, int m, double A[n][n], double B[n][n], double C[n][n], double x[n], double y[n], double z[8]) {{
        #pragma scop
        {body}
        #pragma endscop
        }}"""))
    schedule = pluto(dependences, options=SchedulerOptions(fusion=policy, **options))
    assert violation(dependences, schedule.tree) is None
    return tree_text(schedule.tree)


POINTWISE = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = 2.0 * A[i][j];
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = B[i][j] + 1.0;
"""

COLUMNS = """
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = 2.0 * A[i][j];
for (int i = 1; i < n - 1; i++) for (int j = 0; j < n; j++) C[i][j] = B[i - 1][j] + B[i + 1][j];
"""

SHIFTED = """
for (int i = 0; i < n - 2; i++) x[i] = A[i][0];
for (int i = 1; i < n - 3; i++) y[i] = x[i - 1] + x[i + 1];
"""

REVERSED = """
for (int i = 0; i < n; i++) x[i] = A[i][0];
for (int i = 0; i < n; i++) y[i] = x[n - 1 - i];
"""

SMALL = """
for (int i = 0; i < 8; i++) z[i] = A[i][0];
for (int i = 0; i < 8; i++) y[i] = z[i];
"""


TWO_SOURCES = """
for (int i = 0; i < n; i++) x[i] = A[i][0];
for (int i = 0; i < n; i++) y[i] = A[i][1];
for (int i = 0; i < n; i++) B[i][0] = x[i] * y[i];
"""

NEEDED_BETWEEN = """
for (int i = 0; i < n; i++) x[i] = A[i][0];
for (int i = 0; i < n; i++) C[0][0] += x[n - 1 - i];
for (int i = 0; i < n; i++) y[i] = C[0][0] * A[i][1];
for (int i = 0; i < n; i++) B[i][0] = x[i] * y[i];
"""


UNROLLED = """
for (int i = 0; i < n - 1; i += 2) { x[i] += y[i]; x[i + 1] += y[i + 1]; }
"""

HALVES = """
for (int i = 0; i < n; i++) { A[0][i] += x[i]; A[1][i] += y[i]; }
"""


@pytest.mark.parametrize(("body", "policies"), [
    (POINTWISE, {"none": False, "smart": True, "max": True, "typed": True, "cost": True}),
    # fused, i is shifted and sequential, j stays parallel: enough for all but typed
    (COLUMNS, {"none": False, "smart": True, "max": True, "typed": False, "cost": True}),
    # the shift makes the only loop sequential: maximal fusion takes it, the others keep two parallel loops
    (SHIFTED, {"none": False, "smart": False, "max": True, "typed": False, "cost": False}),
    # distances grow with n unless the second loop is reversed
    (REVERSED, {"none": False, "smart": False, "max": True, "typed": False, "cost": False}),
    # eight elements stay in the cache anyway
    (SMALL, {"none": False, "smart": True, "max": True, "typed": True, "cost": False}),
    # no common element, but every line: apart, each half would load all of them
    (UNROLLED, {"none": False, "smart": True, "max": True, "typed": True, "cost": False}),
    # neighbouring rows share no line
    (HALVES, {"none": False, "smart": False, "max": False, "typed": False, "cost": False}),
], ids=["pointwise", "columns", "shifted", "reversed", "small", "unrolled", "halves"])
def test_policies(body: str, policies: dict[str, bool]) -> None:
    for policy, expected in policies.items():
        assert (", S1:" in fused(body, policy)) == expected, (policy, fused(body, policy))


def test_the_cache_size_decides_for_cost() -> None:
    assert "S0: i, S1: i" in fused(SMALL, "cost", cache_bytes=32)
    assert "S0: i, S1: i" not in fused(POINTWISE, "cost", cache_bytes=1 << 30)


def test_all_that_a_loop_reads_may_come_to_it() -> None:
    assert "S0: i, S1: i, S2: i" in fused(TWO_SOURCES, "smart")
    assert "S0: i, S1: i" not in fused(TWO_SOURCES, "none")


def test_what_is_needed_in_between_stays_where_it_is() -> None:
    found = fused(NEEDED_BETWEEN, "smart")
    assert "S2: i, S3: i" in found, found
    assert "S0: i, S2" not in found, found


STREAM = "for (int i = 0; i < n; i++) { x[i] = A[i][0] + A[i][1]; y[i] = A[i][0] - A[i][1]; }"


@pytest.mark.parametrize("policy", ["smart", "max", "typed"])
@pytest.mark.parametrize("body", [
    STREAM,
    "for (int i = 2; i < n - 2; i++) for (int j = 2; j < n - 2; j++) {"
    " B[i][j] = A[i][j - 1] - A[i][j + 1]; C[i][j] = A[i - 1][j] - A[i + 1][j]; }"])
def test_statements_of_one_loop_that_read_one_stream_stay_in_it(body: str, policy: str) -> None:
    found = fused(body, policy)
    assert "S0: i, S1: i" in found, found


@pytest.mark.parametrize("policy", ["smart", "max", "typed"])
@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) { x[0] += A[0][i]; y[0] += A[0][i] * A[1][i]; }",
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { if (A[j][i] > 0) x[0] += 1; y[0] += A[j][i]; }"])
def test_sums_of_one_nest_that_read_the_same_stay_in_it(body: str, policy: str) -> None:
    found = fused(body, policy)
    assert "S0: i, S1: i" in found, found
    assert "for (int j" not in body or "S0: j, S1: j" in found, found
    assert "S0: i, S1: i" not in fused(body, "none")
    apart = body.replace("; y[0]", "; } for (int i = 0; i < n; i++) { y[0]", 1) if "for (int j" not in body else \
        body.replace("A[j][i] > 0", "B[j][i] > 0")
    assert "S0: i, S1: i" not in fused(apart, policy)


@pytest.mark.parametrize("body", [
    STREAM.replace("; y[i]", "; } for (int i = 0; i < n; i++) { y[i]"),
    STREAM.replace("A[i][0] - A[i][1]", "z[0]").replace("A[i][0] + A[i][1]", "z[0]"),
    STREAM.replace("y[i] = A[i][0] - A[i][1]", "y[0] += A[i][0]"),
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { B[i][j] = x[j]; C[i][j] = x[j]; }"])
def test_what_shares_no_stream_goes_apart(body: str) -> None:
    """Loops of their own in the source; an element that every iteration reads; a sum; a row that every row reads."""
    found = fused(body, "smart")
    assert "S0: i, S1: i" not in found, found


def test_a_sum_whose_distances_nobody_bounds_is_no_loop_for_what_is_parallel() -> None:
    """The bounds of a `long` are more than the solver counts with: the sum gets its row by the mode without bounds."""
    dependences = analyse(from_c_text("""
        void f(long at, double sum[4], double x[25], double y[25]) {
        #pragma scop
        for (long k = 1; k <= 24; k++) { sum[at] += x[k]; y[k] = 2 * x[k]; }
        #pragma endscop
        }"""), inputs=True)
    schedule = pluto(dependences)
    assert any("no bound on distances" in rung for rung in schedule.report.rungs)
    assert violation(dependences, schedule.tree) is None
    assert "S0: k, S1: k" not in tree_text(schedule.tree)


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) { A[i][0] = x[i]; A[i][1] = 0; }",
    "for (int i = 0; i < n; i++) { A[i][0] += B[i][0]; A[i][2] += B[i][2]; }"])
def test_elements_of_the_same_rows_stay_in_one_loop(body: str) -> None:
    assert "S0: i, S1: i" in fused(body, "smart")
