"""References: subscript matrices, spans of stencils, and what cannot be known."""

from dataclasses import replace

import islpy as isl
import pytest

import polysched
from polysched.scop import from_c_text
from polysched.scop.expression import axis, build, compute, placeholder, sum
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop
from polysched.tiling.footprints.references import in_straight_parts, nest_references, without_rims
from polysched.tiling.footprints.strides import Stride
from tests.scop_builder import build_scop
from tests.tiling import kernels


def path_of(scop: Scop, statement: str, *functions: str) -> tuple[isl.UnionPwAff, ...]:
    iterators = ", ".join(scop.statement(statement).iterators)
    return tuple(isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, f"{{ {statement}[{iterators}] -> [({f})] }}")
                 for f in functions)


@pytest.mark.parametrize(("functions", "expected"), [
    (("i", "j", "k"), {"C": ((1, 0, 0), (0, 1, 0)), "A": ((1, 0, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0))}),
    (("k", "-j", "i"), {"C": ((0, 0, 1), (0, -1, 0)), "A": ((0, 0, 1), (1, 0, 0)), "B": ((1, 0, 0), (0, -1, 0))}),
    (("i", "j", "i + k"), {"C": ((1, 0, 0), (0, 1, 0)), "A": ((1, 0, 0), (-1, 0, 1)), "B": ((-1, 0, 1), (0, 1, 0))}),
])
def test_matrices_follow_the_schedule(functions, expected):
    scop = kernels.product()
    found = nest_references(scop, ("S",), path_of(scop, "S", *functions), {"N": 100})
    assert {r.array: r.coefficients for r in found} == expected
    assert {r.array: r.writes for r in found} == {"C": True, "A": False, "B": False}


def test_a_stencil_is_one_reference_with_spans():
    scop = kernels.gauss_seidel()
    (reference,) = nest_references(scop, ("S",), path_of(scop, "S", "t", "t + i", "t + j"), {"N": 100, "T": 5})
    assert reference.spans == (2, 2)
    assert reference.coefficients == ((-1, 1, 0), (-1, 0, 1))
    assert reference.reach == (100, 100)


def test_a_star_touches_fewer_elements_than_the_box_around_it():
    (reference,) = nest_references(kernels.gauss_seidel(), ("S",), path_of(
        kernels.gauss_seidel(), "S", "t", "t + i", "t + j"), {"N": 100, "T": 5})
    assert reference.most_places == reference.places <= 9
    assert replace(reference, places=5).most_places == 5
    assert replace(reference, places=5, cyclic=frozenset({0})).most_places == 9, "a distance may have two values"


def test_loops_outside_the_nest_have_no_column():
    scop = kernels.product()
    found = nest_references(scop, ("S",), path_of(scop, "S", "i", "j", "k"), {"N": 100}, first=1)
    assert {r.array: r.coefficients for r in found}["A"] == ((0, 0), (0, 1))


@pytest.mark.parametrize(("last", "temporary"), [
    (lambda p, w, q: compute((32, 48), lambda i, j: 2.0 * p[i, j], name="Y"), True),
    (lambda p, w, q: compute((32, 64), lambda i, j: sum(p[i, q] * w[q, j], over=q), name="Y"), False),
])
def test_what_else_a_program_does_with_an_array(last, temporary):
    """Start values and last steps have fewer loops than a sum; a second sum reads whole rows of the first one."""
    k = axis("k")
    x, w = placeholder("X", (32, 64), "float64"), placeholder("W", (64, 48), "float64")
    p = compute((32, 48), lambda i, j: sum(x[i, k] * w[k, j], over=k), name="P")
    scop = build(last(p, placeholder("V", (48, 64), "float64"), axis("q")), name="f")
    statement = next(s for s in scop.statements if s.depth == 3 and any(a.array == "X" for a in s.accesses))
    i, j, k = statement.iterators
    found = {r.array: r for r in nest_references(scop, (statement.name,), path_of(scop, statement.name, i, j, k), {})}
    (sums,) = (r for r in found.values() if r.writes)
    assert (sums.elsewhere, sums.temporary) == (True, temporary)
    assert (found["X"].elsewhere, found["X"].temporary) == (False, False)


