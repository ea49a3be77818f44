"""Calls that stand for operators of Python and NumPy which C has no operator for.

The Python front end writes `floordiv(a, b)` and `floormod(a, b)` for `//` and `%` on numbers of any sign.
"""

from __future__ import annotations

from polysched.emit_c.scalar_code.c_text import CText, call
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.scop.body import Call


def python_call(expr: Call, arguments: list[CText], macros: HelperMacros) -> CText | None:
    """The call as C text when its function is one of Python's operators; None for any other function."""
    kind = {"floordiv": "value_floordiv", "floormod": "value_floormod"}.get(expr.function)
    if kind is None or not expr.dtype.is_integer:
        return None
    return call(macros.use(kind), arguments)
