"""Compile a C function, run it, and run its Scop in the reference interpreter on the same arguments."""

import ctypes
import re
from pathlib import Path

import numpy as np

from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.scop import Storage
from polysched.scop.signature import ParameterKind
from polysched.target import find_compiler

CTYPES = {"int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
          "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
          "float32": ctypes.c_float, "float64": ctypes.c_double}


def compile_library(text, name, folder):
    """The compiled program as a ctypes library; wrapping and contraction are those of the interpreter."""
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    done = find_compiler().run(["-w", "-O1", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC", "-o", str(library),
                                str(source), "-lm"])
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def make_argument(parameter, values, generator):
    """A value for one parameter: as given, or random elements of the declared shape."""
    given = values.get(parameter.name)
    if parameter.kind is not ParameterKind.ARRAY:
        return np.dtype(parameter.dtype.name).type(3 if given is None else given)
    if isinstance(given, np.ndarray):
        return given.astype(parameter.dtype.name)
    shape = given
    if shape is None:
        numbers = {k: v for k, v in values.items() if isinstance(v, int)}
        shape = tuple(eval(re.sub(r"\bsizeof\b", "", e), {}, numbers) for e in parameter.c_extents)
    if parameter.dtype.is_float:
        return generator.uniform(-4, 4, shape).astype(parameter.dtype.name)
    return generator.integers(0, 5, shape).astype(parameter.dtype.name)


def run_both(text, folder, values, *, seed=0, **options):
    """Run the compiled program and the interpreter; the Scop and both sets of arguments and results."""
    scop = from_c_text(text, **options)
    signature = scop.source.signature
    generator = np.random.default_rng(seed)
    arguments = {p.name: make_argument(p, values, generator) for p in signature.parameters}
    compiled, interpreted = ({n: np.array(a) for n, a in arguments.items()} for _ in range(2))
    function = getattr(compile_library(text, signature.name, Path(folder)), signature.name)
    function.restype = {"double": ctypes.c_double, "int": ctypes.c_int, "void": None}[signature.return_type]
    result = function(*(compiled[p.name].ctypes.data_as(ctypes.c_void_p) if p.kind is ParameterKind.ARRAY
                        else CTYPES[p.dtype.name](arguments[p.name].item()) for p in signature.parameters))
    memory = {}
    for array in scop.arrays:
        words = re.findall(r"\w+", array.c_element)
        base = next((w for w in words if w in interpreted and interpreted[w].ndim), array.name)
        if array.storage is Storage.LOCAL:
            continue
        memory[array.name] = (interpreted[base] if base in interpreted
                              else np.zeros([5] * len(array.extents), array.dtype.name))
        if len(array.extents) > memory[array.name].ndim:
            numbers = {k: int(v) for k, v in arguments.items() if v.ndim == 0}
            sizes = [eval(e.removeprefix("(long)"), {}, numbers) for e in array.c_extents[1:]]
            rows = memory[array.name].size // np.prod(sizes)
            memory[array.name] = memory[array.name][:rows * np.prod(sizes)].reshape(-1, *sizes)
    execute(scop, {p.name: int(arguments[p.spelling]) for p in scop.parameters}, memory, wrap_signed=True)
    return scop, compiled, interpreted, result, memory