def test_an_access_that_is_not_exact_may_touch_everything():
    scop = kernels.copy()
    (statement,) = scop.statements
    vague = tuple(replace(a, exact=False) if a.array == "x" else a for a in statement.accesses)
    scop = replace(scop, statements=(replace(statement, accesses=vague),))
    by_array = {r.array: r for r in nest_references(scop, ("S",), path_of(scop, "S", "i"), {"N": 100})}
    assert by_array["x"].whole
    assert by_array["x"].stride(0) is Stride.OTHER
    assert by_array["y"].stride(0) is Stride.UNIT


def test_a_strided_loop_counts_in_its_own_steps():
    scop = build_scop([("S", "{ S[i] : 0 <= i < N and i mod 2 = 0 }", ["{ S[i] -> x[i] }"], ["{ S[i] -> y[i] }"])],
                      "{ S[i] -> [i] }")
    found = nest_references(scop, ("S",), path_of(scop, "S", "i"), {"N": 100})
    assert {r.coefficients for r in found} == {((1,),)}


def two_buffers() -> Scop:
    return build_scop([("S", "{ S[t, i] : 0 <= t < T and 1 <= i < N - 1 }",
                        ["{ S[t, i] -> a[t mod 2, i - 1] }", "{ S[t, i] -> a[t mod 2, i + 1] }"],
                        ["{ S[t, i] -> a[(t + 1) mod 2, i] }"])], "{ S[t, i] -> [t, i] }")


@pytest.mark.parametrize(("functions", "expected"), [
    (("t", "i"), ((1, 0), (0, 1))), (("t", "t + i"), ((1, 0), (-1, 1))), (("t", "2*t + i"), ((1, 0), (-2, 1))),
])
def test_two_buffers_in_turn_are_one_reference_that_goes_round(functions, expected):
    scop = two_buffers()
    (reference,) = nest_references(scop, ("S",), path_of(scop, "S", *functions), {"N": 100, "T": 50})
    assert not reference.whole
    assert reference.coefficients == expected
    assert reference.cyclic == {0}
    assert reference.reach == (2, 100)
    assert reference.spans[1] == 2
    assert reference.linear[0] == (0, 0)


@pytest.mark.parametrize(("subscript", "coefficient", "reach"), [
    ("i mod 7", 1, 7), ("(3*i) mod 7", 3, 7), ("(5*i) mod 7", -2, 7), ("(i + 3) mod 4", 1, 4),
])
def test_a_subscript_that_goes_round_moves_by_its_shorter_way(subscript, coefficient, reach):
    scop = build_scop([("S", "{ S[i] : 0 <= i < N }", [f"{{ S[i] -> x[{subscript}] }}"], ["{ S[i] -> y[i] }"])],
                      "{ S[i] -> [i] }")
    found = {r.array: r for r in nest_references(scop, ("S",), path_of(scop, "S", "i"), {"N": 100})}
    assert (found["x"].coefficients, found["x"].reach, found["x"].cyclic) == (((coefficient,),), (reach,), {0})
    assert found["x"].stride(0) is Stride.OTHER


def test_a_rounded_subscript_does_not_go_round():
    scop = build_scop([("S", "{ S[i] : 0 <= i < N }", ["{ S[i] -> x[floor(i / 2)] }"], ["{ S[i] -> y[i] }"])],
                      "{ S[i] -> [i] }")
    found = {r.array: r for r in nest_references(scop, ("S",), path_of(scop, "S", "i"), {"N": 100})}
    assert found["x"].whole


def test_steps_that_no_long_holds_are_counted():
    """The loop over `i` starts the one over `j` elsewhere: subscripts move by one step or another, up to 2^64 apart."""
    scop = from_c_text("""void f(unsigned long n, float C[139][139], float *s) {
#pragma scop
  for (unsigned i = 1; i < 9; i++)
    for (unsigned long j = i + 2; j < n; j += 3) *s -= C[i][2 * j - 2];
#pragma endscop
}""")
    assert "C[" in polysched.optimize(scop, polysched.PipelineOptions(scheduler="isl", tile=(16, 9))).text


