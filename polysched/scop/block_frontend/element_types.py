"""The types of tiles as NumPy has them: of what a tile is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polysched.records import dataclass


@dataclass(frozen=True)
class ElementType:
    """The common type of some values.

    Parameters
    ----------
    sources : names of arguments, temporaries and types of NumPy.
    is_float : whether a number with a point, a quotient or a function of real numbers is among the values.
    """

    sources: tuple[str, ...] = ()
    is_float: bool = False


REAL, OPEN = ElementType(is_float=True), ElementType()
"""The types of a number with a point, and of any other number."""


def joined(types: Iterable[ElementType]) -> ElementType:
    """The common type of several."""
    every = list(types)
    return ElementType(tuple(dict.fromkeys(s for t in every for s in t.sources)), any(t.is_float for t in every))


def resolved(own: ElementType, temporaries: Mapping[str, ElementType]) -> ElementType:
    """The type with what temporaries are made from in place of their names; these may be made from each other."""
    found, open_types, seen = own, [own], set[str]()
    while open_types:
        for name in open_types.pop().sources:
            if name in temporaries and name not in seen:
                seen.add(name)
                open_types.append(temporaries[name])
                found = joined((found, temporaries[name]))
    return ElementType(tuple(s for s in found.sources if s not in temporaries), found.is_float)


def text_of(own: ElementType, arrays: Iterable[str]) -> str:
    """The type as Python; numbers alone have that of the first array."""
    known = list(arrays)
    sources = own.sources
    if not any(s in known or s.startswith("np.") for s in sources):
        sources = (*known[:1], *sources)
    if len(sources) == 1 and not own.is_float:
        return sources[0] if sources[0].startswith("np.") else f"{sources[0]}.dtype"
    return f"np.result_type({', '.join([*sources, *['1.0'] * own.is_float])})"
