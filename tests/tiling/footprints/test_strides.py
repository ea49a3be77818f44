"""How accesses move along one loop."""

import islpy as isl
import pytest

from polysched.scop import from_c_text
from polysched.tiling.footprints.strides import Stride, advance, movements, strides
from tests.scop_builder import build_scop


def path_of(*functions):
    return tuple(isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, f"[N] -> {{ S[i, j] -> [({f})] }}")
                 for f in functions)


SCOP = build_scop([("S", "{ S[i, j] : 0 <= i < N and 0 <= j < N }",
                    ["{ S[i, j] -> A[i, j] }", "{ S[i, j] -> A[j, i] }", "{ S[i, j] -> B[i + j] }",
                     "{ S[i, j] -> B[N - j] }", "{ S[i, j] -> B[2j] }", "{ S[i, j] -> B[i] }"],
                    ["{ S[i, j] -> c[] }"])], "{ S[i, j] -> [i, j] }")
WORDS = {"u": Stride.UNIT, "i": Stride.INVARIANT, "o": Stride.OTHER}


@pytest.mark.parametrize(("functions", "expected"), [
    (("i", "j"), "uouuoii"),
    (("j", "i"), "ouuiiui"),
    (("i", "-j"), "uouuoii"),
    (("i", "i + j"), "uouuoii"),      # skewed: the inner loop still moves j alone
    (("i + j", "j"), "ooiuoui"),      # along an antidiagonal
    (("i", "2j"), "uouuoii"),         # a loop with gaps: its next iteration is two further
])
def test_strides_under_the_last_loop(functions, expected):
    moved = strides(SCOP, SCOP.statement("S"), path_of(*functions))
    assert [moved[a.reference] for a in SCOP.statement("S").accesses] == [WORDS[letter] for letter in expected]


def test_a_loop_with_one_iteration_has_no_successor():
    assert advance(SCOP.statement("S"), path_of("i", "j", "0"), 2) is None
    assert set(strides(SCOP, SCOP.statement("S"), path_of("i", "j", "0")).values()) == {Stride.INVARIANT}


def test_elements_of_a_row_between_iterations():
    scop = build_scop([("S", "{ S[i, j] : 0 <= i < N and 0 <= j < N and (i + j) mod 2 = 0 }",
                        ["{ S[i, j] -> A[i, j] }", "{ S[i, j] -> B[i - 3j] }"], ["{ S[i, j] -> A[j, i + 1] }"])],
                      "{ S[i, j] -> [i, j] }")
    moved = movements(scop, scop.statement("S"), path_of("i", "j"))
    assert [moved[a.reference] for a in scop.statement("S").accesses] == [2, 6, None]


def test_where_an_access_moves_is_not_looked_for_without_end():
    """The checksum of NPB's FT: from one iteration to the next each remainder moves by anything, and isl tries all."""
    scop = from_c_text("""
static int first[3], last[3];
static double u[64][64][64];
void f(double sum[1]) {
#pragma scop
  for (int j = 1; j <= 1024; j++) {
    int q = j % 64 + 1, r = 3 * j % 64 + 1, s = 5 * j % 64 + 1;
    if (q >= first[0] && q <= last[0] && r >= first[1] && r <= last[1] && s >= first[2] && s <= last[2])
      sum[0] += u[s - first[2]][r - first[1]][q - first[0]];
  }
#pragma endscop
}
""")
    (statement,) = (s for s in scop.statements if any(a.array == "u" for a in s.accesses))
    j = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(statement.domain.get_space()), isl.dim_type.set, 0)
    moved = movements(scop, statement, (isl.UnionPwAff.from_pw_aff(j),))
    assert {moved[a.reference] for a in statement.accesses if a.array == "u"} == {None}


@pytest.mark.parametrize("step", [1, 4, 5, 64, 1000])
def test_the_next_iteration_of_a_loop_by_steps(step):
    """A step that is not found would make it a loop of one iteration, along which nothing moves."""
    scop = from_c_text(f"void f(int n, float x[n]) {{\n#pragma scop\nfor (int i = 0; i < n; i += {step}) x[i] = 0;\n"
                       "#pragma endscop\n}\n")
    (statement,) = scop.statements
    path = (isl.UnionPwAff("{ S0[i] -> [(i)] }"),)
    assert movements(scop, statement, path) == {"S0_w0": step}
