"""Dependences of arrays that a rewrite has not touched are taken from before; everything else is analysed anew."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.dependence import analysis as analysis_file
from polysched.dependence.dependences import Dependences
from polysched.dependence.expansion import expand_temporaries
from polysched.dependence.unchanged_arrays import unchanged_arrays
from polysched.scop import from_c_file, from_c_text
from polysched.scop.scop import Scop
from tests.scop_builder import build_scop

KERNELS = Path(__file__).parents[1] / "kernels"

PROGRAM = """
void f(int n, double A[n][n], double b[n], double c[n]) {
  double s;
#pragma scop
  for (int i = 0; i < n; i++) {
    s = b[i];
    for (int j = 0; j < n; j++)
      s += A[i][j] * c[j];
    c[i] = s;
  }
#pragma endscop
}
"""


def described(dependences: Dependences) -> dict[tuple[str, ...], str]:
    return {(d.kind.value, d.source_reference, d.sink_reference, d.array, str(d.reduction)): str(d.relation)
            for d in dependences.pairs}


def without_known(dependences: Dependences) -> Dependences:
    return analyse(dependences.scop, inputs=dependences.inputs)


def test_all_arrays_of_one_program_are_the_same() -> None:
    first, second = from_c_text(PROGRAM), from_c_text(PROGRAM)
    assert unchanged_arrays(first, second) == {"A", "b", "c", "s"}


def changed_access(scop: Scop) -> Scop:
    other = from_c_text(PROGRAM.replace("* c[j]", "* c[n - 1 - j]"))
    return replace(scop, statements=other.statements, schedule=other.schedule)


def changed_order(scop: Scop) -> Scop:
    other = from_c_text(PROGRAM.replace("int j = 0; j < n; j++", "int j = n - 1; j >= 0; j--"))
    return replace(scop, statements=other.statements, schedule=other.schedule)


def changed_context(scop: Scop) -> Scop:
    return replace(scop, context=scop.context.lower_bound_val(isl.dim_type.param, 0, isl.Val(7)))


@pytest.mark.parametrize(("change", "same"), [
    (changed_access, {"A", "b", "s"}), (changed_order, {"b"}), (changed_context, set())])
def test_what_a_rewrite_has_changed(change: Callable[[Scop], Scop], same: set[str]) -> None:
    scop = from_c_text(PROGRAM)
    assert unchanged_arrays(scop, change(scop)) == same
    known = analyse(changed := change(scop), known=analyse(scop))
    assert described(known) == described(analyse(changed))


def test_a_moved_statement_changes_the_arrays_that_it_uses() -> None:
    statements = [("S", "{ S[i] : 0 <= i < N }", ["{ S[i] -> A[i] }"], ["{ S[i] -> B[i] }"]),
                  ("T", "{ T[i] : 0 <= i < N }", ["{ T[i] -> B[i] }"], ["{ T[i] -> C[i] }"])]
    one = build_scop(statements, "{ S[i] -> [0, i]; T[i] -> [1, i] }")
    other = build_scop(statements, "{ T[i] -> [0, i]; S[i] -> [1, i] }")
    assert "B" not in unchanged_arrays(one, other)
    assert described(analyse(other, known=analyse(one))) == described(analyse(other))


@pytest.mark.parametrize("name", ["gemm", "durbin", "correlation", "nussinov", "seidel_2d", "gramschmidt"])
def test_expanded_programs_have_the_dependences_of_a_new_analysis(name: str) -> None:
    expanded = expand_temporaries(analyse(from_c_file(KERNELS / f"{name}.c"))).dependences
    assert described(expanded) == described(without_known(expanded))


def test_nothing_is_asked_about_arrays_that_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = analysis_file._flow

    def flow(schedule: isl.Schedule, question: analysis_file._Question) -> isl.UnionMap:
        asked.append(str(question.sink))
        return real(schedule, question)

    scop = from_c_text(PROGRAM)
    known = analyse(scop)
    monkeypatch.setattr(analysis_file, "_flow", flow)
    analyse(scop, known=known)
    assert asked == []
    analyse(changed_access(scop), known=known)
    assert len(asked) == 2, "flow of c, and its anti and output dependences"
