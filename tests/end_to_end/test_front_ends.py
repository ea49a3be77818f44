"""Random programs as C and as Python: both front ends see the same domains and accesses, and the results are those
of the real compiler (in the campaigns of random programs) and of plain Python (here)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from polysched.fuzz.generator import Shape, generate
from polysched.fuzz.program import Layout, Program
from polysched.fuzz.python_text import python_text
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.points import fix_parameters, pairs_of, points_of
from polysched.scop.python_frontend import from_python
from polysched.scop.scop import Scop, Statement

SIZES = ({"n": 5, "m": 6}, {"n": 3, "m": 2})
FLOATS = {"double": np.float64, "float": np.float32}


def float_programs(first: int, count: int) -> list[Program]:
    """The first programs from a number on whose arithmetic means the same in C and Python."""
    found: list[Program] = []
    while len(found) < count:
        program = generate(first, shape=Shape(data_dependent=0.0, depth=3, temporaries=0.0))
        if set(program.types.values()) <= set(FLOATS):
            found.append(program)
        first += 1
    return found


def function_of(program: Program, folder: Path) -> FunctionType:
    path = folder / f"{program.name}.py"
    path.write_text(python_text(program))
    names: dict[str, FunctionType] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names[program.name]


def arrays_of(program: Program, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    layout, random = Layout.of(program), np.random.default_rng(3)
    shapes = {}
    for name in program.types:
        if name in layout.lowest:
            extents = [sum(c * sizes[p] for p, c in e.terms) + e.constant for e in layout.extents(name)]
            shapes[name] = extents or [1]
    return {name: random.random(shape).astype(FLOATS[program.types[name]]) for name, shape in shapes.items()}


def values_of(scop: Scop, sizes: dict[str, int], arrays: dict[str, np.ndarray]) -> dict[str, int]:
    """The parameters of a Scop from Python: sizes, and the shapes of arrays as `A_0`, `A_1`."""
    shapes = {f"{name}_{d}": extent for name, array in arrays.items() for d, extent in enumerate(array.shape)}
    return {p.name: (sizes | shapes)[p.name] for p in scop.parameters}


def facts(statement: Statement, values: dict[str, int]) -> tuple[object, ...]:
    """The instances of a statement and the elements that its accesses reach; the only element of a scalar is []."""
    def element(index: tuple[int, ...], array: str) -> tuple[int, ...]:
        return () if array == "s" else index

    accesses = Counter((a.array, a.kind, frozenset((point, element(index, a.array))
                                                   for point, index in pairs_of(fix_parameters(a.relation, values))))
                       for a in statement.accesses)
    return frozenset(points_of(fix_parameters(statement.domain, values))), frozenset(accesses.items())


@pytest.mark.parametrize("first", [0, 2000])
def test_c_and_python_give_the_same_program(first: int, tmp_path: Path) -> None:
    for program in float_programs(first, 6):
        from_c = from_c_text(program.text())
        for sizes in SIZES:
            arrays = arrays_of(program, sizes)
            function = function_of(program, tmp_path)
            python = from_python(function, *sizes.values(), *arrays.values())
            seen = [[f for s in scop.statements if (f := facts(s, values))[0]] for scop, values in
                    ((from_c, sizes), (python, values_of(python, sizes, arrays)))]
            assert seen[0] == seen[1], python_text(program)


@pytest.mark.parametrize("first", [1000])
def test_the_interpreter_gives_what_python_gives(first: int, tmp_path: Path) -> None:
    for program in float_programs(first, 8):
        for sizes in SIZES:
            arrays = arrays_of(program, sizes)
            function = function_of(program, tmp_path)
            python = from_python(function, *sizes.values(), *arrays.values())
            expected = {name: array.copy() for name, array in arrays.items()}
            with np.errstate(all="ignore"):
                function(*sizes.values(), *expected.values())
            values = values_of(python, sizes, arrays)
            execute(python, values, arrays)
            for name, array in expected.items():
                np.testing.assert_array_equal(arrays[name], array, err_msg=python_text(program))
