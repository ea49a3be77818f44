"""Strategies: named schedulers as strategies, given and forbidden rows, fusion commands, and refusals."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from polysched.dependence import Dependences, analyse, violation
from polysched.errors import UsageError
from polysched.scheduling import STRATEGIES, SchedulerOptions, Strategy, by_strategy, feautrier, pluto
from polysched.scheduling.strategy import Dimension
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_file, from_c_text
from tests.tiers import and_campaign

KERNELS = Path(__file__).parent.parent / "kernels"


@cache
def kernel(name: str) -> Dependences:
    return analyse(from_c_file(KERNELS / f"{name}.c"))


def text(dependences: Dependences, **strategy: object) -> str:
    schedule = by_strategy(dependences, Strategy.from_json(json.dumps(strategy)))
    assert violation(dependences, schedule.tree) is None
    return tree_text(schedule.tree)


COPY = """void copy(int n, double A[n][n], double B[n][n], double s[1]) {
#pragma scop
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        A[j][i] = B[j][i];
#pragma endscop
}"""


@pytest.mark.parametrize("name", and_campaign(
    ["adi", "atax", "cholesky", "fdtd_2d", "gemm", "gemver", "jacobi_1d", "mm3", "trmm"],
    sorted(path.stem for path in KERNELS.glob("*.c"))))
def test_named_schedulers_are_strategies(name: str) -> None:
    """Whole trees: rows, flags, fusion and order; first one kernel of every kind."""
    dependences = kernel(name)
    assert str(by_strategy(dependences, STRATEGIES["pluto"]).tree) == str(pluto(dependences).tree)
    assert str(by_strategy(dependences, STRATEGIES["feautrier"]).tree) == str(feautrier(dependences).tree)
    apart = replace(STRATEGIES["pluto"], fusion="none")
    distributed = pluto(dependences, options=SchedulerOptions(fusion="none"))
    assert str(by_strategy(dependences, apart).tree) == str(distributed.tree)


def test_every_row_of_the_documented_table_is_a_strategy() -> None:
    """The README's table names the strategy that equals each scheduler; the text there is what is followed here."""
    text = (Path(__file__).parents[2] / "polysched" / "scheduling" / "README.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| ([^|]+) \| `(\{.*\})`", text, flags=re.MULTILINE))
    assert {"`pluto`", "`feautrier`", "contiguous (stride-1 loops inward)", "big loops first"} <= set(documented)
    assert Strategy.from_json(documented["`pluto`"]) == STRATEGIES["pluto"]
    assert Strategy.from_json(documented["`feautrier`"]) == STRATEGIES["feautrier"]
    for value in documented.values():
        text_of = by_strategy(kernel("gemm"), Strategy.from_json(value))
        assert violation(text_of.dependences, text_of.tree) is None


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("program", ["mm2", "fdtd_2d", "gemver", "trisolv"])
def test_every_named_strategy_is_legal(name: str, program: str) -> None:
    dependences = kernel(program)
    assert violation(dependences, by_strategy(dependences, STRATEGIES[name]).tree) is None


def test_contiguity_brings_the_unit_stride_inward() -> None:
    copy = analyse(from_c_text(COPY))
    assert text(copy) == "band permutable\n  parallel    S0: i\n  parallel    S0: j\n"
    assert text(copy, dimensions=[{"cost": ["contiguity"]}]) == (
        "band permutable\n  parallel    S0: j\n  parallel    S0: i\n")


def test_big_loops_go_outward() -> None:
    small_first = analyse(from_c_text(COPY.replace("i < n", "i < 8")))
    assert text(small_first, dimensions=[{"cost": ["big-loops-first"]}]) == (
        "band permutable\n  parallel    S0: j\n  parallel    S0: i\n")


def test_weights_and_vector_loops() -> None:
    gemm = kernel("gemm")
    weighted = text(gemm, dimensions=[{"cost": ["weights"]}], weights={"S1": {"i": 5, "j": 3}})
    assert weighted.index("S1: p") < weighted.index("S1: j") < weighted.index("S1: i")
    assert text(gemm, vectorize={"S1": "i"}).rstrip().endswith("S1: i")


