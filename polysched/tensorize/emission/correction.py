"""C that adds what was taken out of a product with zero points: sums of the operands, and one pass of the result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from polysched.scop.body import Expr, Load, walk
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission.nest import argument_name, kept_parameters
from polysched.tensorize.emission.packing import element_c, value_c
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.software.zero_points import Correction, reduction_loops


def correction_arrays(match: Match) -> list[str]:
    """The arrays that the correction reads, in the order of their names."""
    correction = match.assignment.correction
    expressions = correction.expressions if correction is not None else ()
    return sorted({match.fragment.statement.access(x.reference).array for e in expressions for x in walk(e)
                   if isinstance(x, Load)})


def correction_c(match: Match, correction: Correction, name: str, *, parallel: bool) -> str:
    """A function `NAME(result, arrays...)`; sums wrap as the program's do."""
    fragment, dtype = match.fragment, match.fragment.update.dtype
    kind, target = f"uint{dtype.bits}_t", fragment.statement.access(fragment.target).array
    types = {a: C_NAMES[fragment.scop.array(a).dtype.name] for a in correction_arrays(match)}
    parameters = [f"{C_NAMES[dtype.name]} *restrict {target}", *(f"const {t} *restrict {a}" for a, t in types.items()),
                  *kept_parameters(match)]
    lines = [f"long {n} = {argument_name(n)};" for n in fragment.kept]
    terms: list[str] = []
    for label, value, offset in (("left", correction.left, correction.right_offset),
                                 ("right", correction.right, correction.left_offset)):
        if offset is not None:
            lines += _sums(match, label, value, kind, parallel=parallel)
            at = _position(match, _kept(match, value))
            terms.append(f"({kind}){value_c(match, offset, dtype)} * ps_{label}[{at}]")
    if correction.left_offset is not None and correction.right_offset is not None:
        count = math.prod(fragment.loop(n).extent for n in reduction_loops(fragment))
        both = [f"({kind}){value_c(match, e, dtype)}" for e in (correction.left_offset, correction.right_offset)]
        terms.append(" * ".join([f"({kind}){count}u", *both]))
    element = element_c(match, match.result)
    written = [n for n in _inner(match) if n not in reduction_loops(fragment)]
    lines += ["#pragma omp parallel for"] if parallel and written else []
    lines += _nest(match, written, f"{element} = ({C_NAMES[dtype.name]})(({kind}){element} + {' + '.join(terms)});")
    lines += [f"free(ps_{label});" for label, offset in (("left", correction.right_offset),
                                                         ("right", correction.left_offset)) if offset is not None]
    return "\n".join([f"static void {name}({', '.join(parameters)})", "{", *(f"    {x}" for x in lines), "}", ""])


def _inner(match: Match) -> list[str]:
    """The loops of one iteration of those that run around."""
    return [loop.name for loop in match.fragment.loops if loop.name not in match.fragment.kept]


def _kept(match: Match, value: Expr) -> list[str]:
    """The loops that tell sums of a value apart."""
    mine = match.fragment.loops_of(value) - reduction_loops(match.fragment)
    return [n for n in _inner(match) if n in mine]


def _sums(match: Match, label: str, value: Expr, kind: str, *, parallel: bool) -> Iterator[str]:
    """An array with the sum of a value over the reduction, per iteration of the other loops that it knows."""
    kept = _kept(match, value)
    inside = [n for n in _inner(match) if n in reduction_loops(match.fragment)]
    elements = math.prod(match.fragment.loop(n).extent for n in kept)
    yield f"{kind} *ps_{label} = ps_zeros({elements} * sizeof({kind}), {int(parallel)});"
    if parallel and kept:
        yield "#pragma omp parallel for"
    add = f"ps_{label}[{_position(match, kept)}] += ({kind}){value_c(match, value, match.fragment.update.dtype)};"
    yield from _nest(match, [*kept, *inside], add)


def _position(match: Match, loops: Iterable[str]) -> str:
    text = "0"
    for name in loops:
        loop = match.fragment.loop(name)
        text = f"({text}) * {loop.extent} + ({name} - {loop.lower})"
    return text


def _nest(match: Match, loops: Iterable[str], body: str) -> Iterator[str]:
    depth = 0
    for depth, name in enumerate(loops, 1):
        loop = match.fragment.loop(name)
        yield "    " * (depth - 1) + f"for (long {name} = {loop.lower}; {name} < {loop.lower + loop.extent}; {name}++)"
    yield "    " * depth + body
