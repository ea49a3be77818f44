"""Sizes as C: products and sums of whole numbers and of the sizes that a model is told when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polysched.graph.values.sizes import Product, Size

FLOOR = """static inline long polysched_floor(long n, long d) { return n / d - (n % d < 0); }
static inline __int128 polysched_wide_floor(__int128 n, __int128 d) { return n / d - (n % d < 0); }"""


def c_size(size: Size, names: Mapping[str, str], *, wide: bool = False) -> str:
    """A size as C.  Products are of numbers without sign: one of their factors may be 0, and the product of the others
    too long.

    Parameters
    ----------
    names : the variables of the symbols.
    wide : computed in 128 bits, where it does not overflow.
    """
    parts = []
    for atom, factor in size.terms:
        if isinstance(atom, str):
            own = f"(__int128){names[atom]}" if wide else names[atom]
        elif isinstance(atom, Product):
            signed = "__int128" if wide else "long"
            factors = " * ".join(f"(unsigned {signed})({c_size(f, names, wide=wide)})" for f in atom.factors)
            own = f"({signed})({factors})"
        else:
            inner = c_size(atom.numerator, names, wide=wide)
            own = f"polysched_{'wide_' * wide}floor({inner}, {atom.divisor})"
        parts.append(own if factor == 1 else f"{factor} * {own}")
    if size.constant or not parts:
        parts.append(str(size.constant))
    return " + ".join(parts)


def is_never_negative(size: Size) -> bool:
    """Whether an extent is at least 0 for all sizes from 1 on, as far as its factors say."""
    least = size.least()
    return least is not None and least >= 0


def c_is_size(product: Product, most: int, names: Mapping[str, str]) -> str:
    """C that is true where a product, whose factors have no product that is none, is from 0 to a number."""
    text = " * ".join(f"(double)({c_size(f, names, wide=True)})" for f in product.factors)
    return f"{text} >= 0 && {text} <= {float(most)!r}"


def c_fits(size: Sequence[Size], bytes_each: int, most: int, names: Mapping[str, str]) -> str:
    """C that is true where a value of some extents, none of them negative, has at most so many bytes."""
    factors = [f"(double)({c_size(e, names, wide=True)})" for e in size]
    return f"{' * '.join([*factors, str(bytes_each)])} <= {float(most)!r}"


def c_product(sizes: Sequence[Size], names: Mapping[str, str]) -> str:
    """The product of sizes as C; a number where all are known.

    Several open factors are multiplied without sign: one of them may be 0, and the product of the others too long.
    """
    number, factors = 1, []
    for size in sizes:
        if size.is_constant:
            number *= size.constant
        else:
            text = c_size(size, names)
            factors.append(text if text.isidentifier() else f"({text})")
    if number == 0 or not factors:
        return str(number)
    text = " * ".join([*([str(number)] if number != 1 else []), *factors])
    return text if len(factors) == 1 else f"(long)((unsigned long){text})"
