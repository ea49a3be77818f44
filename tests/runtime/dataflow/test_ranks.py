"""Distributed programs as dataflow: results of the sequential program bit for bit, whatever dies."""

import numpy as np
import pytest

from polysched.distribute import Partition, distribute
from polysched.errors import UnsupportedScopError, UsageError
from polysched.runtime.dataflow import run_distributed
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.points import value_at
from polysched.scop.scop import Scop
from tests.distribute.programs import PROGRAMS, scop_of

SIZES = {"n": 11, "t": 4}
AXES = {"reverse": "j"}


def given_to(scop: Scop, sizes) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(1)
    return {a.name: 1 + draw.random([value_at(e, sizes) for e in a.extents]) for a in scop.arrays}


def sizes_of(scop: Scop) -> dict[str, int]:
    return {p.name: SIZES[p.name] for p in scop.parameters}


@pytest.mark.parametrize(("name", "kind", "ranks"), [
    *((name, "block", 2) for name in PROGRAMS if name != "sum"), ("lu", "cyclic", 3), ("floyd", "cyclic", 2),
    ("jacobi", "block", 3), ("jacobi", "block", 1), ("jacobi", "cyclic", 2)])
def test_ranks_give_the_sequential_results(in_process, name: str, kind: str, ranks: int) -> None:
    scop = scop_of(name)
    sizes, arrays = sizes_of(scop), given_to(scop, sizes_of(scop))
    expected = {n: v.copy() for n, v in arrays.items()}
    execute(scop, sizes, expected)
    partition = Partition(kind=kind, ranks=None if kind == "block" else ranks)
    program = in_process(workers=ranks).program(name)
    run = run_distributed(program, distribute(scop, AXES.get(name, "i"), partition=partition), arrays, sizes)
    for array, values in expected.items():
        assert run.result(array, 30).tobytes() == values.tobytes(), array
    assert f"{run.nodes} nodes" in repr(run)


def test_a_rank_dies_before_every_node_in_turn(in_process) -> None:
    scop = scop_of("seidel")
    sizes = {"n": 6, "t": 2}
    arrays = given_to(scop, sizes)
    distributed = distribute(scop, "i")
    expected = {n: v.copy() for n, v in arrays.items()}
    execute(scop, sizes, expected)
    count = run_distributed(in_process().program("p"), distributed, arrays, sizes).nodes
    for number in range(0, count + 2, 3):
        cluster = in_process(crash_before={number})
        run = run_distributed(cluster.program("p"), distributed, arrays, sizes)
        assert run.result("A", 30).tobytes() == expected["A"].tobytes()
        assert len(cluster.losses) == 1


def test_more_ranks_than_rows(in_process) -> None:
    scop = scop_of("jacobi")
    sizes = {"n": 4, "t": 2}
    arrays = given_to(scop, sizes)
    expected = {n: v.copy() for n, v in arrays.items()}
    execute(scop, sizes, expected)
    run = run_distributed(in_process(workers=4).program("p"), distribute(scop, "i"), arrays, sizes)
    assert all(run.result(n, 30).tobytes() == v.tobytes() for n, v in expected.items())


@pytest.mark.parametrize("sizes", [{"n": 2, "t": 3}, {"n": 5, "t": 0}])
def test_nothing_to_do(in_process, sizes) -> None:
    scop = scop_of("jacobi")
    arrays = given_to(scop, sizes)
    run = run_distributed(in_process().program("p"), distribute(scop, "i"), arrays, sizes)
    assert run.result("A", 30).tobytes() == arrays["A"].tobytes()


def test_steps_are_told_of_and_waited_for(in_process) -> None:
    scop, told = scop_of("jacobi"), []
    run = run_distributed(in_process().program("p"), distribute(scop, "i"), given_to(scop, SIZES), SIZES, ahead=False,
                          before_step=told.append)
    assert told == list(range(2 * SIZES["t"]))
    assert bool(run.restart)
    assert not run_distributed(in_process().program("p"), distribute(scop_of("lu"), "i"),
                               given_to(scop_of("lu"), {"n": 5}), {"n": 5}).restart


def wrong(**own):
    scop = scop_of("jacobi")
    arrays = given_to(scop, SIZES)
    given = {"distributed": distribute(scop, "i"), "arrays": arrays, "sizes": SIZES, "ranks": 2}
    return given | own


@pytest.mark.parametrize(("own", "said"), [
    ({"sizes": {"n": 11}}, "a value per size"), ({"arrays": {}}, "the program's arrays"),
    ({"arrays": {"A": np.zeros((3, 3)), "B": np.zeros((11, 11))}}, "another shape"),
    ({"arrays": {"A": np.zeros((11, 11), int), "B": np.zeros((11, 11))}}, "other elements"),
    ({"ranks": 5}, "5 ranks need as many workers"),
    ({"distributed": distribute(scop_of("jacobi"), "i", partition=Partition(kind="cyclic", ranks=3))},
     "made for 3 ranks")])
def test_what_does_not_fit_is_refused(in_process, own, said: str) -> None:
    given = wrong(**own)
    with pytest.raises(UsageError, match=said):
        run_distributed(in_process().program("p"), given["distributed"], given["arrays"], given["sizes"],
                        ranks=given["ranks"])


def test_an_array_of_the_region_that_outlives_a_step_is_refused(in_process) -> None:
    scop = from_c_text("""void f(int n, int t, double A[n]) {
#pragma scop
double B[100];
for (int k = 0; k < t; k++) { for (int i = 1; i < n - 1; i++) B[i] = A[i - 1] + A[i + 1];
  for (int i = 2; i < n - 2; i++) A[i] = B[i - 1] + B[i + 1]; }
#pragma endscop
}""")
    distributed = distribute(scop, "i")
    with pytest.raises(UnsupportedScopError, match="outlives a step"):
        run_distributed(in_process().program("p"), distributed, {"A": np.zeros(11)}, {"n": 11, "t": 2})


def test_an_array_that_the_program_lacks(in_process) -> None:
    given = wrong()
    run = run_distributed(in_process().program("p"), given["distributed"], given["arrays"], given["sizes"])
    with pytest.raises(UsageError, match="no such array"):
        run.result("Z")
    assert [s.rank for s in run.shards["A"]] == [0, 1]
