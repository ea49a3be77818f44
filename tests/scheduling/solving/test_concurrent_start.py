"""Diamond tiling: the rows are those of Pluto's own tests, and the sum of the first rows is a multiple of time."""

from pathlib import Path

import islpy as isl
import pytest

from polysched.dependence import analyse, band_properties, violation
from polysched.errors import UsageError
from polysched.scheduling import Schedule, SchedulerOptions, pluto
from polysched.scop import from_c_file

KERNELS = Path(__file__).parents[2] / "kernels"


def diamond(kernel: str, degrees: int) -> Schedule:
    dependences = analyse(from_c_file(KERNELS / f"{kernel}.c"))
    return pluto(dependences, options=SchedulerOptions(concurrent_start=degrees))


def outer_band(schedule: Schedule) -> isl.ScheduleNode:
    return schedule.tree.get_root().child(0)


@pytest.mark.parametrize(("kernel", "degrees", "rows"), [
    ("jacobi_1d", 1, "{ S0[t, i] -> [2t - i, 2t + i]; S1[t, i] -> [1 + 2t - i, 1 + 2t + i] }"),
    ("jacobi_2d", 1, "{ S0[t, i, j] -> [2t - i, 2t + i, 2t + j];"
                     "  S1[t, i, j] -> [1 + 2t - i, 1 + 2t + i, 1 + 2t + j] }"),
    ("jacobi_2d", 2, "{ S0[t, i, j] -> [2t - i - j, 2t + i, 2t + j];"
                     "  S1[t, i, j] -> [1 + 2t - i - j, 1 + 2t + i, 1 + 2t + j] }"),
    # Pluto's own tests (dfp/fdtd-2d.c) expect the same four rows.
    ("fdtd_2d", 1, "{ S0[t, j] -> [t - j, t + j, t]; S1[t, i, j] -> [t - j, t + j, t + i];"
                   "  S2[t, i, j] -> [t - j, t + j, t + i]; S3[t, i, j] -> [t - j, 1 + t + j, 1 + t + i] }"),
])
def test_rows(kernel: str, degrees: int, rows: str) -> None:
    schedule = diamond(kernel, degrees)
    assert violation(schedule.dependences, schedule.tree) is None
    band = outer_band(schedule)
    assert band_properties(schedule.dependences, band).permutable
    found = band.band_get_partial_schedule_union_map()
    assert found.is_equal(isl.UnionMap(rows).intersect_domain(found.domain())), str(found)
    assert any("concurrent start" in rung for rung in schedule.report.rungs)


@pytest.mark.parametrize("kernel", ["jacobi_1d", "jacobi_2d", "heat_3d", "fdtd_2d"])
@pytest.mark.parametrize("degrees", [1, 2, 3])
def test_the_face_normal_is_inside_the_cone(kernel: str, degrees: int) -> None:
    """The sum of the first rows is a multiple of t for every statement, up to a constant."""
    schedule = diamond(kernel, degrees)
    band = outer_band(schedule)
    values = band.band_get_partial_schedule()
    used = min(degrees, band.band_n_member() - 1) + 1
    total = values.get_union_pw_aff(0)
    for member in range(1, used):
        total = total.add(values.get_union_pw_aff(member))
    pieces = total.get_pw_aff_list()
    for index in range(pieces.n_pw_aff()):
        for _, piece in pieces.get_at(index).get_pieces():
            coefficients = [piece.get_coefficient_val(isl.dim_type.in_, k).to_python()
                            for k in range(piece.dim(isl.dim_type.in_))]
            assert coefficients[0] > 0
            assert not any(coefficients[1:]), str(piece)


@pytest.mark.parametrize("kernel", ["gemm", "lu", "seidel_2d", "floyd_warshall"])
def test_no_diamond_where_a_row_is_parallel_or_no_multiple_of_it_will_do(kernel: str) -> None:
    plain = pluto(analyse(from_c_file(KERNELS / f"{kernel}.c")))
    assert diamond(kernel, 1).tree.plain_is_equal(plain.tree)


def test_the_degree_is_not_negative() -> None:
    with pytest.raises(UsageError, match="concurrent_start must be at least 0"):
        SchedulerOptions(concurrent_start=-1)
