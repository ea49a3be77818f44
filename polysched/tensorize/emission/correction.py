"""C that adds what was taken out of a product with zero points: sums of the operands, and one pass of the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from polysched.scop.body import Expr, IteratorRef, Load, ParameterRef, walk
from polysched.scop.dtypes import UINT8
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission.nest import argument_name, kept_parameters
from polysched.tensorize.emission.packing import element_c, value_c
from polysched.tensorize.emission.team import SHARED, in_team, worth_from
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.software.sizes import same
from polysched.tensorize.software.zero_points import Correction, reduction_loops

STRIP = LIMITS.correction_strip


def correction_arrays(match: Match) -> list[str]:
    """The arrays that the correction reads, in the order of their names."""
    correction = match.assignment.correction
    expressions = correction.expressions if correction is not None else ()
    return sorted({match.fragment.statement.access(x.reference).array for e in expressions for x in walk(e)
                   if isinstance(x, Load)})


def correction_c(match: Match, correction: Correction, name: str, *, parallel: bool) -> str:
    """A function `NAME(result, sums..., arrays...)`; results wrap as the program's do.

    Parameters
    ----------
    parallel : all threads of a team call it.
    """
    fragment, dtype = match.fragment, match.fragment.update.dtype
    kind, target = _kind(match), fragment.statement.access(fragment.target).array
    sums = (f"const {kind} *restrict {x} __attribute__((unused))" for x in sum_names(correction))
    parameters = [f"{C_NAMES[dtype.name]} *restrict {target}", *sums, *_parameters(match)]
    terms = correction_terms(match, correction)
    element = element_c(match, match.result)
    written = _near_last(match, match.result, [n for n in _inner(match) if n not in reduction_loops(fragment)])
    body = f"{element} = ({C_NAMES[dtype.name]})(({kind}){element} + {' + '.join(terms)});"
    apart = not match.overlapping   # else several iterations add to one element
    lines = [f"{SHARED} nowait"] if parallel and len(written) > 1 and apart else []
    lines += _nest(match, written, body, lanes="#pragma omp simd" if apart else "")
    return _function(match, name, parameters, in_team(lines) if parallel else lines)


def _function(match: Match, name: str, parameters: Iterable[str], body: Iterable[str]) -> str:
    lines = [*(f"long {n} = {argument_name(n)};" for n in match.fragment.kept), *body]
    return "\n".join([f"static void {name}({', '.join(parameters)})", "{", *(f"    {x}" for x in lines), "}", ""])


def _parameters(match: Match) -> list[str]:
    """Declarations of the arrays that are summed up, and of the iterators of kept loops."""
    types = {a: C_NAMES[match.fragment.scop.array(a).dtype.name] for a in correction_arrays(match)}
    return [*(f"const {t} *restrict {a} __attribute__((unused))" for a, t in types.items()), *kept_parameters(match)]


def _kind(match: Match) -> str:
    """The type in which sums wrap."""
    return f"uint{match.fragment.update.dtype.bits}_t"


def _added_up(match: Match, correction: Correction, *, parallel: bool) -> list[str]:
    """Lines that fill the sums of all operands."""
    found = []
    for label, value, _ in _summed(correction):
        lines = [*_sums(match, label, value, parallel=parallel)]
        found += in_team(lines) if parallel else lines
    return found


def correction_terms(match: Match, correction: Correction, named: Callable[[str], str] = str) -> list[str]:
    """What is added to an element, over the sums of the operands.

    Parameters
    ----------
    named : the variable for a loop of the program.
    """
    fragment, dtype, kind = match.fragment, match.fragment.update.dtype, _kind(match)
    terms = [f"({kind}){value_c(match, offset, dtype)} * ps_{label}[{_position(match, _kept(match, value), named)}]"
             for label, value, offset in _summed(correction)]
    if correction.left_offset is not None and correction.right_offset is not None:
        count = math.prod(fragment.loop(n).extent for n in reduction_loops(fragment))
        both = [f"({kind}){value_c(match, e, dtype)}" for e in (correction.left_offset, correction.right_offset)]
        terms.append(" * ".join([f"({kind})({count})", *both]))
    return terms


def is_constant(correction: Correction) -> bool:
    """Whether the offsets are numbers."""
    offsets = [e for e in (correction.left_offset, correction.right_offset) if e is not None]
    return not any(isinstance(x, Load | IteratorRef | ParameterRef) for e in offsets for x in walk(e))


def sums_c(match: Match, correction: Correction, name: str, *, parallel: bool) -> str:
    """A function `NAME(sums..., arrays...)` that adds up the operands.

    Parameters
    ----------
    parallel : all threads of a team call it.
    """
    parameters = [*(f"{_kind(match)} *restrict {x}" for x in sum_names(correction)), *_parameters(match)]
    return _function(match, name, parameters, _added_up(match, correction, parallel=parallel))


def sum_names(correction: Correction) -> list[str]:
    """The arrays of the sums, as C names them."""
    return [f"ps_{label}" for label, _, _ in _summed(correction)]


def told_by(match: Match, correction: Correction) -> set[str]:
    """The loops on which the sums depend that an element of the result gets."""
    return {name for _, value, _ in _summed(correction) for name in _kept(match, value)}


def sums_memory(match: Match, correction: Correction, *, parallel: bool) -> dict[str, str]:
    """The declarations of the sums, which are zero, by the names of these."""
    kind, found = _kind(match), {}
    for name, (_, value, _) in zip(sum_names(correction), _summed(correction), strict=True):
        elements = match.fragment.iterations(tuple(_kept(match, value)))
        found[name] = f"{kind} *restrict {name} = ps_zeros({elements} * sizeof({kind}), {int(parallel)});"
    return found


def _summed(correction: Correction) -> Iterator[tuple[str, Expr, Expr]]:
    """The operands whose elements are summed up, by name, with the offsets of the other ones that multiply the sums."""
    if correction.right_offset is not None:
        yield "left", correction.left, correction.right_offset
    if correction.left_offset is not None:
        yield "right", correction.right, correction.left_offset


def worth_adding(match: Match, correction: Correction) -> list[str]:
    """The conditions under which the sums of the operands pay for a team of threads."""
    least = match.target.team_iterations(match.costs.copied_element_cycles)
    counts = (match.fragment.iterations(tuple(_loops_of_sum(match, value))) for _, value, _ in _summed(correction))
    return [worth_from(count, least) for count in counts]


def worth_correcting(match: Match) -> str:
    """The condition under which the pass of the result does."""
    written = tuple(n for n in _inner(match) if n not in reduction_loops(match.fragment))
    least = match.target.team_iterations(match.costs.copied_element_cycles)
    return worth_from(match.fragment.iterations(written), least)


def correction_cycles(match: Match) -> float:
    """Cycles of one core for the sums, each element of an operand once, and for the pass of the result."""
    correction, fragment = match.assignment.correction, match.fragment
    if correction is None:
        return 0.0
    added = sum(math.prod(fragment.loop(n).extent for n in _loops_of_sum(match, value))
                for _, value, _ in _summed(correction))
    written = math.prod(fragment.loop(n).extent for n in _inner(match) if n not in reduction_loops(fragment))
    return match.costs.copied_element_cycles * (added + 2 * written)


def _inner(match: Match) -> list[str]:
    """The loops of one iteration of those that run around."""
    return [loop.name for loop in match.fragment.loops if loop.name not in match.fragment.kept]


def _kept(match: Match, value: Expr) -> list[str]:
    """The loops that tell sums of a value apart."""
    mine = match.fragment.loops_of(value) - reduction_loops(match.fragment)
    return [n for n in _inner(match) if n in mine]


def _loops_of_sum(match: Match, value: Expr) -> list[str]:
    """The loops that a value is summed over or kept apart by, the one along memory innermost."""
    inside = [n for n in _inner(match) if n in reduction_loops(match.fragment)]
    return _near_last(match, value, [*_kept(match, value), *inside])


def _near_last(match: Match, value: Expr, loops: list[str]) -> list[str]:
    """Loops in the order of the steps that an expression's elements lie apart, the smallest step innermost."""
    steps = [known for e in walk(value) if isinstance(e, Load)
             and (known := match.fragment.memory_steps[e.reference]) is not None]

    def step(name: str) -> int:
        return max((abs(int(known.get(name, 0))) for known in steps), default=0) or 1 << 62   # without one: outermost

    return sorted(loops, key=step, reverse=True)


