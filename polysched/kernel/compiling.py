"""`polysched.compile`: whatever compiles as a function of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from polysched.errors import UsageError
from polysched.kernel.c_function import CFileFunction
from polysched.kernel.c_program import CProgram
from polysched.kernel.decorated import Kernel
from polysched.kernel.scop_function import ScopFunction
from polysched.pipeline.options import PipelineOptions
from polysched.scop.expression import build
from polysched.scop.expression.tensors import Tensor
from polysched.scop.expression.updates import Loop, Update, When
from polysched.scop.scop import Scop

Expression: TypeAlias = Tensor | Update | Loop | When
EXPRESSIONS = (Tensor, Update, Loop, When)


def compile(program: Scop | str | Path | Expression | Sequence[Expression] | Kernel | Callable[..., Any], *,
            function: str | None = None, options: PipelineOptions | None = None) -> (
        ScopFunction | CFileFunction | Kernel):
    """A function on NumPy arrays that runs a program as optimised C.

    Types, shapes and overlaps are checked before anything runs.  What was compiled is kept as kernels are, in
    `kernel.cache_folder()`.

    Parameters
    ----------
    program : a Scop; the path of a C file; a tensor expression, or several; a kernel or a Python function.
    function : of a C file with regions in several functions, the one that is called.
    options : of the pipeline; of a kernel, its own unless given.

    Raises
    ------
    UsageError : it is nothing that compiles, or a C file has several functions and none is named.
    PolyschedError : any stage refuses; of kernels, expressions and Scops when they are first called.

    Example
    -------
    >>> product = polysched.compile(C)        # a tensor expression  # doctest: +SKIP
    >>> result = product(a, b)  # doctest: +SKIP
    """
    if function is not None and not isinstance(program, str | Path):
        raise UsageError("function= names a function of a C file", witness=f"the program is a {type(program).__name__}")
    if isinstance(program, str | Path):
        return CFileFunction(CProgram.of_file(program, options or PipelineOptions()), function)
    if isinstance(program, EXPRESSIONS) or (
            isinstance(program, list | tuple) and program and all(isinstance(p, EXPRESSIONS) for p in program)):
        program = build(program)
    if isinstance(program, Scop):
        if program.source is not None:
            return CFileFunction(CProgram.of_scop(program, options or PipelineOptions()), None)
        return ScopFunction(program, options or PipelineOptions())
    if isinstance(program, Kernel):
        return program if options is None else Kernel(program.function, options=options, fallback=program.fallback)
    if callable(program):
        return Kernel(program, options=options)
    raise UsageError(f"a {type(program).__name__} does not compile",
                     hint="give a Scop, the path of a C file, a tensor expression, or a Python function")