def test_parallel_cost_prefers_carrying_nothing() -> None:
    assert text(kernel("gemm"), dimensions=[{"cost": ["parallel"]}]) == text(kernel("gemm"))


TWO_SUMS = """void sums(int n, double A[n][n], double B[n][n]) {
#pragma scop
for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
        A[i][j] = A[i][j - 1] + B[j][i];
#pragma endscop
}"""


def test_parallel_loops_go_outward_or_inward() -> None:
    sums = analyse(from_c_text(TWO_SUMS))
    outward = "band permutable\n  parallel    S0: i\n  sequential  S0: j\n"
    inward = "band permutable\n  sequential  S0: j\n  parallel    S0: i\n"
    assert text(sums) == outward
    assert text(sums, dimensions=[{"cost": ["parallel"]}]) == outward
    assert text(sums, dimensions=[{"cost": ["parallel-inner"]}]) == inward
    gemm = text(kernel("gemm"), dimensions=[{"cost": ["parallel-inner"]}])
    assert gemm.index("sequential  S1: p") < gemm.index("parallel    S1: i")
    assert gemm.count("band permutable") == text(kernel("gemm")).count("band permutable"), "bands stay permutable"


def test_loops_that_can_be_vectors_go_inward() -> None:
    outer_unit = analyse(from_c_text("""void f(int n, double A[n][n], double B[n][n], double x[n]) {
#pragma scop
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        A[j][i] = B[j][i] * x[i];
#pragma endscop
}"""))
    assert text(outer_unit, dimensions=[{"cost": ["vectorization"]}]) == (
        "band permutable\n  parallel    S0: j\n  parallel    S0: i\n")
    mixed = analyse(from_c_text(COPY.replace("B[j][i]", "B[i][j]")))
    assert text(mixed, dimensions=[{"cost": ["vectorization"]}]) == text(mixed), "no loop suits all accesses"


def test_given_rows() -> None:
    copy = analyse(from_c_text(COPY))
    found = text(copy, dimensions=[{"rows": {"S0": {"i": 1, "j": 2, "1": 3}}}])
    assert found.splitlines()[1].endswith("S0: 3 + i + 2j")


def test_forbidden_rows() -> None:
    copy = analyse(from_c_text(COPY))
    found = text(copy, dimensions=[{"forbidden": {"S0": [{"i": 1}, {"j": 1}]}}])
    assert found.splitlines()[1].endswith("S0: i + j")


def test_together_and_apart() -> None:
    gemver = kernel("gemver")
    assert "  S0, S1\n" in text(gemver)
    assert "  S0, S1\n" not in text(gemver, apart=[["S0", "S1"]])
    gemm = kernel("gemm")
    assert text(gemm, together=[["S0", "S1"]]).startswith("band permutable\n  parallel    S0: i, S1: i\n")
    assert text(gemver, fusion="none").count("band") == 4


