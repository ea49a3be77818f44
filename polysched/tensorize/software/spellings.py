"""One spelling for what an expression computes several times in different words.

    (int)c + a * b > 127 ? 127 : (int)c + a * (int)b     ->     (int)c + a * b > 127 ? 127 : (int)c + a * b

A clamp is told by its sum, which stands in it two or three times.
"""

from __future__ import annotations

from polysched.errors import BudgetExceededError
from polysched.scop.body import Binary, Expr, Select, rebuild, walk
from polysched.scop.dtypes import DType
from polysched.tensorize.equality.normal_form import Normaliser

SUMS = frozenset({"+", "-", "*"})


def one_spelling(e: Expr) -> Expr:
    """The expression in which sums and products of integers that have one normal form are the first of them.

    An expression without choices is as it was, and so is one whose normal form takes too many steps.
    """
    if not any(isinstance(x, Select) for x in walk(e)):
        return e
    normaliser, first = Normaliser(), dict[tuple[DType, str], Expr]()

    def change(x: Expr) -> Expr:
        if not isinstance(x, Binary) or x.op not in SUMS or not x.dtype.is_integer:
            return x
        return first.setdefault((x.dtype, normaliser.form(x).text()), x)

    try:
        return rebuild(e, change)
    except BudgetExceededError:
        return e
