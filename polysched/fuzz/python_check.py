"""A random program as Python: plain Python and the Python front end against the compiled C of the same program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType

import numpy as np

from polysched.fuzz.batch_child import differences
from polysched.fuzz.generator import Shape, generate
from polysched.fuzz.program import Layout, Program
from polysched.fuzz.python_text import python_text
from polysched.scop.interpreter import execute
from polysched.scop.python_frontend import from_python


def python_variant(seed: int, shape: Shape) -> Program | None:
    """The program of this number with doubles for all floats, whose arithmetic means the same in both languages.

    None for a program of integers.  What Python lacks is left out: data-dependent conditions, and temporaries.
    """
    program = generate(seed, shape=replace(shape, data_dependent=0.0, temporaries=0.0))
    if not set(program.types.values()) <= {"double", "float"}:
        return None
    return replace(program, name=f"{program.name}d", types=dict.fromkeys(program.types, "double"))


def python_differences(program: Program, sizes: Mapping[str, int], inputs: Mapping[str, np.ndarray],
                       compiled: Mapping[str, np.ndarray]) -> str:
    """The first element that plain Python, or the interpreter on the extracted function, computes otherwise.

    Parameters
    ----------
    inputs, compiled : the arrays before and after a call of the compiled C, by the names of its parameters.

    Raises
    ------
    PolyschedError : the front end or the interpreter refuses the function.
    """
    layout = Layout.of(program)
    names = {name: name if layout.lowest[name] else f"{name}_out" for name in program.types if name in layout.lowest}
    values = [sizes[p] for p in program.parameters]
    plain, interpreted = ({name: inputs[called].copy() for name, called in names.items()} for _ in range(2))
    with TemporaryDirectory(prefix="polysched-python-") as folder:
        function = _function(program, Path(folder))
        scop = from_python(function, *values, *interpreted.values())
        with np.errstate(all="ignore"):
            function(*values, *plain.values())
    shapes = {f"{name}_{d}": extent for name, array in plain.items() for d, extent in enumerate(array.shape)}
    execute(scop, {p.name: (dict(sizes) | shapes)[p.name] for p in scop.parameters}, interpreted)
    for what, arrays in (("plain Python", plain), ("the interpreter", interpreted)):
        found = differences({name: compiled[called] for name, called in names.items()}, arrays)
        if found:
            return f"in {what} {found}"
    return ""


def _function(program: Program, folder: Path) -> FunctionType:
    """The program as a function whose source can be read, for as long as the folder is there."""
    path = folder / f"{program.name}.py"
    path.write_text(python_text(program))
    names: dict[str, FunctionType] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names[program.name]