@pytest.mark.parametrize(("strategy", "message"), [
    ("{", "no JSON"),
    ("[]", "a strategy is a JSON object"),
    ('{"dimension": []}', "a strategy has no field 'dimension'"),
    ('{"dimensions": []}', "at least one dimension"),
    ('{"dimensions": {}}', "dimensions are a list"),
    ('{"dimensions": [{}, {"costs": []}]}', "dimension 1: a dimension has no field 'costs'"),
    ('{"dimensions": [{"cost": ["speed"]}]}', "no cost function 'speed'"),
    ('{"dimensions": [{"cost": "proximity"}]}', "cost is a list of cost functions"),
    ('{"dimensions": [{"rows": {"S1": {"i": 1.5}}}]}', "row for S1 has an integer from -1000000 to 1000000 for 'i'"),
    ('{"dimensions": [{"rows": {"S1": {"i": true}}}]}', "row for S1 has an integer"),
    ('{"dimensions": [{"rows": ["S1"]}]}', "rows gives per statement a row"),
    ('{"dimensions": [{"forbidden": {"S1": {"i": 1}}}]}', "forbidden for S1 is a list of directions"),
    ('{"dimensions": [{"forbidden": {"S1": [{"i": 0}]}}]}', "a coefficient that is not 0"),
    ('{"fusion": "best"}', "no fusion policy 'best'"),
    ('{"fusion": "none", "fusion": "max"}', "has 'fusion' twice"),
    ('{"together": ["S0", "S1"]}', "a group of together is a list of statements"),
    ('{"apart": [["S0"]]}', "two statements or more"),
    ('{"together": [["S0", "S1"]], "apart": [["S1", "S0"]]}', "S1 and S0 are wanted together and apart"),
    ('{"weights": {"S1": {"i": 2}}}', "no dimension has the cost function 'weights'"),
    ('{"dimensions": [{"cost": ["weights"]}]}', "no weights are given"),
    ('{"dimensions": [{"cost": ["weights"]}], "weights": {"S1": {"i": -2}}}', "an integer from 0 to 1000000"),
    ('{"vectorize": {"S1": 3}}', "vectorize names one iterator of S1"),
    ('{"vectorize": {"S9": "i"}}', "names a statement 'S9'"),
    ('{"vectorize": {"S1": "q"}}', "gemm, vectorize: S1 has no iterator 'q'"),
    ('{"dimensions": [{"forbidden": {"S1": [{"i": 1, "1": 2}]}}]}', "S1 has no iterator '1'"),
    ('{"dimensions": [{}, {}, {}, {}, {"rows": {"S1": {"q": 1}}}]}', "4: S1 has no iterator or parameter 'q'"),
    ('{"dimensions": [{"rows": {"S1": {"p": -1}}}]}', "rows given for S1 at dimension 0 are not legal"),
])
def test_refusals(strategy: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        by_strategy(kernel("gemm"), Strategy.from_json(strategy))


RECURRENCE = """void f(int n, double A[n][n], double B[n][n], double x[n]) {
#pragma scop
for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) {
        A[i][j] = B[i - 1][j] + A[i][j - 1];
        B[i][j] = A[i][j] + 1.0;
    }
for (int i = 0; i < n; i++)
    x[i] = 2.0 * x[i];
#pragma endscop
}"""


def test_what_no_schedule_can_have_is_refused_with_the_reason() -> None:
    program = analyse(from_c_text(RECURRENCE))
    with pytest.raises(UsageError, match="S0 and S1 cannot be apart") as refused:
        text(program, apart=[["S0", "S1"]])
    assert refused.value.witness == "S0 -> S1 -> S0"
    with pytest.raises(UsageError, match="no row is left for S2 at dimension 0 beside the forbidden directions"):
        text(program, dimensions=[{"forbidden": {"S2": [{"i": 1}]}}])
    backward = {"i": 1, "j": -1}
    with pytest.raises(UsageError, match="rows given for S0, S1 at dimension 0 are not legal") as refused:
        text(program, dimensions=[{"rows": {"S0": backward, "S1": backward}}])
    assert "must run before" in (refused.value.witness or "")


def test_a_row_that_nothing_asked_for_is_reported() -> None:
    row = Dimension(rows={"S1": {"i": 1}})
    schedule = by_strategy(kernel("gemm"), Strategy(dimensions=(*[Dimension()] * 3, row)))
    assert schedule.report.rungs == (
        "the row given for S1 at dimension 3 was not used: S1 has rows at 0, 1, 2 only",)


def test_rows_of_nests_are_not_fused_against_the_wish() -> None:
    """Two nests of different depth over large matrices share their outermost loop, unless they are kept apart."""
    program = analyse(from_c_text("""void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma scop
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
        for (int k = 0; k < 2; k++)
            B[i][j] += A[i][j];
for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
        C[i][j] = B[i][j] - B[i][j - 1];
#pragma endscop
}"""))
    assert text(program).startswith("band permutable\n  parallel    S0: i, S1: i\n")
    assert text(program, apart=[["S0", "S1"]]).startswith("sequence\n  S0\n")
