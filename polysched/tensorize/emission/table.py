"""The copy of a table: an array of the program from the subscripts on that data choose."""

from __future__ import annotations

import math
from collections.abc import Mapping

from polysched.scop.body import Expr, IteratorRef, Load, ParameterRef, rebuild
from polysched.tensorize.description.emulator import expression_c
from polysched.tensorize.emission.nest import argument_name, content_of
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.software.fragment import leading_subscripts


def table_copy(match: Match, operand: str) -> list[str]:
    """Loops that fill the instruction's table; what the program's array does not have is zero, and never read.

    Dimensions of the table ahead of those that data choose hold the same elements again.
    """
    held, fragment = content_of(match, operand), match.fragment
    assert isinstance(held, Load)
    access, shape = fragment.statement.access(held.reference), match.intrinsic.parsed.operand(operand).shape
    extents, leading = fragment.extents(access.array), leading_subscripts(access)
    assert extents is not None   # `matching.tables` refuses others
    chosen = len(extents) - len(leading)
    at = [f"e{n}" for n in range(len(shape))]
    inner = at[len(shape) - chosen:]
    there = [*(_number(match, s) for s in leading), *inner]
    element = " + ".join(f"({t}) * {math.prod(extents[n + 1:])}" for n, t in enumerate(there))
    inside = " && ".join(f"{e} < {size}" for e, size in zip(inner, extents[len(leading):], strict=True))
    place = " + ".join(f"{e} * {math.prod(int(s) for s in shape[n + 1:])}" for n, e in enumerate(at))
    heads = [f"{'    ' * n}for (long {e} = 0; {e} < {size}; {e}++)" for n, (e, size) in enumerate(
        zip(at, shape, strict=True))]
    return [*heads, f"{'    ' * len(at)}ps_to[{place}] = {inside} ? {access.array}[{element}] : 0;"]


def _number(match: Match, subscript: Expr) -> str:
    """A subscript that no loop of the nest moves, as C."""
    fragment = match.fragment
    values: Mapping[str, str] = {loop.name: argument_name(loop.name) if loop.name in fragment.kept else str(loop.lower)
                                 for loop in fragment.loops} | {n: str(v) for n, v in fragment.sizes.items()}
    return expression_c(rebuild(subscript, lambda e: Load(values[e.name], e.dtype)
                                if isinstance(e, IteratorRef | ParameterRef) else e))
