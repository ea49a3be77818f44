"""`polysched.compile`: whatever compiles as a function of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

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
    chosen = options or PipelineOptions()
    if isinstance(program, str | Path):
        return CFileFunction(CProgram.of_file(program, chosen), function)
    if function is not None:
        raise UsageError("function= names a function of a C file", witness=f"the program is a {type(program).__name__}")
    if _is_expression(program):
        return ScopFunction(build(program), chosen)
    match program:
        case Scop(source=None):
            return ScopFunction(program, chosen)
        case Scop():
            return CFileFunction(CProgram.of_scop(program, chosen), None)
        case Kernel():
            return program if options is None else Kernel(program.function, options=options, fallback=program.fallback)
    if callable(program):
        return Kernel(program, options=options)
    raise UsageError(f"a {type(program).__name__} does not compile",
                     hint="give a Scop, the path of a C file, a tensor expression, or a Python function")


def _is_expression(program: object) -> TypeGuard[Expression | Sequence[Expression]]:
    """Whether a program is a tensor expression, or several."""
    items = program if isinstance(program, list | tuple) else [program]
    return bool(items) and all(isinstance(item, EXPRESSIONS) for item in items)
