"""Names of a program in another language: as that spells them, each of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from polysched.errors import UnsupportedScopError


def array_name(name: str) -> str:
    """The name of an array as a value of MLIR."""
    return "".join(character if character.isalnum() or character == "_" else "_" for character in name)


def distinct_names(names: Iterable[str], spelling: Callable[[str], str]) -> set[str]:
    """How some names are spelt.

    Raises
    ------
    UnsupportedScopError : two of them alike.
    """
    found: dict[str, str] = {}
    for name in names:
        own = spelling(name)
        if own in found:
            raise UnsupportedScopError(f"two names would be spelt {own}", witness=f"{found[own]}, {name}",
                                       hint="rename one of them")
        found[own] = name
    return set(found)


def free_prefix(letter: str, taken: set[str]) -> str:
    """A letter with as many underscores as it takes that none of some names begins with it."""
    return next(prefix for k in itertools.count() if not any(
        name.startswith(prefix := letter + "_" * k) for name in taken))
