"""The C of a distributed region."""

from dataclasses import replace

import pytest

from polysched.distribute import Partition, distribute
from polysched.emit_c.distributed import region
from polysched.emit_c.distributed.region import agreed, distributed_text, part_for_emission, persistent_arrays
from polysched.errors import BudgetExceededError, UnsupportedScopError
from polysched.pipeline import PipelineOptions
from polysched.pipeline.files import optimize
from polysched.scop import from_c_text
from polysched.scop.scop import Storage
from tests.distribute.programs import scop_of


def text_of(name: str, partition: Partition | None = None) -> str:
    made = distribute(scop_of(name), "i", partition=partition)
    part = optimize(part_for_emission(made), PipelineOptions(tensorize=None))
    return distributed_text(made, part.source)


def test_a_step_is_a_part_and_messages_and_the_end_gathers() -> None:
    text = text_of("jacobi")
    assert text.index("polysched_step0") < text.index("polysched_exchange(0)") < text.index("polysched_exchange(1)")
    assert text.count("polysched_exchange(0)") == text.count("polysched_exchange(1)") == 1


def test_elements_of_too_many_cases_go_one_by_one_or_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = text_of("jacobi")
    monkeypatch.setattr(region, "LIMITS", replace(region.LIMITS, row_operations=1))
    plain = text_of("jacobi")
    assert "polysched_last" in usual
    assert "polysched_last" not in plain
    assert "#ifdef POLYSCHED_POISON" in plain
    monkeypatch.setattr(region, "LIMITS", replace(region.LIMITS, poison_operations=1))
    assert "a is not spoilt" in text_of("jacobi").lower()
    monkeypatch.setattr(region, "LIMITS", replace(region.LIMITS, message_operations=1))
    with pytest.raises(BudgetExceededError, match="too many cases") as refusal:
        text_of("jacobi")
    assert "another loop or partition" in str(refusal.value)


def test_nothing_is_sent_between_steps_where_no_value_passes() -> None:
    text = text_of("product")
    assert "polysched_exchange(0)" not in text
    assert "polysched_exchange(1)" in text


def test_what_the_part_assumes_is_tested() -> None:
    scop = from_c_text("void f(int n, int t, double A[n]) {\n#pragma scop\nif (t >= 5) "
                       "for (int i = 0; i < n; i++) A[i] = i;\n"
                       "#pragma endscop\n}\n")
    made = distribute(scop, "i")
    part = optimize(part_for_emission(made), PipelineOptions(tensorize=None))
    text = distributed_text(made, part.source)
    before = text[:text.index("for (long i = ")].splitlines()
    assert any("t >= 5" in line and "polysched_first" in line for line in before)


def test_a_cyclic_region_tests_the_number_of_ranks() -> None:
    assert "if (polysched_ranks != 3)" in text_of("lu", Partition(kind="cyclic", ranks=3))


def test_local_arrays_live_through_all_steps_that_read_them() -> None:
    scop = from_c_text("void f(int n, int t, double A[n]) {\n#pragma scop\n{ double b[n]; "
                       "for (int k = 0; k < t; k++) {\n"
                       "for (int i = 1; i < n - 1; i++) b[i] = A[i - 1] + A[i + 1];\n"
                       "for (int i = 1; i < n - 1; i++) A[i] = b[i] * 0.5; } }\n#pragma endscop\n}\n")
    made = distribute(scop, "i")
    longer = {a.name for a in persistent_arrays(made)}
    assert {a.name for a in part_for_emission(made).arrays if a.storage is Storage.LOCAL}.isdisjoint(longer)
    part = optimize(part_for_emission(made), PipelineOptions(tensorize=None))
    text = distributed_text(made, part.source)
    for name in longer:
        assert f"free({name});" in text


def test_marks_of_register_tiles_without_a_nest_are_no_tiles() -> None:
    scop = from_c_text("void f(int n, float A[n][n], float B[n][n], float C[n][n], char m[n]) {\n#pragma scop\n"
                       "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) for (int k = 0; k < n; k++)\n"
                       "if (m[j] > 3) C[i][j] += A[i][k] * B[j][k];\n#pragma endscop\n}\n")
    made = distribute(scop, "j", partition=Partition(kind="block-cyclic", ranks=3, block=2))
    part = optimize(part_for_emission(made), PipelineOptions(tensorize=None, vector_bits=256))
    assert "polysched_exchange(1)" in distributed_text(made, part.source)


def test_an_array_without_a_word_for_its_elements_is_refused() -> None:
    from dataclasses import replace
    made = distribute(scop_of("jacobi"), "i")
    part = optimize(part_for_emission(made), PipelineOptions(tensorize=None))
    odd = tuple(replace(a, c_element="q[{}]", c_extents=(None, None)) for a in made.scop.arrays)
    scop = replace(made.scop, arrays=odd)
    with pytest.raises(UnsupportedScopError, match="no word for an element"):
        distributed_text(replace(made, dependences=replace(made.dependences, scop=scop)), part.source)


def test_no_step_is_tried_in_which_nothing_runs() -> None:
    scop = from_c_text("void f(int n, double *A) {\nint i; double s = 0;\n#pragma scop\n"
                       "for (i = 0; i < n; i++) s += A[i];\nA[0] = s;\n#pragma endscop\nA[1] = i;\n}\n")
    made = distribute(scop, "i")
    part = optimize(part_for_emission(made), PipelineOptions(tensorize=None))
    text = distributed_text(made, part.source)
    loops = [line for line in text.splitlines() if "for (long polysched_polysched_step0" in line]
    assert loops
    assert not any("2147483" in line for line in loops)
    assert "polysched_agree" not in text
    assert "polysched_agree(polysched_sizes, 1, \"n\")" in agreed(scop, text)
