"""The schedule as written: one band member per loop."""

import islpy as isl

from tests.scop.c_frontend.one_region import one


def test_schedule_as_written_has_one_band_member_per_loop():
    scop = one("for (int i = 0; i < n; i++) {\nA[i] = 0;\nfor (int j = m - 1; j >= 0; j--) B[i][j] = A[i];\n}")
    order = scop.schedule.get_map().intersect_domain(scop.domain)
    assert order.is_equal(isl.UnionMap(
        "[n, m] -> { S0[i] -> [i, 0, 0] : 0 <= i < n; S1[i, j] -> [i, 1, -j] : 0 <= i < n and 0 <= j < m }"))


def test_loop_that_does_nothing_but_can_be_left_has_its_place_in_the_order():
    scop = one("for (int i = 0; i < n; i++) { if (x[i] > 0) break; }\nA[0] = 1;")
    assert scop.schedule.get_domain().is_equal(scop.domain)
