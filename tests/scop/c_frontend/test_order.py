"""The schedule as written: one band member per loop."""

import islpy as isl

from polysched.scop import from_c_text


def one(inside, head="int n, int m, double A[n], double B[n][m], float x[n], unsigned u, unsigned char c", before=""):
    return from_c_text(f"{before}\nvoid f({head}) {{\n#pragma scop\n{inside}\n#pragma endscop\n}}\n")


def test_schedule_as_written_has_one_band_member_per_loop():
    scop = one("for (int i = 0; i < n; i++) {\nA[i] = 0;\nfor (int j = m - 1; j >= 0; j--) B[i][j] = A[i];\n}")
    order = scop.schedule.get_map().intersect_domain(scop.domain)
    assert order.is_equal(isl.UnionMap(
        "[n, m] -> { S0[i] -> [i, 0, 0] : 0 <= i < n; S1[i, j] -> [i, 1, -j] : 0 <= i < n and 0 <= j < m }"))


def test_loop_that_does_nothing_but_can_be_left_has_its_place_in_the_order():
    scop = one("for (int i = 0; i < n; i++) { if (x[i] > 0) break; }\nA[0] = 1;")
    assert scop.schedule.get_domain().is_equal(scop.domain)
