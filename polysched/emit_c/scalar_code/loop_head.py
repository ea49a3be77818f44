"""The head of a `for` statement."""

from __future__ import annotations

from polysched.emit_c.loop_ir.index import Extreme, Linear, shifted
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.scalar_code.c_text import Level
from polysched.emit_c.scalar_code.index_printer import IndexPrinter


def loop_head(loop: For, index: IndexPrinter, *, down: bool = False) -> str:
    """`for (long i = lower; i < upper; i++)`; with `<=` where that spares constants.

    Parameters
    ----------
    down : from the last iteration to the first: `for (long i = upper - 1; i >= lower; i--)`; of loops with step 1 that
        have no further condition.
    """
    name = loop.variable
    kind = "int" if name in index.parameters else "long"
    if down:
        return (f"for ({kind} {name} = {index.bound(shifted(loop.upper, -1))}; "
                f"{name} >= {index.bound(loop.lower).at(Level.ADDITIVE)}; {name}--)")
    step = f"{name}++" if loop.step == 1 else f"{name} += {loop.step}"
    return f"for ({kind} {name} = {index.bound(loop.lower)}; {_condition(loop, index)}; {step})"


def _condition(loop: For, index: IndexPrinter) -> str:
    inclusive = shifted(loop.upper, -1)
    if _constants(inclusive) < _constants(loop.upper):
        bound = f"{loop.variable} <= {index.bound(inclusive).at(Level.ADDITIVE)}"
    else:
        bound = f"{loop.variable} < {index.bound(loop.upper).at(Level.ADDITIVE)}"
    return bound if loop.guard is None else f"{bound} && {index.condition(loop.guard).at(Level.LOGICAL_AND)}"


def _constants(form: Linear) -> int:
    """How many constants are added in a bound: the form with fewer of them reads better."""
    match form.terms:
        case ((Extreme(arms=arms), 1),):
            return sum(_constants(arm) for arm in arms) + bool(form.constant)
        case _:
            return bool(form.constant and form.terms)
