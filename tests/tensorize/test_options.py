"""Which instructions the options look at, what they allow, and which sizes count."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.scop import from_c_text
from polysched.scop.assumptions import ASSUMED
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.instruction_choice import InstructionChoice
from polysched.tensorize.options import AUTO, BY_DEFAULT, DEFAULT, TensorizeOptions

DOT = from_c_text("""void dot(int m, int n, int k, int C[m][n], short A[m][k], short B[n][k]) {
#pragma scop
  for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) for (int l = 0; l < k; l++) C[i][j] += A[i][l] * B[j][l];
#pragma endscop
}
""")
SIZES = {"m": 16, "n": 16, "k": 16}


def test_one_name_is_one_instruction() -> None:
    options = TensorizeOptions(intrinsic="vpmaddwd")
    assert options.considered() == [find_intrinsic("vpmaddwd")]
    assert not options.by_model
    assert options.unit() is None
    with pytest.raises(UsageError):
        TensorizeOptions(intrinsic="nothing_of_this_name").considered()


@pytest.mark.parametrize("name", [AUTO, DEFAULT])
def test_the_model_chooses_among_several(name: str) -> None:
    options = TensorizeOptions(intrinsic=name)
    assert options.by_model
    assert options.unit() is None
    assert options.function() is None


def test_by_default_no_bit_changes_and_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polysched.tensorize.options.executes_here", lambda _: pytest.fail("this compiles"))
    found = BY_DEFAULT.considered()
    assert all(i.output.dtype.is_integer for i in found)
    assert all(BY_DEFAULT.executes(i) for i in found)


def test_what_was_chosen_for_a_statement_is_allowed_there_only() -> None:
    chosen = InstructionChoice(name="vpmaddwd", loops=(("i",), ("l",)))
    options = TensorizeOptions(intrinsic="fma_f32_avx2", chosen={"S0": chosen})
    assert options.also_named == {"vpmaddwd"}
    assert [i.name for i in options.considered()] == ["fma_f32_avx2", "vpmaddwd"]
    matches = match(DOT, find_intrinsic("vpmaddwd"), sizes=SIZES).with_mirrors
    assert {m.loops for m in matches if options.allows(m)} == {chosen.loops}
    elsewhere = TensorizeOptions(intrinsic="fma_f32_avx2", chosen={"S7": chosen})
    assert not any(map(elsewhere.allows, matches))
    assert all(map(TensorizeOptions(intrinsic="vpmaddwd").allows, matches))


def test_a_stated_size_comes_before_a_sample_and_that_before_the_typical_one() -> None:
    options = TensorizeOptions(sizes={"m": 5}, samples={"m": 6, "n": 7})
    assert options.sizes_of(DOT) == {"m": 5, "n": 7, "k": ASSUMED.typical_size}


def test_asked_is_who_names_an_instruction_for_all_statements_or_for_one() -> None:
    assert not BY_DEFAULT.is_asked
    assert TensorizeOptions(intrinsic=AUTO).is_asked
    assert TensorizeOptions(intrinsic=DEFAULT, chosen={"S0": InstructionChoice(name="vpmaddwd")}).is_asked
