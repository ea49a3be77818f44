"""Programs over ranks without MPI: parts by the interpreter, messages by their sets."""

import random

import numpy as np
import pytest

from polysched.distribute import Partition, distribute
from polysched.errors import IllegalScheduleError, UnsupportedScopError
from polysched.fuzz.generator import Shape, generate
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop
from tests.distribute.programs import PROGRAMS, scop_of, sizes_of
from tests.distribute.simulated import Arrays, simulate, with_local_arrays_outside

SHAPE = Shape(statements=4, depth=3)


def filled(scop: Scop, sizes: dict[str, int], seed: int) -> Arrays:
    chooser = np.random.default_rng(seed)
    found = {}
    for array in scop.arrays:
        shape = tuple(e if e is not None else 4 for e in extents_of(array, sizes))
        found[array.name] = np.asarray(chooser.integers(1, 6, shape)).astype(array.dtype.name)
    return found


def compare(scop: Scop, axis: str, partition: Partition, ranks: int, sizes: dict[str, int], seed: int, *,
            time_tile: int = 1, overlap: bool = False) -> int:
    """The number of messages' arrays, where every rank ends with the sequential results."""
    scop = with_local_arrays_outside(scop)
    made = distribute(scop, axis, partition=partition, time_tile=time_tile, overlap=overlap)
    expected = filled(scop, sizes, seed)
    given = {name: values.copy() for name, values in expected.items()}
    execute(scop, sizes, expected, wrap_signed=True)
    for rank, found in enumerate(simulate(made, ranks, sizes, given)):
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=f"{name} on rank {rank}\n{made}")
    return len(made.messages)


@pytest.mark.parametrize("name", PROGRAMS)
def test_known_programs(name: str) -> None:
    scop = scop_of(name)
    for partition in (Partition(), Partition(kind="block-cyclic", ranks=3, block=2)):
        compare(scop, "i", partition, 3, sizes_of(scop), 3)


@pytest.mark.parametrize(("body", "n"), [
    ("s[0] = 7; for (int i = 0; i < n; i++) s[0] += A[i];", 0),
    ("for (int i = 0; i < n; i++) A[i] += 1; for (int k = 0; k < 9; k++) B[k] = k < 3 ? A[k] : 9;", 9),
    ("if (n > 2) for (int i = 0; i < n; i++) A[i] += 1; s[1] = 3;", 1)])
def test_what_touches_nothing_of_the_loop(body: str, n: int) -> None:
    scop = from_c_text(f"void f(int n, int A[9], int B[9], int s[2]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    compare(scop, "i", Partition(), 2, {"n": n}, 1)


@pytest.mark.parametrize("seed", [s for s in range(40) if s != 17])   # whose analysis exceeds its budget
def test_random_programs(seed: int) -> None:
    scop = from_c_text(generate(seed, shape=SHAPE).text())
    chooser = random.Random(seed)
    loops = sorted({name for s in scop.statements for name in s.iterators})
    if not loops:
        pytest.skip("the program has no loop")
    partition = chooser.choice([Partition(), Partition(kind="cyclic", ranks=2)])
    sizes = {p.name: {"n": 4, "m": 5}.get(p.name, 3) for p in scop.parameters}
    try:
        compare(scop, chooser.choice(loops), partition, 2, sizes, seed)
    except (IllegalScheduleError, UnsupportedScopError) as refused:
        pytest.skip(f"refused: {refused.args[0]}")
