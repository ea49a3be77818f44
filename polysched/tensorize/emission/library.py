"""A match with a library function as C: loops around one call; its preconditions were checked with the match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from polysched.scop.body import Expr, Load, walk
from polysched.tensorize.conformance.conformance import fill_in
from polysched.tensorize.description.intrinsic import LoadMode
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission.nest import (
    argument_name,
    content_of,
    first_element,
    kept_parameters,
    moving_terms,
)
from polysched.tensorize.emission.packing import value_c
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.operand_layout import OperandLayout
from polysched.tensorize.matching.scaling import Scale


def library_arrays(match: Match, scale: Scale | None = None) -> tuple[str, ...]:
    """The arrays that the function takes: the result's first, then those of the inputs and of the numbers."""
    statement = match.fragment.statement
    read = [statement.access(x.reference).array for _, e in match.assignment.operands for x in walk(e)
            if isinstance(x, Load)]
    return tuple(dict.fromkeys([match.layouts[0].array, *read, *(scale.arrays if scale is not None else ())]))


def library_call(match: Match, name: str, scale: Scale | None = None) -> str:
    """A C function that runs the fragment's whole statement by calls of the library.

    Its arguments are `library_arrays`.

    Parameters
    ----------
    scale : what the result is multiplied by ahead of the sum.
    """
    fragment = match.fragment
    numbers = {o.name: match.assignment.expression(o.name) for o in match.intrinsic.operands
               if o.mode is LoadMode.VALUE and o.name in match.assignment.held}
    words = _extent_words(match)
    for layout in match.layouts:
        words |= _operand_words(match, layout)
    words |= {n: value_c(match, e, match.intrinsic.output.dtype) for n, e in numbers.items()}
    words |= _scale_words(match, scale)
    outer = [loop for loop in match.outer if loop not in fragment.kept]
    lines = ["    " * (depth + 1) + f"for (long o_{loop} = 0; o_{loop} < {fragment.loop(loop).extent}; o_{loop}++)"
             for depth, loop in enumerate(outer)]
    iterators = _iterators_of(match, numbers.values())
    body = " ".join([*iterators, fill_in(match.intrinsic.template, **words)])
    lines.append("    " * (len(outer) + 1) + (f"{{ {body} }}" if iterators else body))
    arrays = library_arrays(match, scale)
    written = match.layouts[0].array
    parameters = ", ".join([*(f"{'' if a == written else 'const '}{C_NAMES[fragment.scop.array(a).dtype.name]} *{a}"
                              for a in arrays), *kept_parameters(match)])
    return "\n".join([f"void {name}({parameters})", "{", *lines, "}", ""])


def _iterators_of(match: Match, numbers: Iterable[Expr]) -> list[str]:
    """Variables for the iterators of the program that numbers are computed from."""
    fragment = match.fragment
    return [f"long {n} = {argument_name(n) if n in fragment.kept else f'o_{n} + {fragment.loop(n).lower}'};"
            for n in sorted({n for e in numbers for n in fragment.loops_of(e)})]


def _extent_words(match: Match) -> dict[str, str]:
    """What the extents that a call chooses put into the template."""
    return {dimension.extent: str(match.fused_extent(group)) for group, part in enumerate(match.groups)
            for dimension in match.intrinsic.contraction.dimensions
            if dimension.name in part.dimensions and isinstance(dimension.extent, str)}


def _scale_words(match: Match, scale: Scale | None) -> dict[str, str]:
    """What the factor of the old result puts into the template, where the function has one."""
    name = match.intrinsic.contraction.scale
    if not name:
        return {}
    return {name: "1" if scale is None else value_c(
        replace(match, fragment=scale.fragment), scale.value, match.intrinsic.output.dtype)}


def _operand_words(match: Match, layout: OperandLayout) -> dict[str, str]:
    """What one operand puts into the template: pointer, transposition, strides."""
    operand, given = layout.operand, match.library_operand(layout)
    held = content_of(match, operand)
    assert isinstance(held, Load)   # computed operands are no memory, which is a fact against the match
    assert not isinstance(given, str)
    steps = match.fragment.memory_steps[held.reference] or {}
    terms = [layout.array, *(f"o_{loop} * {steps[loop]}" for loop in match.outer
                             if steps.get(loop) and loop not in match.fragment.kept), *moving_terms(match, held)]
    base = first_element(match, held)
    words = {operand: " + ".join([*terms, *([str(base)] if base else [])])}
    if len(layout.strides) == 1:
        return words | {f"step_{operand}": str(given.distance)}
    return words | {f"transpose_{operand}": "CblasTrans" if given.transposed else "CblasNoTrans",
                    f"stride_{operand}": str(given.distance), f"batch_{operand}": str(given.batch),
                    f"rows_{operand}": str(given.rows), f"columns_{operand}": str(given.columns)}
