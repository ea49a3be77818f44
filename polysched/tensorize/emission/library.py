"""A match with a library function as C: loops around one call; its preconditions were checked with the match."""

from __future__ import annotations

from polysched.scop.body import Load
from polysched.tensorize.conformance import fill_in
from polysched.tensorize.emission.nest import content_of, first_element, kept_parameters, moving_terms
from polysched.tensorize.match import Match
from polysched.tensorize.operand_layout import OperandLayout
from polysched.tensorize.semantics import C_NAMES


def library_call(match: Match, name: str) -> str:
    """A C function that runs the fragment's whole statement by calls of the library.

    Its arguments are the arrays: the result's first, then those of the inputs.
    """
    fragment = match.fragment
    words: dict[str, str] = {}
    for group, part in enumerate(match.groups):
        for dimension in match.intrinsic.contraction.dimensions:
            if dimension.name in part.dimensions and isinstance(dimension.extent, str):
                words[dimension.extent] = str(match.fused_extent(group))
    for layout in match.layouts:
        words |= _operand_words(match, layout)
    lines = []
    outer = [loop for loop in match.outer if loop not in fragment.kept]
    for depth, loop in enumerate(outer):
        extent = fragment.loop(loop).extent
        lines.append("    " * (depth + 1) + f"for (long o_{loop} = 0; o_{loop} < {extent}; o_{loop}++)")
    lines.append("    " * (len(outer) + 1) + fill_in(match.intrinsic.template, **words))
    arrays = list(dict.fromkeys(layout.array for layout in match.layouts))
    written = match.layouts[0].array
    parameters = ", ".join([*(f"{'' if a == written else 'const '}{C_NAMES[fragment.scop.array(a).dtype.name]} *{a}"
                              for a in arrays), *kept_parameters(match)])
    return "\n".join([f"void {name}({parameters})", "{", *lines, "}", ""])


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