def test_loops_at_an_angle_move_by_halves_which_count_as_whole_steps():
    """A step of `t - i` alone moves i by half an element: more is counted than is touched, never nothing."""
    scop = kernels.gauss_seidel()
    (reference,) = nest_references(scop, ("S",), path_of(scop, "S", "t - i", "t + i", "j"), {"N": 100, "T": 5})
    assert reference.coefficients == ((-1, 1, 0), (0, 0, 1))


@pytest.mark.parametrize(("shape", "row_dim", "row_elements"), [
    ("8][5", -1, 5), ("8][5][1", -2, 5), ("8][5][1][1", -3, 5), ("8][1", -2, 8), ("1][1", -1, 1), ("8][n", -1, 7),
])
def test_extents_of_one_at_the_end_hold_no_rows(shape: str, row_dim: int, row_elements: int) -> None:
    rank = shape.count("[") + 1
    subscripts = ["i" if shape.split("][")[0] == "8" else "0", *["0"] * (rank - 1)]
    scop = from_c_text(f"void f(int n, float W[{shape}]) {{\n#pragma scop\nfor (int i = 0; i < 8; i++)\n"
                       f"W{''.join(f'[{s}]' for s in subscripts)} = 0;\n#pragma endscop\n}}\n")
    (reference,) = nest_references(scop, (scop.statements[0].name,), path_of(scop, scop.statements[0].name, "i"),
                                   {"n": 7})
    assert (reference.row_dim, reference.row_elements) == (row_dim, row_elements)


@pytest.mark.parametrize(("subscript", "parts"), [
    ("(i + 1) % n", ["{ [i] : 0 <= i < 99 }"]),                                          # not its last iteration
    ("i < 2 ? n - 2 + i : i - 2", ["{ [i] : 2 <= i < 100 }"]),
    ("2 * i < n ? 2 * i : 2 * i - n", ["{ [i] : 0 <= i < 50 }", "{ [i] : 50 <= i < 100 }"]),
    ("n - 1 - i", ["{ [i] : 0 <= i < 100 }"]),
])
def test_parts_of_an_access_that_hardly_count_are_left_out(subscript: str, parts: list[str]) -> None:
    scop = from_c_text(f"void f(int n, float x[n], float y[n]) {{\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
                       f"y[i] = x[{subscript}];\n#pragma endscop\n}}\n")
    (read,) = scop.statements[0].reads
    found = [fix_parameters(part.relation.domain(), {"n": 100}).reset_tuple_id().coalesce()
             for part in without_rims(read, {"n": 100})]
    expected = [isl.Set.read_from_str(isl.DEFAULT_CONTEXT, part) for part in parts]
    assert len(found) == len(expected)
    assert all(any(a.is_equal(b) for b in found) for a in expected), found


@pytest.mark.parametrize(("function", "parts"), [
    ("i", 1), ("floor(i/2)", 1), ("i : 2i < N; S[i] -> [(N - 1 - i)] : 2i >= N", 2)])
def test_a_ring_that_is_folded_flat_has_straight_halves(function: str, parts: int) -> None:
    scop = build_scop([("S", "{ S[i] : 0 <= i < N }", ["{ S[i] -> A[i] }"], [])], "{ S[i] -> [i] }")
    value, _, rest = function.partition(" ")
    path = (isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, f"[N] -> {{ S[i] -> [({value})] {rest} }}"),)
    found = in_straight_parts(scop.statement("S"), path)
    assert len(found) == parts
    whole = found[0].domain
    for part in found[1:]:
        assert whole.is_disjoint(part.domain)
        whole = whole.union(part.domain)
    assert whole.is_equal(scop.statement("S").domain)
    assert all(part.accesses[0].relation.domain().is_equal(part.domain) for part in found if parts > 1)
