"""Time tiles: widths of halos, replicas, exact messages, results, and what has none."""

from collections import Counter

import pytest

from polysched.distribute import Partition, distribute
from polysched.distribute.time_tiles import TimeTile
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters, points_of
from tests.distribute.programs import executors_of, ranks_of, scop_of, sent_by_sets, sent_by_walking, sizes_of
from tests.distribute.test_simulated import compare

STENCILS = ("jacobi", "seidel", "conditional")
WIDE = ("int n, int t, double A[n], double B[n]",
        "for (int k = 0; k < t; k++) { for (int i = 3; i < n - 1; i++) B[i] = A[i - 3] + A[i + 1]; "
        "for (int i = 0; i < n; i++) A[i] = B[i]; }")


def wide():
    return from_c_text(f"void f({WIDE[0]}) {{\n#pragma scop\n{WIDE[1]}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize("steps", [1, 2, 3, 8])
@pytest.mark.parametrize("name", STENCILS)
def test_messages_are_exact(name: str, steps: int) -> None:
    made = distribute(scop_of(name), "i", time_tile=steps)
    expected = sent_by_walking(made.scop, ranks_of(made, 3), executors_of(made, 3))
    assert sent_by_sets(made, 3) == expected


@pytest.mark.parametrize("steps", [2, 5])
@pytest.mark.parametrize("name", STENCILS)
def test_the_parts_of_all_ranks_are_those_of_the_formula(name: str, steps: int) -> None:
    made = distribute(scop_of(name), "i", time_tile=steps)
    sizes, found = sizes_of(made.scop), Counter()
    axis = fix_parameters(made.axis_set, sizes)
    ends = int(axis.dim_min_val(0).to_python()), int(axis.dim_max_val(0).to_python())
    for rank in range(3):
        own = made.partition.values(made.partition.own_names, rank, 3, ends)
        for (tile,) in points_of(fix_parameters(made.step_set, sizes)):
            for statement in made.part.statements:
                found.update((statement.name, point) for point in points_of(fix_parameters(
                    statement.domain, {**sizes, **own, "polysched_step0": tile})))
    wanted = Counter({(n, p): len(ranks) for n, own in executors_of(made, 3).items() for p, ranks in own.items()})
    assert found == wanted
    assert max(found.values()) > 1


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("steps", [2, 3, 7])
@pytest.mark.parametrize("name", STENCILS)
def test_results_on_ranks_whose_halos_cross_several_others(name: str, steps: int, overlap: bool) -> None:
    scop = scop_of(name)
    assert compare(scop, "i", Partition(), 4, {"n": 9, "t": 4}, 3, time_tile=steps, overlap=overlap)


@pytest.mark.parametrize(("n", "t"), [(1, 3), (2, 3), (3, 3), (7, 0), (5, 1)])
def test_results_at_odd_sizes(n: int, t: int) -> None:
    compare(scop_of("jacobi"), "i", Partition(), 3, {"n": n, "t": t}, 1, time_tile=4, overlap=True)


def test_the_halo_is_as_wide_as_values_travel() -> None:
    made = distribute(wide(), "i", time_tile=4)
    assert (made.tile.below, made.tile.above) == (3, 1)
    assert made.tile.halo == (9, 3)
    assert "time tiles of 4 steps, halos of 9 and 3" in made.headline()
    compare(wide(), "i", Partition(), 3, {"n": 17, "t": 5}, 1, time_tile=4)


def test_a_tile_of_one_step_is_none() -> None:
    made = distribute(scop_of("jacobi"), "i")
    assert made.tile == TimeTile()
    assert "time tile" not in made.headline()


@pytest.mark.parametrize(("name", "steps", "partition", "error", "said"), [
    ("jacobi", 0, Partition(), UsageError, "at least one step"),
    ("jacobi", 4, Partition(kind="cyclic", ranks=2), UsageError, "need a block partition"),
    ("product", 4, Partition(), UsageError, "need one loop of steps, and there are 0"),
    ("floyd", 4, Partition(), IllegalScheduleError, "travel further than 16 coordinates in a step")])
def test_what_has_no_time_tiles_is_refused(name, steps, partition, error, said) -> None:
    with pytest.raises(error, match=said):
        distribute(scop_of(name), "i", partition=partition, time_tile=steps)


def from_step(first: str):
    """Jacobi over one dimension from a step on."""
    return from_c_text(f"""void f(int n, int t, int s, double A[n], double B[n]) {{
#pragma scop
for (int k = {first}; k < t; k++) {{ for (int i = 1; i < n - 1; i++) B[i] = A[i - 1] + A[i + 1];
  for (int i = 1; i < n - 1; i++) A[i] = B[i - 1] + B[i + 1]; }}
#pragma endscop
}}""")


@pytest.mark.parametrize("first", ["0", "1", "5", "-3", "-4"])
def test_the_first_tile_has_all_its_steps(first: str) -> None:
    made = distribute(from_step(first), "i", time_tile=8)
    steps = fix_parameters(made.step_set, {"n": 9, "s": 0, "t": int(first) + 12})
    assert points_of(steps) == [(0,), (1,), (2,)]
    compare(from_step(first), "i", Partition(), 3, {"n": 11, "s": 0, "t": int(first) + 7}, 1, time_tile=4)


def test_where_sizes_say_the_first_step_tiles_stay_where_they_are() -> None:
    made = distribute(from_step("s"), "i", time_tile=8)
    assert points_of(fix_parameters(made.step_set, {"n": 9, "s": 1, "t": 5})) == [(0,), (1,)]
    compare(from_step("s"), "i", Partition(), 3, {"n": 11, "s": 3, "t": 9}, 1, time_tile=4)
