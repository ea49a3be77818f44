"""A match with a library function as C: loops around one call, its preconditions checked."""

from __future__ import annotations

from polysched.errors import NoIntrinsicMatchError
from polysched.scop.body import Load
from polysched.tensorize.conformance import fill_in
from polysched.tensorize.emission.nest import content_of, first_element
from polysched.tensorize.match import Match
from polysched.tensorize.operand_layout import OperandLayout
from polysched.tensorize.semantics import C_NAMES


def library_call(match: Match, name: str) -> str:
    """A C function that runs the fragment's whole statement by calls of the library.

    Its arguments are the arrays: the result's first, then those of the inputs.

    Raises
    ------
    NoIntrinsicMatchError : an operand does not meet the function's precondition on strides.
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
    for depth, loop in enumerate(match.outer):
        extent = fragment.loop(loop).extent
        lines.append("    " * (depth + 1) + f"for (long o_{loop} = 0; o_{loop} < {extent}; o_{loop}++)")
    lines.append("    " * (len(match.outer) + 1) + fill_in(match.intrinsic.template, **words))
    arrays = list(dict.fromkeys(layout.array for layout in match.layouts))
    written = match.layouts[0].array
    parameters = ", ".join(f"{'' if a == written else 'const '}{C_NAMES[fragment.scop.array(a).dtype.name]} *{a}"
                           for a in arrays)
    return "\n".join([f"void {name}({parameters})", "{", *lines, "}", ""])


def _operand_words(match: Match, layout: OperandLayout) -> dict[str, str]:
    """What one operand puts into the template: pointer, transposition, strides."""
    operand, strides = layout.operand, layout.strides
    held = content_of(match, operand)
    if not isinstance(held, Load) or held.dtype != match.intrinsic.parsed.operand(operand).dtype \
            or any(s is None for s in strides):
        raise _refused(match, layout, "it is not one array with constant strides")
    known = [s for s in strides if s is not None]
    steps = match.fragment.memory_steps[held.reference] or {}
    terms = [layout.array, *(f"o_{loop} * {steps[loop]}" for loop in match.outer if steps.get(loop))]
    base = first_element(match, held)
    words = {operand: " + ".join([*terms, *([str(base)] if base else [])])}
    if len(known) == 1:
        if known[0] <= 0:
            raise _refused(match, layout, f"its step is {known[0]}")
        return words | {f"step_{operand}": str(known[0])}
    rows, columns = _extents(match, operand)
    row, column = known[-2:]
    transposed = column != 1 and row == 1
    distance, length = (column, rows) if transposed else (row, columns)
    if operand == match.intrinsic.output.name and transposed:
        raise _refused(match, layout, "the result would be transposed; its mirror image is the match to call")
    if (row if transposed else column) != 1 or distance < max(1, length):
        raise _refused(match, layout, f"its strides are {row} and {column}")
    words[f"transpose_{operand}"] = "CblasTrans" if transposed else "CblasNoTrans"
    words[f"stride_{operand}"] = str(distance)
    words[f"rows_{operand}"], words[f"columns_{operand}"] = map(str, (columns, rows) if transposed else (rows, columns))
    if len(known) == 3:
        words[f"batch_{operand}"] = str(known[0])
    return words


def _extents(match: Match, operand: str) -> tuple[int, int]:
    element = next(x for x in (match.intrinsic.contraction.output, *match.intrinsic.contraction.inputs)
                   if x.array == operand)
    sizes = []
    for subscript in element.subscripts[-2:]:
        group = next(g for g, part in enumerate(match.groups) if subscript.names & set(part.dimensions))
        sizes.append(match.fused_extent(group))
    return sizes[0], sizes[1]


def _refused(match: Match, layout: OperandLayout, why: str) -> NoIntrinsicMatchError:
    return NoIntrinsicMatchError(
        f"operand {layout.operand} of {match.intrinsic.name} cannot be {layout.array or 'an expression'}: {why}",
        where=match.fragment.statement.name, witness=f"strides {list(layout.strides)} of {layout.array}",
        hint=f"the precondition: {match.intrinsic.operand(layout.operand).stride}; copy the operand into such an array")
