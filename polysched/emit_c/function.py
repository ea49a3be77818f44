"""TiledSchedule -> a whole C function, for a Scop that does not come from a C file.

The text needs no header: what it uses of the C library is declared by prototypes.
"""

from __future__ import annotations

import re
from typing import Literal

from polysched.emit_c.c_source import CSource, EmitOptions, options_for
from polysched.emit_c.emission import printed_region
from polysched.emit_c.loop_ir.names import taken_names
from polysched.emit_c.lowering import lower_with_storage
from polysched.emit_c.scalar_code.c_text import DIRECTIVES
from polysched.emit_c.scalar_code.heap import Memory, declared, fits_stack, prototypes
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.body import OF_PARTS, Call, statement_expressions, walk
from polysched.scop.scop import Array, Scop, Storage
from polysched.scop.signature import FunctionParameter, FunctionSignature, ParameterKind
from polysched.tiling.tiled_schedule import TiledSchedule

_BFLOAT16 = re.compile(r"\b__bf16\b")


@dataclass(frozen=True, eq=False, kw_only=True)
class CFunction:
    """A C function that runs a Scop.

    Parameters
    ----------
    source : the region inside.
    text : the whole translation unit.
    signature : how it is called: the Scop's parameters in order, then its arrays in order, without local ones.
    """

    source: CSource
    text: str
    signature: FunctionSignature


def emit_function(tiled: TiledSchedule, *, name: str, options: EmitOptions | None = None) -> CFunction:
    """Generate `void name(parameters..., arrays...)`, or `int name(...)` when it allocates temporaries.

    The result is 0, or 1 when there was no memory and nothing was computed.  An array is a pointer to its
    elements, rows contiguous; a scalar that the region only reads is passed by value, one that it writes as
    a pointer.

    Raises
    ------
    UsageError : an inner extent of an array is unknown, or the name is no C identifier.
    BudgetExceededError : as for `emit`.
    """
    scop = tiled.schedule.scop
    if not (name.isidentifier() and name.isascii()):
        raise UsageError(f"{name!r} cannot be the name of a C function", hint="letters, digits and _")
    region = printed_region(lower_with_storage(tiled, options=options or options_for(tiled),
                                               on_heap=lambda array: not fits_stack(array)))
    source, heap = region.source, region.memories
    signature = FunctionSignature(name=name, parameters=_parameters(scop), return_type="int" if heap else "void")
    body = source.text.splitlines()
    if heap:
        there = " && ".join(memory.name for memory in heap)
        status = taken_names(scop).fresh("polysched_status")
        body = [*declared(heap),
                f"const int {status} = {there} ? 0 : 1;", f"if (!{status}) {{", *(_placed(line) for line in body), "}",
                *(memory.released for memory in heap), f"return {status};"]
    arguments = ", ".join(p.c_declaration for p in signature.parameters) or "void"
    head = f"{signature.return_type} {name}({arguments})"
    lines = [*_prototypes(scop, heap), f"{head} {{", *(_placed(line) for line in body), "}"]
    text = source.preamble + "".join(f"{line}\n" for line in lines)
    return CFunction(source=source, text=_as_bits(text), signature=signature)


def function_around(region: CSource, *, name: str, return_type: Literal["void", "int"] = "void") -> CFunction:
    """`void name(parameters..., arrays...)` around the C of a region that declares its temporaries itself.

    Parameters
    ----------
    return_type : an `int` is 0 at the end of the region, which may return other numbers.
    """
    signature = FunctionSignature(name=name, parameters=_parameters(region.scop), return_type=return_type)
    return with_region(CFunction(source=region, text="", signature=signature), region)


def with_region(function: CFunction, region: CSource) -> CFunction:
    """The function around another C of the same region, which declares its temporaries itself."""
    ends = [] if function.signature.return_type == "void" else [_placed("return 0;")]
    arguments = ", ".join(p.c_declaration for p in function.signature.parameters) or "void"
    prototypes = _prototypes(region.scop, ())
    lines = [*prototypes, f"{function.signature.return_type} {function.signature.name}({arguments}) {{",
             *(_placed(line) for line in region.text.splitlines()), *ends, "}"]
    text = _as_bits(region.preamble + "".join(f"{line}\n" for line in lines))
    return CFunction(source=region, text=text, signature=function.signature)


def _as_bits(text: str) -> str:
    """The text with bfloat16 as the bits that the region's conversions take it for; gcc knows the type from 13 on."""
    return _BFLOAT16.sub("unsigned short", text)


def _placed(line: str) -> str:
    return line if line.startswith(DIRECTIVES) else INDENT + line


def _parameters(scop: Scop) -> tuple[FunctionParameter, ...]:
    made = [FunctionParameter(name=p.spelling, kind=ParameterKind.INTEGER, dtype=p.dtype,
                              c_declaration=f"{p.dtype.c_name} {p.spelling}") for p in scop.parameters]
    written = {a.array for s in scop.statements for a in s.writes}
    made += [_array_parameter(array, array.name in written) for array in scop.arrays
             if array.storage is not Storage.LOCAL]
    return tuple(made)


def _array_parameter(array: Array, written: bool) -> FunctionParameter:
    const = "" if written else "const "
    if array.is_scalar:
        by_value = not array.c_element.startswith("(*")
        if written and by_value:
            raise UsageError(f"the scalar {array.name} is written but passed by value",
                             hint=f"give it the C element (*{array.name})")
        declaration = _as_bits(f"{array.dtype.c_name} {array.name}" if by_value else (
            f"{const}{array.dtype.c_name} *restrict {array.name}"))
        kind = (ParameterKind.INTEGER if array.dtype.is_integer else ParameterKind.FLOATING) if by_value else (
            ParameterKind.ARRAY)
        return FunctionParameter(name=array.name, kind=kind, dtype=array.dtype, c_declaration=declaration,
                                 constant=not written, restrict=not by_value)
    extents = array.c_extents or (None,) * len(array.extents)
    if any(extent is None for extent in extents[1:]):
        raise UsageError(f"an inner extent of {array.name} is unknown", hint="declare the array's shape")
    qualifier = "restrict " if array.restrict else ""
    dimensions = f"[{qualifier}{extents[0] or ''}]" + "".join(f"[{extent}]" for extent in extents[1:])
    return FunctionParameter(name=array.name, kind=ParameterKind.ARRAY, dtype=array.dtype, c_extents=tuple(extents),
                             c_declaration=_as_bits(f"{const}{array.dtype.c_name} {array.name}{dimensions}"),
                             constant=not written, restrict=array.restrict)


def _prototypes(scop: Scop, heap: tuple[Memory, ...]) -> list[str]:
    lines = []
    calls = {e.function: e for s in scop.statements for top in statement_expressions(s.body) for e in walk(top)
             if isinstance(e, Call)}
    calls |= {e.function: e for s in scop.statements for a in s.accesses for top in a.subscripts for e in walk(top)
              if isinstance(e, Call)}
    for function, call in sorted(calls.items()):
        if function not in ("floordiv", "floormod", OF_PARTS):
            arguments = ", ".join(argument.dtype.c_name for argument in call.arguments) or "void"
            lines.append(f"{call.dtype.c_name} {function}({arguments});")
    return [*lines, *prototypes(heap)]
