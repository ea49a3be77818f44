"""Zero points of quantised products, taken out of the product so that narrow operands are left.

Rewrite:  c += (a + x) * (b + y)  ->  c += a * b;  c += y * sum(a) + x * sum(b) + n * x * y   (behind the product)
          c += a * b (both signed)  ->  c += (a + 128) * b;  c += -128 * sum(b)                 (behind the product)

x and y do not change within the reduction, sums run over it, n is its length.  Integers wrap modulo 2^w, so both sides
are the same function; `same_function` proves it for one term, linearity gives the sum.
Source: Jacob et al., "Quantization and training of neural networks for efficient integer-arithmetic-only inference",
CVPR 2018, section 2.3, equation 7.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, Literal, Load, Unary, walk
from polysched.scop.dtypes import INT32
from polysched.tensorize.equality import Verdict, same_function
from polysched.tensorize.equality.normal_form import Normaliser, widens
from polysched.tensorize.software.fragment import Fragment

Part: TypeAlias = tuple[Expr, Expr | None]   # a value and what is added to it
_Term: TypeAlias = tuple[tuple[str, ...], Fraction]
HALVED_BITS = (8, 16)   # of elements that instructions want signed or unsigned


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


def without_zero_points(fragment: Fragment) -> Iterator[list[tuple[Expr, Correction]]]:
    """The update with the offsets taken out of its product, and what corrects it; nothing for what is no product.

    First with the elements as they are.  Then with one or both moved by half of their range, so that unsigned ones are
    signed and the other way: `a + x` is `(a - 128) + (x + 128)`, where x is nothing for a product of plain elements.
    """
    dtype, update = fragment.update.dtype, fragment.update
    old = Load(fragment.target, dtype)
    if not dtype.is_integer or not fragment.is_box:
        return
    parts = _factored(fragment, old) or _expanded(fragment)
    if parts is None:
        return
    ways = [[part, *_of_the_other_sign(part)] for part in parts]
    for moved in range(int(_is_plain(parts)), 3):
        found = []
        for pair in itertools.product(*ways):
            if sum(p not in parts for p in pair) == moved and (core := _core(update, old, *pair)) is not None:
                found.append(core)
        yield found


def _core(update: Expr, old: Load, first: Part, second: Part) -> tuple[Expr, Correction] | None:
    """The product of two values alone, and what is added behind it; None where that is another function."""
    (left, x), (right, y) = first, second
    core = Binary("+", old, Binary("*", left, right, old.dtype), old.dtype)
    whole: Expr = core
    for one, other in ((left, y), (x, right), (x, y)):
        if one is not None and other is not None:
            whole = Binary("+", whole, Binary("*", one, other, old.dtype), old.dtype)
    return (core, Correction(left, x, right, y)) if same_function(update, whole).verdict is Verdict.EQUAL else None


def _of_the_other_sign(part: Part) -> Iterator[Part]:
    """An element that is moved by half of its range, and its offset by as much the other way."""
    value, offset = part
    element = value
    while isinstance(element, Cast):
        element = element.operand
    if not isinstance(element, Load) or not widens(element.dtype, value.dtype) \
            or element.dtype.bits not in HALVED_BITS:
        return
    half: Expr = Literal(str(number := 1 << element.dtype.bits - 1), number, INT32)
    half = half if value.dtype == INT32 else Cast(half, value.dtype)
    there, back = ("+", "-") if element.dtype.is_signed else ("-", "+")
    other = half if offset is None else Binary(back, offset, half, offset.dtype)
    if offset is None and back == "-":
        other = Unary("-", half, value.dtype)
    yield Binary(there, value, half, value.dtype), other


def factored(fragment: Fragment) -> Expr | None:
    """An update that was multiplied out, as one product again: `a * b + y * a` as `a * (b + y)`; None for others.

    Offsets do not change within the reduction.
    """
    dtype, old = fragment.update.dtype, Load(fragment.target, fragment.update.dtype)
    if not dtype.is_integer or ((found := _factored(fragment, old)) is not None and not _is_plain(found)):
        return None
    if (parts := _expanded(fragment)) is None or _is_plain(parts):
        return None
    left, right = (value if offset is None else Binary("+", value, offset, dtype) for value, offset in parts)
    whole = Binary("+", old, Binary("*", left, right, dtype), dtype)
    return whole if same_function(fragment.update, whole).verdict is Verdict.EQUAL else None


def _factored(fragment: Fragment, old: Load) -> tuple[Part, Part] | None:
    """`(a + x) * (b + y)` as it stands."""
    update, dtype = fragment.update, fragment.update.dtype
    if not isinstance(update, Binary) or update.op != "+":
        return None
    product = update.right if update.left == old else update.left if update.right == old else None
    if not isinstance(product, Binary) or product.op != "*" or product.dtype.bits != dtype.bits:
        return None
    (left, x), (right, y) = (_split(fragment, side) for side in (product.left, product.right))
    if any(isinstance(e, Load) and e.reference == fragment.target for e in walk(product)):
        return None
    return (left, x), (right, y)


def _is_plain(parts: tuple[Part, Part]) -> bool:
    """Nothing is added to either factor."""
    return all(offset is None for _, offset in parts)


def _expanded(fragment: Fragment) -> tuple[Part, Part] | None:
    """`a * b + y * a + x * b + x * y`, multiplied out: y and x are the factors of a and b alone."""
    form = Normaliser().form(fragment.update)
    reductions = reduction_loops(fragment)
    loads = {e.reference: e for e in walk(fragment.update) if isinstance(e, Load)}
    added = [(m, c) for m, c in form.terms if m != (fragment.target,)]
    if any(atom not in loads or atom == fragment.target for m, _ in added for atom in m):
        return None
    summed = {n for n, e in loads.items() if fragment.loops_of(e) & reductions}
    products = [m for m, c in added if len(m) == 2 and set(m) <= summed and c == 1]
    if len(products) != 1:
        return None
    first, second = products[0]
    of_first, of_second = _factors_of(second, added, but=first), _factors_of(first, added, but=second)
    if not all(_is_small(term, summed) for term in (*of_first, *of_second)):
        return None
    return ((_typed(loads[first], fragment), _sum(fragment, loads, of_first)),
            (_typed(loads[second], fragment), _sum(fragment, loads, of_second)))


def _is_small(term: _Term, summed: set[str]) -> bool:
    """Whether a term fits the accumulator and moves with no loop of the sum."""
    atoms, coefficient = term
    return abs(coefficient) < 1 << 31 and summed.isdisjoint(atoms)


def _factors_of(atom: str, added: Sequence[_Term], *, but: str) -> list[_Term]:
    """What an atom is multiplied with in the terms that have it without another one."""
    return [(tuple(a for a in m if a != atom), c) for m, c in added if atom in m and but not in m]


def _sum(fragment: Fragment, loads: Mapping[str, Load],
         terms: Sequence[_Term]) -> Expr | None:
    """A polynomial as an expression in the accumulator's type; None for nothing."""
    dtype, total = fragment.update.dtype, None
    for atoms, coefficient in terms:
        value: Expr = _typed(Literal(str(int(coefficient)), int(coefficient), INT32), fragment)
        for atom in atoms:
            value = Binary("*", value, _typed(loads[atom], fragment), dtype)
        total = value if total is None else Binary("+", total, value, dtype)
    return total


def reduction_loops(fragment: Fragment) -> frozenset[str]:
    """The loops that the result does not know."""
    written = fragment.loops_of(Load(fragment.target, fragment.update.dtype))
    return frozenset(loop.name for loop in fragment.loops) - written - set(fragment.kept)


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
