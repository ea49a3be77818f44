"""A program as plain Python and through the front end: equal to its C, or the first element that is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polysched.fuzz.batch import arguments_for, inputs_of
from polysched.fuzz.generator import Shape, generate
from polysched.fuzz.program import Layout, Program, Statement, walk
from polysched.fuzz.python_check import python_differences, python_variant
from polysched.fuzz.python_text import python_text
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute


def of_doubles(first: int) -> Program:
    return next(p for seed in range(first, first + 100) if (p := python_variant(seed, Shape())) is not None)


@pytest.fixture(params=[200, 400])
def program(request: pytest.FixtureRequest) -> Program:
    return of_doubles(request.param)


def test_the_text_computes_what_the_c_program_does(program: Program) -> None:
    sizes = {"n": 3, "m": 2}
    scop = from_c_text(program.text())
    assert scop.source is not None
    assert scop.source.signature is not None
    inputs = inputs_of(arguments_for(scop.source.signature, sizes), 1)
    layout = Layout.of(program)
    called = {name: name if layout.lowest[name] else f"{name}_out" for name in program.types if name in layout.lowest}
    plain = {name: inputs[given].copy() for name, given in called.items()}
    names: dict[str, Any] = {}
    exec(python_text(program), names)
    with np.errstate(all="ignore"):
        names[program.name](*(sizes[p] for p in program.parameters), *plain.values())
    read = {name: inputs[given].copy() if layout.lowest[name] else inputs[given][0] for name, given in called.items()}
    arrays = {name: np.array(values) for name, values in read.items()}
    execute(scop, {p.name: sizes[p.name] for p in scop.parameters}, arrays)
    compiled = {called[name]: arrays[name].reshape(plain[name].shape) for name in called}
    for name, values in plain.items():
        np.testing.assert_array_equal(values, compiled[called[name]])
    assert python_differences(program, sizes, inputs, compiled) == ""
    changed = next(given for given in called.values() if not np.array_equal(inputs[given], compiled[given]))
    compiled[changed] = compiled[changed] + 1
    assert python_differences(program, sizes, inputs, compiled).startswith("in plain Python ")


def test_a_variant_is_of_doubles_alone_and_has_what_python_has(program: Program) -> None:
    assert set(program.types.values()) == {"double"}
    assert program.name.endswith("d")
    assert not any(isinstance(n, Statement) and (n.when or n.declares or n.modulus) for n in walk(program.body))


def test_programs_of_integers_have_no_variant() -> None:
    shape = Shape(data_dependent=0.0, temporaries=0.0)
    for seed in range(40):
        floats = set(generate(seed, shape=shape).types.values()) <= {"double", "float"}
        assert (python_variant(seed, Shape()) is not None) == floats
