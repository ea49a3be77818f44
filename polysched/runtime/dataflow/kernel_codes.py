"""Programs as kernels for nodes: scheduled, tiled and printed here; workers get the text."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit_function
from polysched.errors import UsageError
from polysched.runtime.dataflow.codes import ENTRY, KernelCode, Passed
from polysched.runtime.kernels import call_of_addresses
from polysched.scheduling import pluto
from polysched.scop.construction.promotion import to_numpy
from polysched.scop.scop import Scop
from polysched.scop.signature import ParameterKind
from polysched.tiling import TilingOptions, tile
from polysched.tiling.options import Edges

NAME = "polysched_node"


def kernel_code(scop: Scop, *, tiles: Edges = "auto") -> KernelCode:
    """Schedule, tile and print a program as code for nodes; bit for bit the program's results.

    Raises
    ------
    PolyschedError : a stage refuses it.
    """
    tiled = tile(pluto(analyse(scop)), TilingOptions(sizes=tiles))
    function = emit_function(tiled, name=NAME, options=EmitOptions(openmp=False, comments=False))
    written = {a.array for s in scop.statements for a in s.writes}
    passed = []
    for parameter in function.signature.parameters:
        if parameter.dtype is None:
            raise UsageError("an argument has no type that travels", where=f"kernel {scop.name}",
                             witness=parameter.name)
        array = parameter.kind is ParameterKind.ARRAY
        passed.append(Passed(name=parameter.name, is_array=array or parameter.name in written,
                             dtype=to_numpy(parameter.dtype).str, written=parameter.name in written))
    call = call_of_addresses(function)
    body = f"return {call};" if function.signature.return_type == "int" else f"{call}; return 0;"
    entry = (f'__attribute__((visibility("default"))) int {ENTRY}(void *const *arguments) '
             f"{{ (void)arguments; {body} }}\n")
    return KernelCode(text=function.text + entry, passed=tuple(passed), name=scop.name)
