"""Programs that stand in no C file: a C function of each candidate, and one in the program's own order to compare with.

The reference is emitted, too, in the order of the program and without tiles, lanes, threads or blocks; what the
order itself computes is held against the interpreter by the tests of `emit_c`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions
from polysched.emit_c.function import CFunction, emit_function, function_around
from polysched.emit_c.scalar_code.heap import fits_stack
from polysched.pipeline.optimized import Optimized
from polysched.scheduling import ALGORITHMS
from polysched.scop.scop import Scop, SourceRegion
from polysched.tiling import TilingOptions, tile

FUNCTION = "polysched_program"
BODY = f"{FUNCTION}_body"


def function_of(made: Optimized, *, name: str) -> CFunction:
    """The whole C function of what the pipeline made of a Scop.

    The region is printed a second time only where a temporary array belongs on the heap.

    Raises
    ------
    UsageError : as for `emit_function`.
    """
    around = function_around(made.source, name=name)
    seen = {p.name for p in around.signature.parameters}
    if made.source.preamble or all(fits_stack(a) for a in made.tiled.schedule.scop.arrays if a.name not in seen):
        return around
    return emit_function(made.tiled, name=name, options=made.options.emit_options())


def file_of(function: CFunction) -> str:
    """A C file with the function under one name and without a result, whatever memory it asks for.

    Where it had no memory, nothing is computed, and the comparison with the reference says so.
    """
    names = ", ".join(p.name for p in function.signature.parameters)
    declared = ", ".join(p.c_declaration for p in function.signature.parameters) or "void"
    return f"{function.text}\nvoid {FUNCTION}({declared}) {{\n    (void){BODY}({names});\n}}\n" if (
        function.signature.return_type != "void") else re.sub(rf"\b{BODY}\b", FUNCTION, function.text)


def in_a_file(scop: Scop, folder: Path) -> Scop:
    """The program as it stands in a new C file, in its own order; only for what calls and compares its code.

    Raises
    ------
    PolyschedError : the program has no C in its own order.
    """
    tiled = tile(ALGORITHMS["original"](analyse(scop)), TilingOptions(
        sizes="off", register=False, parallel=False, simd=False))
    function = emit_function(tiled, name=BODY, options=EmitOptions(vector_bits=0, openmp=False))
    path = folder / f"{FUNCTION}.c"
    text = file_of(function)
    path.write_text(text)
    signature = replace(function.signature, name=FUNCTION, return_type="void")
    return replace(scop, source=SourceRegion(path=str(path), text=text, start=0, end=len(text), function=FUNCTION,
                                             signature=signature))
