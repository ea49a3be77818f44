"""The place of what is refused while a region is written in another language: its file and line, or else its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from polysched.errors import UnsupportedScopError
from polysched.scop.scop import Scop


@contextmanager
def refusing_to_write(scop: Scop) -> Iterator[None]:
    """Say of which region something was refused that has no place of its own; a region without statements is."""
    try:
        if not scop.statements:
            raise UnsupportedScopError("the region has no statement that ever runs",
                                       hint="a function that stores nothing is read as no region")
        yield
    except UnsupportedScopError as error:
        if error.where is not None:
            raise
        where = scop.name if scop.source is None else scop.source.location
        raise type(error)(error.problem, where=where, witness=error.witness, hint=error.hint) from None
