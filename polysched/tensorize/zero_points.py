"""Zero points of quantised products, taken out of the product so that narrow operands are left.

Rewrite:  c += (a + x) * (b + y)  ->  c += a * b;  c += y * sum(a) + x * sum(b) + n * x * y   (behind the product)

x and y do not change within the reduction, sums run over it, n is its length.  Integers wrap modulo 2^w, so both sides
are the same function; `same_function` proves it for one term, linearity gives the sum.
Source: Jacob et al., "Quantization and training of neural networks for efficient integer-arithmetic-only inference",
CVPR 2018, section 2.3, equation 7.
"""

from __future__ import annotations

from dataclasses import dataclass

from polysched.scop.body import Binary, Cast, Expr, Load, Unary, walk
from polysched.tensorize.equality import Verdict, same_function
from polysched.tensorize.fragment import Fragment


@dataclass(frozen=True)
class Correction:
    """What is added behind the product; values and offsets in the accumulator's type.

    Parameters
    ----------
    left, right : the values that remain in the product.
    left_offset, right_offset : what was added to them; None for nothing.
    """

    left: Expr
    left_offset: Expr | None
    right: Expr
    right_offset: Expr | None

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All that is read."""
        return tuple(e for e in (self.left, self.left_offset, self.right, self.right_offset) if e is not None)


def without_zero_points(fragment: Fragment) -> tuple[Expr, Correction] | None:
    """The update with the offsets taken out of its product, and what corrects it; None when there are none."""
    dtype, update = fragment.update.dtype, fragment.update
    old = Load(fragment.target, dtype)
    if not dtype.is_integer or not fragment.is_box or not isinstance(update, Binary) or update.op != "+":
        return None
    product = update.right if update.left == old else update.left if update.right == old else None
    if not isinstance(product, Binary) or product.op != "*" or product.dtype.bits != dtype.bits:
        return None
    (left, x), (right, y) = (_split(fragment, side) for side in (product.left, product.right))
    if (x is None and y is None) or any(isinstance(e, Load) and e.reference == fragment.target for e in walk(product)):
        return None
    core = Binary("+", old, Binary("*", left, right, dtype), dtype)
    whole: Expr = core
    for one, other in ((left, y), (x, right), (x, y)):
        if one is not None and other is not None:
            whole = Binary("+", whole, Binary("*", one, other, dtype), dtype)
    if same_function(update, whole).verdict is not Verdict.EQUAL:
        return None
    return core, Correction(left, x, right, y)


def reduction_loops(fragment: Fragment) -> frozenset[str]:
    """The loops that the result does not know."""
    written = fragment.loops_of(Load(fragment.target, fragment.update.dtype))
    return frozenset(loop.name for loop in fragment.loops) - written


def _split(fragment: Fragment, e: Expr) -> tuple[Expr, Expr | None]:
    """A value and its offset, in the accumulator's type."""
    dtype = fragment.update.dtype
    inner = e
    while isinstance(inner, Cast) and inner.operand.dtype.bits == dtype.bits and inner.operand.dtype.is_integer:
        inner = inner.operand
    if isinstance(inner, Binary) and inner.op in ("+", "-") and inner.dtype.bits == dtype.bits:
        reductions = reduction_loops(fragment)
        sides = [(inner.left, inner.right)] + ([(inner.right, inner.left)] if inner.op == "+" else [])
        for value, offset in sides:
            if _is_element(value) and not fragment.loops_of(offset) & reductions:
                signed = _typed(offset, fragment) if inner.op == "+" else Unary("-", _typed(offset, fragment), dtype)
                return _typed(value, fragment), signed
    return _typed(e, fragment), None


def _typed(e: Expr, fragment: Fragment) -> Expr:
    return e if e.dtype == fragment.update.dtype else Cast(e, fragment.update.dtype)


def _is_element(e: Expr) -> bool:
    while isinstance(e, Cast):
        e = e.operand
    return isinstance(e, Load)
