"""What runs statements that became calls of a described function beside the original, as `replacement_check` does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import islpy as isl

from polysched.emit_c.alternatives.function_calls import with_calls
from polysched.emit_c.alternatives.replacement_check import (
    EXPORTED,
    LARGEST_WHOLE,
    TRIED_SIZES,
    CheckedArray,
    Equality,
    ReplacementCheck,
    Values,
    as_written_function,
    cuts,
    expressions_of,
    limits_values,
    rounds,
    subscripted_below,
    with_plain_arrays,
    with_timing,
)
from polysched.emit_c.function import with_region
from polysched.scop.body import Binary, Load, walk
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Array, Scop
from polysched.tensorize.called import CalledProgram
from polysched.tensorize.description.intrinsic import Isa
from polysched.tensorize.program import part

HEADERS = "#include <stdint.h>\n#include <math.h>\n"
TEXT_ALONE = Isa(name="its own text", machine="library", manual="its C code")


def call_check(program: CalledProgram, *, entry: str, sizes: Mapping[str, int]) -> ReplacementCheck:
    """The check of the statements that become calls, at some sizes.

    Parameters
    ----------
    entry : a name that no other check in the same process has.

    Raises
    ------
    UnsupportedScopError : the statements alone are no function of arrays.
    """
    found = program.match
    scop = with_plain_arrays(found.scop, sizes)
    alone = part(scop, found.statements)
    assert alone is not None
    plain = replace(found, dependences=replace(found.dependences, scop=scop))
    stripped = replace(program, match=plain, before=None, behind=None, shared=())
    alone_c = as_written_function(alone, f"original_{entry}")
    region = with_calls(replace(alone_c.source, text=f"skipped_{entry} = 1;\n"), stripped, ())
    renamed = replace(alone_c, signature=replace(alone_c.signature, name=f"replaced_{entry}"))
    equality = _equality(program, alone)
    return ReplacementCheck(
        statement=" and ".join(found.statements), instruction=found.function.name, entry=entry,
        sizes=", ".join(f"{n} = {v}" for n, v in sizes.items()) or "its own sizes",
        original_text=EXPORTED + alone_c.text,
        replaced_text=f"{EXPORTED}{HEADERS}int skipped_{entry};\n{with_region(renamed, region).text}"
                      f"{with_timing(renamed, region)}",
        arrays=tuple(_checked(a, alone, equality, compared=a.name in found.outputs) for a in alone.arrays),
        parameters=tuple(sizes[p.name] for p in alone.parameters), equality=equality, flags=found.function.isa.flags)


def by_its_text(program: CalledProgram) -> CalledProgram:
    """The calls of the description itself, for machines that do not have the library."""
    found = program.match
    function = replace(found.function, inline=True, isa=TEXT_ALONE)
    return replace(program, match=replace(found, function=function, variant=replace(found.variant, call="")))


def call_sizes(program: CalledProgram, given: Mapping[str, int], *, most_work: int) -> Iterator[dict[str, int]]:
    """Values of the parameters to run the calls with: those given, and some that the program allows."""
    scop = program.match.scop
    free = [p.name for p in scop.parameters if p.name not in given]
    for values in TRIED_SIZES if free else TRIED_SIZES[:1]:
        sizes = {p.name: given[p.name] for p in scop.parameters if p.name in given}
        sizes |= {n: values[i % len(values)] for i, n in enumerate(free)}
        allowed = not fix_parameters(program.match.context, sizes).is_empty()
        if allowed and _stays_inside(program, sizes) and _work(program, sizes) <= most_work:
            yield sizes


def _stays_inside(program: CalledProgram, sizes: Mapping[str, int]) -> bool:
    """Whether the statements access no element beyond a declared extent, `float g[64]` for instance."""
    scop = program.match.scop
    for statement in (scop.statement(name) for name in program.match.statements):
        for access in statement.accesses:
            reached = fix_parameters(access.relation.intersect_domain(statement.domain), sizes).range()
            for position, extent in enumerate(() if reached.is_empty() else scop.array(access.array).extents):
                if extent is None:
                    continue
                most = fix_parameters(isl.Set.from_pw_aff(extent), sizes).dim_max_val(0)
                if reached.dim_max_val(position).ge(most):
                    return False
    return True


def _work(program: CalledProgram, sizes: Mapping[str, int]) -> int:
    """Iterations of the boxes around the statements' domains."""
    total = 0
    for name in program.match.statements:
        domain = fix_parameters(program.match.scop.statement(name).domain, sizes)
        if not domain.is_empty():
            ends = [(domain.dim_min_val(i), domain.dim_max_val(i)) for i in range(domain.dim(isl.dim_type.set))]
            total += math.prod(int(high.get_num_si()) - int(low.get_num_si()) + 1 for low, high in ends)
    return total


def _equality(program: CalledProgram, alone: Scop) -> Equality:
    """What the match promises."""
    if not program.match.assumptions:
        return Equality.BITS
    return Equality.ROUNDED if any(rounds(e) for _, e in expressions_of(alone)) else Equality.NUMBERS


def _checked(array: Array, alone: Scop, equality: Equality, *, compared: bool) -> CheckedArray:
    shape = tuple(map(int, filter(None, array.c_extents)))
    made = CheckedArray(name=array.name, dtype=array.dtype.name, shape=shape, values=Values.ANY, compared=compared)
    below = subscripted_below(array, alone)
    if below is not None:
        return replace(made, values=Values.INDEX, most=below)
    if limits_values(array, alone) or (equality is not Equality.BITS and _divides(array, alone)):
        return replace(made, values=Values.POSITIVE)
    if equality is not Equality.BITS or (array.dtype.is_float and any(cuts(e) for _, e in expressions_of(alone))):
        return replace(made, values=Values.WHOLE, most=LARGEST_WHOLE)
    return made


def _divides(array: Array, alone: Scop) -> bool:
    """Whether floats are divided by its elements."""
    return any(isinstance(e, Binary) and e.op == "/" and array.name in {
        s.access(x.reference).array for x in walk(e.right) if isinstance(x, Load)} for s, e in expressions_of(alone))
