"""Readings of shipped texts that an earlier process made: parsing them takes longer than matching with them.

They lie in the user's own cache as compiled kernels do, under the digest of polysched's source and of the interpreter;
what cannot be loaded is parsed again.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Mapping
from pathlib import Path

from polysched.errors import OutputError
from polysched.target.build_cache import find_or_build, forget, found, program_key
from polysched.tensorize.description.reading import remember
from polysched.tensorize.description.semantics import Semantics

KIND = "readings"
FILE = "readings.pickle"
_UNREADABLE = (OSError, pickle.UnpicklingError, EOFError, ImportError, AttributeError, LookupError, TypeError,
               ValueError)

logger = logging.getLogger(__name__)


def recall(name: str) -> bool:
    """Make the readings known that an earlier process kept under a name; whether there were any."""
    key = program_key({"readings": name})
    entry = found(key, kind=KIND)
    if entry is None:
        return False
    try:
        remember(pickle.loads((entry / FILE).read_bytes()))
    except _UNREADABLE:
        forget(key, kind=KIND)
        return False
    return True


def keep(name: str, readings: Mapping[str, Semantics]) -> None:
    """Keep readings for later processes; where the cache cannot be written, they are parsed again next time."""
    def write(folder: Path) -> None:
        (folder / FILE).write_bytes(pickle.dumps(dict(readings), protocol=pickle.HIGHEST_PROTOCOL))

    try:
        find_or_build(program_key({"readings": name}), write, kind=KIND)
    except OutputError as error:
        logger.debug("the readings of the shipped instructions could not be cached: %s", error.witness)