def _sums(match: Match, label: str, value: Expr, *, parallel: bool) -> Iterator[str]:
    """Lines that fill an array with the sums of a value over the reduction, one per iteration of its other loops.

    Elements are read as they lie: where rows of memory hold elements of different sums, `STRIP` sums are added to at a
    time.  Threads have sums of their own: what distinguishes them is outermost.
    """
    kept, loops, kind = _kept(match, value), _loops_of_sum(match, value), _kind(match)
    added = f"({kind}){value_c(match, value, match.fragment.update.dtype)}"
    team = [f"{SHARED} nowait"] if parallel and kept else []
    if loops and loops[-1] in kept:
        yield from _strips(match, label, loops, kept, added, team)
        return
    inner = [n for n in loops if n not in kept]
    yield from team
    yield from _nest(match, [n for n in loops if n in kept], "{")
    yield f"    {kind} ps_sum = 0;"
    yield from _narrow_sum(match, inner, value, kind) if _sums_bytes(match, inner, value) else _nest(
        match, inner, f"ps_sum += {added};", lanes="#pragma omp simd reduction(+:ps_sum)")
    yield f"    ps_{label}[{_position(match, kept)}] += ps_sum;"
    yield "}"


def _sums_bytes(match: Match, inner: list[str], value: Expr) -> bool:
    """Whether a sum goes along neighbouring bytes, of which twice as many fit in a vector of 16-bit sums."""
    if not inner or not isinstance(value, Load) or value.dtype.bits != UINT8.bits or not value.dtype.is_integer:
        return False
    steps = match.fragment.memory_steps[value.reference]
    return steps is not None and same(steps.get(inner[-1], 0), 1)


