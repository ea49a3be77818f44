"""What an OpenScop file says of a region, as isl sets and relations."""

from __future__ import annotations

import islpy as isl

from polysched.records import dataclass
from polysched.scop.scop import AccessKind

KINDS = {"READ": AccessKind.READ, "WRITE": AccessKind.MUST_WRITE, "MAY_WRITE": AccessKind.MAY_WRITE}


@dataclass(frozen=True, eq=False, kw_only=True)
class OpenScopStatement:
    """One statement.

    Parameters
    ----------
    domain : `[n] -> { [i, j] : ... }`, without a name.
    scattering : `[n] -> { [i, j] -> [...] }`: its date.
    accesses : kind, array and relation `{ [i, j] -> [subscripts] }`; the array by name where the file has names, else
        by its number as text.
    iterators : the names of the original loops; empty where the file has none.
    body : what an instance does, as C; empty where the file does not say.
    """

    domain: isl.Set
    scattering: isl.Map
    accesses: tuple[tuple[AccessKind, str, isl.Map], ...]
    iterators: tuple[str, ...] = ()
    body: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class OpenScopRegion:
    """A file.

    Parameters
    ----------
    language : of the bodies.
    parameters : in their order.
    context : the values that they can have.
    statements : in textual order.
    """

    language: str
    parameters: tuple[str, ...]
    context: isl.Set
    statements: tuple[OpenScopStatement, ...]
