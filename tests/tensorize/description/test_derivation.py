"""The contraction of a text: what is kept exactly, what becomes a limit, a finish or stages."""

import pytest

from polysched.errors import BudgetExceededError, SourceSyntaxError
from polysched.records import whole
from polysched.scop.body import Cast, walk
from polysched.scop.dtypes import INT16
from polysched.tensorize.description.agreement import require_agreement
from polysched.tensorize.description.contraction import Contraction, Kind
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.field_proof import same_function
from polysched.tensorize.description.reading import parse


def contraction(parameters: str, text: str) -> Contraction:
    semantics = parse(f"void u({parameters}) {{ {text} }}")
    found = derive(semantics)
    assert same_function(semantics, found)
    return found


LOOPS = "for (int i = 0; i < 8; i++) "
SUM = "for (int k = 0; k < 4; k++) t += A[i][k] * B[i][k]; "
MATRICES = "const int16_t A[8][4], const int16_t B[8][4]"
VECTORS = "const int16_t A[8], const int16_t B[8]"


def test_a_narrow_local_wraps_where_it_did() -> None:
    found = contraction(f"int32_t C[8], {VECTORS}", LOOPS + "{ int16_t t = 0; t += A[i] * B[i]; C[i] += t; }")
    assert not found.kinds
    assert not found.limits
    assert [e.dtype for e in walk(found.update) if isinstance(e, Cast)] == [INT16]


def test_a_narrow_sum_of_several_is_a_part_that_wraps() -> None:
    found = contraction(f"int32_t C[8], {MATRICES}", LOOPS + "{ int16_t t = 0; " + SUM + "C[i] += t; }")
    (limit,) = found.limits
    assert (limit.addends, limit.low, limit.high, limit.wraps, limit.dimensions) == (4, -32768, 32767, True, ("k",))
    assert found.whole


@pytest.mark.parametrize(("local", "result", "limits"), [
    ("int32_t", "int32_t", 0), ("int64_t", "int32_t", 0), ("uint32_t", "int32_t", 0), ("int64_t", "int64_t", 0),
    ("int32_t", "int64_t", 1), ("uint32_t", "int64_t", 1), ("int16_t", "int16_t", 0), ("int16_t", "int8_t", 0)])
def test_a_local_as_wide_as_the_result_wraps_with_it(local: str, result: str, limits: int) -> None:
    found = contraction(f"{result} C[8], {MATRICES}", LOOPS + f"{{ {local} t = 0; {SUM} C[i] += t; }}")
    assert len(found.limits) == limits
    assert found.whole


def test_a_local_of_few_small_addends_holds_its_sum() -> None:
    found = contraction("int64_t C[8], const int8_t A[8][4], const int8_t B[8][4]",
                        LOOPS + "{ int32_t t = 0; " + SUM + "C[i] += t; }")
    assert not found.limits
    assert found.whole


def test_a_sum_that_saturates_at_its_end() -> None:
    found = contraction(f"int32_t C[8], {MATRICES}", LOOPS + "{ int64_t t = 0; " + SUM + "C[i] = sat_i32(C[i] + t); }")
    assert found.finish == "sat_i32"
    assert found.update.dtype.bits == 64
    wraps = contraction(f"int32_t C[8], {MATRICES}",
                        LOOPS + "{ int32_t t = 0; " + SUM + "C[i] = sat_i32((int64_t)C[i] + t); }")
    assert not wraps.whole   # four products of 16 bits do not fit t
    assert wraps.finish is None


@pytest.mark.parametrize("last", ["C[i] += (int8_t)t;", "C[i] += t > 0 ? t : 0;", "C[i] = (C[i] + t) >> 1;",
                                  "C[i] += t + t;", "C[i] += (uint16_t)t;"])
def test_what_is_no_plain_sum_of_the_local_is_stages(last: str) -> None:
    found = contraction(f"int32_t C[8], {MATRICES}", LOOPS + "{ int32_t t = 0; " + SUM + last + " }")
    assert Kind.STAGES in found.kinds
    assert [len(s.dimensions) for s in found.stages] == [1, 2, 1]
    assert [str(s.results[0].output) for s in found.stages] == ["t[i]", "t[i]", "C[i]"]


def test_a_prefix_sum_is_no_stages() -> None:
    """The local is declared outside and never cleared: one iteration needs the one before it."""
    semantics = parse(f"void u(int32_t C[8], {MATRICES}) {{ int32_t t = 0; {LOOPS} {{ {SUM} C[i] += t; }} }}")
    found = derive(semantics)
    assert not found.whole
    assert not same_function(semantics, found)


def test_an_assignment_adds_nothing() -> None:
    found = contraction("uint8_t O[8], const uint8_t A[8], const uint8_t B[8]",
                        LOOPS + "O[i] = (A[i] + B[i] + 1) >> 1;")
    assert found.kinds == {Kind.OVERWRITES}
    assert not found.accumulates
    assert str(found.output) not in whole(found.update)


