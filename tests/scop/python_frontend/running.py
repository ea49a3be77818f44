"""Runs a Python function twice: as Python, and as the Scop that it becomes, in the reference interpreter."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from polysched.scop.interpreter import execute, extents_of
from polysched.scop.python_frontend import PythonScop, extract, extract_for
from polysched.scop.python_frontend.signature import argument_types, bound_arguments
from polysched.scop.python_frontend.source import read_source


def extracted(function: Callable[..., Any], *args: Any, **kwargs: Any) -> PythonScop:
    """The Scop of a function for these arguments."""
    source = read_source(function)
    if args or kwargs:
        return extract_for(source, bound_arguments(source, args, kwargs))
    return extract(source, argument_types(source, None))


def interpret(python: PythonScop, args: tuple[Any, ...]) -> list[np.ndarray]:
    """Execute the Scop on the arguments in place; the returned arrays."""
    arguments = bound_arguments(python.source, args, {})
    sizes = python.sizes_of(arguments)
    arrays: dict[str, Any] = {a.target: arguments[a.name] for a in python.arguments if not a.is_size}
    for name in python.results:
        if name not in arrays:
            array = python.scop.array(name)
            arrays[name] = np.full(tuple(e or 0 for e in extents_of(array, sizes)), 77, array.dtype.name)
    execute(python.scop, sizes, arrays, wrap_signed=True)
    return [arrays[name] for name in python.results]


def check(function: Callable[..., Any], *args: Any, rtol: float = 1e-5, atol: float = 1e-8) -> PythonScop:
    """Compare the interpreter's result with plain Python's, on the arguments and on what is returned."""
    expected, found = copy.deepcopy(args), copy.deepcopy(args)
    with np.errstate(all="ignore"):
        returned = function(*expected)
    python = extracted(function, *args)
    results = interpret(python, found)
    for position, (a, b) in enumerate(zip(expected, found, strict=True)):
        np.testing.assert_allclose(b, a, rtol=rtol, atol=atol, err_msg=f"argument {position}")
    wanted = [] if returned is None else list(returned) if isinstance(returned, tuple) else [returned]
    assert len(wanted) == len(results)
    for a, b in zip(wanted, results, strict=True):
        if isinstance(a, (np.ndarray, np.generic)):
            assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=rtol, atol=atol)
    return python
