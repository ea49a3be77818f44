"""Operations and bytes, counted by isl."""

from random import Random

import islpy as isl
import pytest

from polysched.measure.programs import work as work_room
from polysched.measure.programs.point_count import count_points
from polysched.measure.programs.work import count_work
from polysched.scop import from_c_text
from polysched.scop.scop import Scop


def scop_of(parameters: str, body: str) -> Scop:
    return from_c_text(f"void f({parameters})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize(("text", "count"), [
    ("{ S[] }", 1), ("{ S[i] : 0 <= i < 10 }", 10), ("{ S[i, j] : 0 <= i < 10 and 0 <= j < 7 }", 70),
    ("{ S[i, j] : 0 <= i < 10 and 0 <= j <= i }", 55),
    ("{ S[i, j, k] : 0 <= i < 10 and 0 <= j <= i and 0 <= k < 3 }", 165),
    ("{ S[i] : 0 <= i < 10; S[i] : 5 <= i < 20 }", 20), ("{ S[i, j] : 0 <= i, j < 10 and (i + j) mod 2 = 0 }", 50),
    ("{ S[i, j, k] : 0 <= i < 100000 and 0 <= j < 100000 and 0 <= k < 100000 }", 10**15), ("{ S[i] : 1 = 0 }", 0)])
def test_points_are_counted_exactly(text: str, count: int) -> None:
    assert count_points(isl.Set(text)) == count


def test_a_product_has_two_operations_per_point_and_moves_each_array_once() -> None:
    scop = scop_of("int n, double C[n][n], double A[n][n], double B[n][n]",
                   "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)\n"
                   "  C[i][j] += A[i][k] * B[k][j];")
    work = count_work([scop], {"n": 1000})
    assert work is not None
    assert work.flop_count == 2 * 1000**3
    assert work.bytes_moved == (3 + 1) * 1000**2 * 8


def test_integers_are_no_flops_and_the_dearer_branch_counts() -> None:
    scop = scop_of("int n, int *K, float *x",
                   "for (int i = 0; i < n; i++) { K[i] = K[i] * 3 + 1; x[i] = x[i] > 0 ? x[i] * x[i] * 2 : -x[i]; }")
    work = count_work([scop], {"n": 10})
    assert work is not None
    assert work.flop_count == 10 * 3
    assert work.bytes_moved == 10 * 4 * 4


@pytest.mark.parametrize(("value", "count"), [
    ("x[i] + y[i]", 2), ("x[i] - r", 1), ("x[i] * y[i]", 6), ("r * x[i]", 2), ("x[i] / r", 2), ("r / x[i]", 11),
    ("x[i] / y[i] - x[i]", 13), ("-x[i]", 2), ("r * r", 1)])
def test_complex_numbers_have_the_operations_of_their_parts(value: str, count: int) -> None:
    scop = scop_of("int n, double r, double _Complex *x, double _Complex *y, double _Complex *restrict z",
                   f"for (int i = 0; i < n; i++) z[i] = {value};")
    work = count_work([scop], {"n": 10})
    assert work is not None
    assert work.flop_count == 10 * count


def test_what_is_no_affine_function_reaches_the_whole_array() -> None:
    scop = scop_of("int n, double *A, double *s", "for (int i = 0; i < n; i++) s[0] += A[i * i];")
    work = count_work([scop], {"n": 4})
    assert work is not None
    assert work.flop_count == 4
    assert work.bytes_moved == (10 + 1 + 1) * 8


def test_an_array_of_unknown_length_is_not_counted() -> None:
    scop = scop_of("int n, double *A, double *s, int *at", "for (int i = 0; i < n; i++) s[0] += A[at[i]];")
    assert count_work([scop], {"n": 4}) is None


def test_a_triangle_is_counted_as_one() -> None:
    scop = scop_of("int n, double A[n][n]", "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) A[i][j] *= 2;")
    work = count_work([scop], {"n": 100})
    assert work is not None
    assert work.flop_count == 4950


CHOLESKY_LIKE = """
    void f(int n, double A[n][n]) {
    #pragma scop
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                for (int k = 0; k < j; k++)
                    A[i][j] -= A[i][k] * A[k][j];
    #pragma endscop
    }"""


def test_a_simplex_of_any_size_is_counted_without_visiting_its_points() -> None:
    work = count_work([from_c_text(CHOLESKY_LIKE)], {"n": 4000})
    assert work is not None
    assert work.flop_count == 2 * (4000 * 3999 * 3998 // 6)
    small = count_work([from_c_text(CHOLESKY_LIKE)], {"n": 9})
    assert small is not None
    assert small.bytes_moved == 8 * (len(touched(9, reads=True)) + len(touched(9, reads=False)))


def touched(n: int, *, reads: bool) -> set[tuple[int, int]]:
    """The elements that the loops read or write, by running them."""
    triples = [(i, j, k) for i in range(n) for j in range(i) for k in range(j)]
    written = {(i, j) for i, j, _ in triples}
    return written | {e for i, j, k in triples for e in ((i, k), (k, j))} if reads else written


def test_what_takes_too_long_to_count_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_room, "MOST_OPERATIONS", 50)
    assert count_work([from_c_text(CHOLESKY_LIKE)], {"n": 4000}) is None


def random_set(random: Random) -> isl.Set:
    """A union of boxes cut by random half-spaces, planes, strides and existentials."""
    names = ["i", "j", "k", "l"][:random.randint(1, 4)]

    def affine() -> str:
        terms = [f"{random.choice([-3, -2, -1, 0, 1, 1, 2])}{n}" for n in names]
        return " + ".join([*terms, str(random.randint(-6, 9))])
    pieces = []
    for _ in range(random.randint(1, 2)):
        cuts = [f"{random.randint(-4, 0)} <= {n} <= {random.randint(1, 6)}" for n in names]
        cuts += [random.choice([f"{affine()} >= 0", f"{affine()} = 0", f"exists e : 2e <= {affine()} <= 3e",
                                f"({affine()}) mod {random.choice([2, 3, 4])} = {random.randint(0, 1)}"])
                 for _ in range(random.randint(0, 3))]
        pieces.append(f"S[{', '.join(names)}] : " + " and ".join(f"({cut})" for cut in cuts))
    return isl.Set("{ " + "; ".join(pieces) + " }")


@pytest.mark.parametrize("seed", range(40))
def test_sums_of_polynomials_and_enumeration_agree_on_random_sets(seed: int) -> None:
    domain = random_set(Random(seed))
    assert count_points(domain) == domain.count_val().to_python()
