"""What blocks a loop: all of the dependences, the least pair of each, one answer per loop of a name."""

import itertools

import pytest

from polysched.dependence import analyse
from polysched.dependence.questions import Wish, blocking, carried_by
from polysched.errors import UsageError
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters, pairs_of

SEIDEL = """void seidel(int t_end, int n, double A[n][n]) {
#pragma scop
  for (int t = 0; t < t_end; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = (A[i-1][j] + A[i][j-1] + A[i][j] + A[i][j+1] + A[i+1][j]) / 5;
#pragma endscop
}"""


def test_carried_are_the_pairs_in_two_iterations() -> None:
    dependences = analyse(from_c_text(SEIDEL))
    assert [str(d) for d in dependences.carried_by("j")] == [str(d) for d in carried_by(dependences, "j")]
    for loop, position in (("t", 0), ("i", 1), ("j", 2)):
        for pair in dependences.carried_by(loop):
            pairs = pairs_of(fix_parameters(pair.relation, {"t_end": 3, "n": 5}))
            assert pairs
            assert all(a[:position] == b[:position] and a[position] < b[position] for a, b in pairs)


def test_every_dependence_is_carried_by_one_loop() -> None:
    dependences = analyse(from_c_text(SEIDEL))
    carried = itertools.chain.from_iterable(dependences.carried_by(loop) for loop in "tij")
    sizes = {"t_end": 3, "n": 5}
    total = sum(len(pairs_of(fix_parameters(d.relation, sizes))) for d in dependences.pairs)
    assert sum(len(pairs_of(fix_parameters(d.relation, sizes))) for d in carried) == total


def test_the_witness_is_the_least_pair() -> None:
    (found,) = analyse(from_c_text(SEIDEL)).blocking("t")
    assert found.of(Wish.TILES)
    for answer in found.answers:
        for block in answer.blocks:
            relation = fix_parameters(block.dependence.relation, block.witness.parameters)
            assert min(pairs_of(relation)) == (block.witness.source, block.witness.sink)


def test_seidel_is_skewed_for_tiles_and_has_wavefronts() -> None:
    dependences = analyse(from_c_text(SEIDEL))
    (i,) = blocking(dependences, "i")
    removed = {(b.wish, r.means) for a in i.answers for b in a.blocks for r in b.removals}
    assert (Wish.TILES, "skewing") in removed
    (j,) = blocking(dependences, "j")
    assert {r.text for b in j.of(Wish.PARALLEL) for r in b.removals} == {
        "the loop around it runs over wavefronts i + j (line 6)"}


def test_two_loops_of_one_name_have_two_answers() -> None:
    scop = from_c_text("""void f(int n, double a[n], double b[n]) {
#pragma scop
  for (int i = 1; i < n; i++) a[i] = a[i-1];
  for (int i = 0; i < n; i++) b[i] = 2 * a[i];
#pragma endscop
}""")
    first, second = blocking(analyse(scop), "i")
    assert [len(found.of(Wish.PARALLEL)) for found in (first, second)] == [1, 0]
    assert [b.distance for b in first.of(Wish.PARALLEL)] == [1]
    with pytest.raises(UsageError, match="no loop k"):
        blocking(analyse(scop), "k")


def test_a_pair_is_at_the_sizes_nearest_to_zero_and_gaps_are_no_iterations() -> None:
    """An extent of `2 * m + n` leaves room for negative sizes; a witness does not show them."""
    (found,) = analyse(from_c_text("""void f(int n, int m, double A[2 * m + n + 4], double s[1]) {
    #pragma scop
      for (int i = 2; i < m; i += 2) {
        s[0] = A[i];
        A[2 * m] = i;
      }
    #pragma endscop
    }""")).blocking("i")
    block = next(block for block in found.of(Wish.PARALLEL) if block.witness.dependence.array == "s")
    assert str(block).startswith("output S0_w0 -> S0_w0 on s, 2 apart in the loop's counter\n")
    assert block.witness.parameters == {"n": 0, "m": 5}
    assert (block.witness.source, block.witness.sink) == ((2,), (4,))


def test_parts_that_hold_no_whole_numbers_give_no_witness() -> None:
    """isl takes least values from them, or ends with `isl_set_lexmin failed`."""
    (found,) = analyse(from_c_text("""void f(int n, int m, char B[2 * m + n + 3]) {
    #pragma scop
      for (int i = 0; i <= m - 2; i++)
        for (int j = 0; j <= i + 1; j++) {
          for (int k = 1; k <= n - 2; k++)
            for (int l = 0; l <= j + 1 && l <= n - 3; l++)
              B[i - l + m + n] -= B[i + m + n + 1];
          B[i + m + n + 2] = B[m + n + 1];
        }
    #pragma endscop
    }""")).blocking("i")
    for block in found.of(Wish.PARALLEL):
        pair = block.dependence.relation
        at = fix_parameters(pair, block.witness.parameters)
        assert (block.witness.source, block.witness.sink) in pairs_of(at)
