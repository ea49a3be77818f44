"""Sizes of a graph as extents of tensor expressions."""

from __future__ import annotations

from polysched.errors import UnsupportedGraphError
from polysched.graph.values.sizes import Product, Size
from polysched.scop.expression import Expression, Symbol
from polysched.scop.expression.tensors import Constant


def extent_of(size: Size) -> Expression:
    """A size as an expression over symbols.

    Raises
    ------
    UnsupportedGraphError : it has a product of open sizes.
    """
    result: Expression | None = None
    for atom, factor in size.terms:
        if isinstance(atom, Product):
            raise UnsupportedGraphError(f"the product {atom} of open sizes is not affine",
                                        hint="fix all but one of them by sizes=")
        own: Expression = Symbol(atom) if isinstance(atom, str) else extent_of(atom.numerator) // atom.divisor
        own = own if factor == 1 else own * factor
        result = own if result is None else result + own
    if result is None:
        return Constant(size.constant)
    return result + size.constant if size.constant else result
