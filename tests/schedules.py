"""Programs with their dependences and a schedule, once a process: tests of later stages begin here."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from polysched.dependence import analyse
from polysched.scheduling import Schedule, original, pluto
from polysched.scop import from_c_file, from_c_text


@lru_cache(maxsize=256)
def pluto_of(text: str) -> Schedule:
    """What `pluto` makes of the only region of a C text."""
    return pluto(analyse(from_c_text(text)))


@lru_cache(maxsize=256)
def original_of(text: str) -> Schedule:
    """The order of the only region of a C text."""
    return original(analyse(from_c_text(text)))


@lru_cache(maxsize=64)
def pluto_of_file(path: Path) -> Schedule:
    """As `pluto_of`, of a file."""
    return pluto(analyse(from_c_file(str(path))))