def _narrow_sum(match: Match, inner: list[str], value: Expr, kind: str) -> Iterator[str]:
    """The loops of a sum of bytes: strips of 256, the sum of which 16 bits hold, are added in these."""
    loop, narrow = match.fragment.loop(inner[-1]), "int16_t" if value.dtype.is_signed else "uint16_t"
    end, strip = loop.lower + loop.extent, 1 << UINT8.bits
    yield from _nest(match, inner[:-1], f"for (long ps_from = {loop.lower}; ps_from < {end}; ps_from += {strip}) {{")
    yield f"    const long ps_end = ps_from + {strip} < {end} ? ps_from + {strip} : {end};"
    yield f"    {narrow} ps_narrow = 0;"
    yield "    #pragma omp simd reduction(+:ps_narrow)"
    yield f"    for (long {loop.name} = ps_from; {loop.name} < ps_end; {loop.name}++)"
    yield f"        ps_narrow += {value_c(match, value, value.dtype)};"
    yield f"    ps_sum += ({kind})(int32_t)ps_narrow;"
    yield "}"


def _strips(match: Match, label: str, loops: list[str], kept: list[str], added: str, team: list[str]) -> Iterator[str]:
    """Sums whose elements lie side by side, a strip of them at a time."""
    last = match.fragment.loop(loops[-1])
    end = last.lower + last.extent
    yield from team
    yield f"for (long ps_strip = {last.lower}; ps_strip < {end}; ps_strip += {STRIP}) {{"
    yield f"    const long ps_end = ps_strip + {STRIP} < {end} ? ps_strip + {STRIP} : {end};"
    yield from _nest(match, loops[:-1], "{")
    yield "#pragma omp simd"
    yield f"for (long {last.name} = ps_strip; {last.name} < ps_end; {last.name}++)"
    yield f"    ps_{label}[{_position(match, kept)}] += {added};"
    yield "} }"


def _position(match: Match, loops: Iterable[str], named: Callable[[str], str] = str) -> str:
    text = "0"
    for name in loops:
        loop = match.fragment.loop(name)
        text = f"({text}) * {loop.extent} + ({named(name)} - {loop.lower})"
    return text


def _nest(match: Match, loops: Iterable[str], body: str, *, lanes: str = "") -> Iterator[str]:
    """Loops around a line of C.

    Parameters
    ----------
    lanes : a pragma for the innermost loop.
    """
    names = list(loops)
    for depth, name in enumerate(names):
        loop = match.fragment.loop(name)
        if lanes and name == names[-1]:
            yield lanes
        yield "    " * depth + f"for (long {name} = {loop.lower}; {name} < {loop.lower + loop.extent}; {name}++)"
    yield "    " * len(names) + body