def test_a_sum_from_zero_overwrites() -> None:
    found = contraction(f"int32_t C[8], {MATRICES}", LOOPS + "{ int32_t t = 0; " + SUM + "C[i] = t; }")
    assert found.kinds == {Kind.OVERWRITES}
    assert str(found.output) in whole(found.update)


def test_an_operand_read_twice_has_two_inputs() -> None:
    found = contraction("int32_t C[4][4], const int16_t A[4][4]", "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; "
                        "j++) for (int k = 0; k < 4; k++) C[i][j] += A[i][k] * A[j][k];")
    assert [str(e) for e in found.inputs] == ["A[i][k]", "A[j][k]"]
    assert found.kinds == {Kind.READ_TWICE}


def test_results_are_computed_from_the_values_before() -> None:
    found = contraction("int32_t P[8], int32_t Q[8]", LOOPS + "{ int32_t t = P[i]; P[i] = t + Q[i]; Q[i] = t - Q[i]; }")
    assert Kind.SEVERAL_RESULTS in found.kinds
    assert [str(r.output) for r in found.results] == ["P[i]", "Q[i]"]
    assert [sorted(map(str, r.reads)) for r in found.results] == [["P[i]", "Q[i]"]] * 2


def test_tables_and_triangles_are_kinds() -> None:
    table = contraction("uint8_t O[16], const uint8_t T[16], const uint8_t I[16]",
                        "for (int i = 0; i < 16; i++) O[i] = T[I[i] & 15];")
    assert table.tables == ("T",)
    assert table.kinds == {Kind.OVERWRITES, Kind.TABLE}
    triangle = contraction("float C[8], const float A[8][8], const float X[8]",
                           LOOPS + "for (int k = 0; k <= i; k++) C[i] += A[i][k] * X[k];")
    assert triangle.kinds == {Kind.TRIANGLE}


def test_a_dot_product_with_bias_and_relu_is_stages() -> None:
    found = contraction(f"int32_t O[8], {MATRICES}, const int32_t bias[8]",
                        LOOPS + "{ int32_t t = 0; " + SUM + "int32_t s = t + bias[i]; O[i] = s > 0 ? s : 0; }")
    assert Kind.STAGES in found.kinds
    assert [len(s.results) for s in found.stages] == [1, 1, 1]
    assert [v.name for v in found.locals] == ["t"]   # s carries one value and is gone


def test_a_local_without_a_value_is_refused() -> None:
    with pytest.raises(SourceSyntaxError, match="a local is read before it has a value"):
        contraction(f"int32_t C[8], {VECTORS}", LOOPS + "{ int32_t t; C[i] += t * A[i]; }")
    with pytest.raises(SourceSyntaxError, match="a local is read before it has a value"):
        contraction(f"int32_t C[8], {MATRICES}", LOOPS + "{ int32_t t; " + SUM + "C[i] += t; }")


def test_an_element_that_is_only_cleared_makes_two_stages() -> None:
    text = LOOPS + "{ O[i] = 0; for (int k = 0; k < i; k++) O[i] += A[k] == A[i]; }"   # Intel's vpconflictd, as counts
    found = contraction("int32_t O[8], const int32_t A[8]", text)
    assert Kind.STAGES in found.kinds
    whole = contraction("int32_t O[8], const int32_t A[8]", text.replace("k < i;", "k <= i;"))
    assert Kind.STAGES not in whole.kinds


@pytest.mark.parametrize(("first", "end", "stages"), [
    ("0", "n", False), ("i", "n", False), ("i + 1", "n", True), ("i", "8", True)])
def test_sums_up_to_a_size_that_may_be_empty_make_two_stages(first: str, end: str, stages: bool) -> None:
    semantics = parse(f"void u(int n, int32_t O[n], const int32_t A[{end}]) {{ for (int i = 0; i < n; i++) "
                      f"{{ O[i] = 0; for (int k = {first}; k < {end}; k++) O[i] += A[k]; }} }}")
    found = derive(semantics)
    assert (Kind.STAGES in found.kinds) == stages
    assert same_function(semantics, found, sizes={"n": 7})


def test_a_text_that_is_no_form_names_an_element() -> None:
    with pytest.raises(SourceSyntaxError, match="not one loop nest") as refused:
        require_agreement("void f(int32_t O[8], const int32_t A[8]) { " + LOOPS
                          + "{ O[i] = A[i]; O[i] *= O[7 - i]; } }")
    assert "O[" in str(refused.value)


def test_branches_that_double_a_value_have_a_budget() -> None:
    branches = "".join(f"if (A[i] > {n}) t = t + A[i]; else t = t - A[i];" for n in range(40))
    with pytest.raises(BudgetExceededError, match=r"assigned to t has more than 10000 operations"):
        contraction("int32_t O[8], const int32_t A[8]", LOOPS + "{ int32_t t = 0; " + branches + " O[i] = t; }")
