"""Sizes as C: products and sums of whole numbers and of the sizes that a model is told when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polysched.graph.values.sizes import Size

FLOOR = """static inline long polysched_floor(long n, long d) { return n / d - (n % d < 0); }"""


def c_size(size: Size, names: Mapping[str, str]) -> str:
    """A size as C.

    Parameters
    ----------
    names : the variables of the symbols.
    """
    parts = []
    for atom, factor in size.terms:
        own = names[atom] if isinstance(atom, str) else (
            f"polysched_floor({c_size(atom.numerator, names)}, {atom.divisor})")
        parts.append(own if factor == 1 else f"{factor} * {own}")
    if size.constant or not parts:
        parts.append(str(size.constant))
    return " + ".join(parts)


def is_never_negative(size: Size) -> bool:
    """Whether an extent is at least 0 for all sizes from 1 on, as far as its factors say."""
    if any(not isinstance(atom, str) or factor < 0 for atom, factor in size.terms):
        return False
    return sum(factor for _, factor in size.terms) + size.constant >= 0


def c_product(sizes: Sequence[Size], names: Mapping[str, str]) -> str:
    """The product of sizes as C; a number where all are known."""
    number, factors = 1, []
    for size in sizes:
        if size.is_constant:
            number *= size.constant
        else:
            text = c_size(size, names)
            factors.append(text if text.isidentifier() else f"({text})")
    if number == 0 or not factors:
        return str(number)
    return " * ".join([*([str(number)] if number != 1 else []), *factors])
