"""The copy of a table."""

from polysched.tensorize.emission.table import table_copy
from tests.tensorize.described import matched, program, unit

HALVES = unit("halves", "uint8_t O[2][4], const uint8_t T[2][16], const uint8_t I[2][4]",
              "for (int h = 0; h < 2; h++) for (int i = 0; i < 4; i++) O[h][i] = T[h][I[h][i] & 15];")


def test_a_shorter_row_of_an_array_is_copied_into_every_lane() -> None:
    scop = program("uint8_t A[19], uint8_t B[19], uint8_t X[5][10]",
                   "for (int i = 0; i < 19; i++) A[i] = X[3][B[i] & 7];")
    narrower = unit("narrower", "uint8_t O[2][4], const uint8_t T[2][16], const uint8_t I[2][4]",
                    "for (int h = 0; h < 2; h++) for (int i = 0; i < 4; i++) O[h][i] = T[h][I[h][i] & 7];")
    found = matched(scop, narrower)
    assert table_copy(found.matches[0], "T") == [
        "for (long e0 = 0; e0 < 2; e0++)", "    for (long e1 = 0; e1 < 16; e1++)",
        "        ps_to[e0 * 16 + e1 * 1] = e1 < 10 ? X[(3) * 10 + (e1) * 1] : 0;"]
    assert matched(scop, HALVES).count == 1   # `B[i] & 7` is computed ahead of it
