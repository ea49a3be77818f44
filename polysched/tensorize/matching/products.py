"""Which expressions multiply and add up to the program's update: all combinations evaluated at once, then compared.

Over the rationals a body of sums and products is a polynomial.  Two polynomials that agree at a random point of a prime
field are the same but for a chance of degree / prime (Schwartz 1980, Zippel 1979), so one array of values, an axis per
input, leaves few combinations for the exact comparison of normal forms.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from polysched.errors import BudgetExceededError
from polysched.scop.body import Expr, Literal, Load
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.equality.normal_form import Form
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.proofs.ideal import ideal_form, ideal_text

PRIME = (1 << 31) - 1      # products of two residues are 64-bit numbers
MOST_COMBINATIONS = LIMITS.most_combinations


def products(intrinsic: Intrinsic, update: Expr, target: str,
             pool: Sequence[Sequence[Expr]]) -> Iterator[tuple[Expr, ...]]:
    """Per input one expression, so that the instruction's update is the program's over the rationals.

    Parameters
    ----------
    pool : per input the expressions to be tried.

    Raises
    ------
    BudgetExceededError : there are too many combinations.
    """
    contraction = intrinsic.contraction
    goal, theirs, wanted = ideal_form(update, {}), ideal_form(contraction.update, {}), ideal_text(update, {})
    if goal is None or theirs is None:
        return
    count = math.prod(map(len, pool))
    if count > MOST_COMBINATIONS:
        raise BudgetExceededError(
            f"{intrinsic.name} has {len(pool)} inputs, and there are {count} ways to put expressions of the update "
            f"into them, more than {MOST_COMBINATIONS}", hint="compute parts of the update in statements of their own")
    valued = [[(e, form) for e in choices if (form := ideal_form(e, {})) is not None] for choices in pool]
    axes = {}
    for at, (element, choices) in enumerate(zip(contraction.inputs, valued, strict=True)):
        numbers = np.array([_value(form) for _, form in choices], dtype=np.int64)
        axes[str(element)] = numbers.reshape([-1 if i == at else 1 for i in range(len(valued))])
    axes[str(contraction.output)] = np.array(_residue(target), dtype=np.int64)
    grid = np.broadcast_to(_polynomial(theirs, axes), [len(choices) for choices in valued])
    for place in np.argwhere(grid == _value(goal)):
        chosen = tuple(choices[i][0] for choices, i in zip(valued, place, strict=True))
        given: dict[str, Expr] = {str(e): c for e, c in zip(contraction.inputs, chosen, strict=True)}
        given[str(contraction.output)] = Load(target, contraction.output_dtype)
        if not all(isinstance(c, Literal) for c in chosen) and ideal_text(contraction.update, given) == wanted:
            yield chosen


def _polynomial(form: Form, values: dict[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    total = np.array(0, dtype=np.int64)
    for monomial, coefficient in form.terms:
        term = np.array(coefficient.numerator * pow(coefficient.denominator, -1, PRIME) % PRIME, dtype=np.int64)
        for atom in monomial:
            term = term * values.get(atom, np.array(_residue(atom), dtype=np.int64)) % PRIME
        total = (total + term) % PRIME
    return total


def _value(form: Form) -> int:
    return int(_polynomial(form, {}))


def _residue(atom: str) -> int:
    """A number for a load or an opaque term, the same in every run."""
    return int.from_bytes(hashlib.blake2b(atom.encode(), digest_size=8).digest()) % PRIME
