"""Standard input where a command reads a file more than once."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from polysched.cli.conventions import STANDARD
from polysched.cli.options import STANDARD_INPUT
from polysched.errors import PolyschedError


@contextmanager
def as_files(names: Sequence[str]) -> Iterator[list[str]]:
    """The names, with a temporary file of what standard input has for `-`.

    A refusal of that file calls it standard input.
    """
    if STANDARD not in names:
        yield list(names)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "standard_input")
        copy.write_bytes(sys.stdin.buffer.read())
        try:
            yield [str(copy) if name == STANDARD else name for name in names]
        except PolyschedError as error:
            if str(copy) not in str(error):
                raise
            where, witness = (None if text is None else str(text).replace(str(copy), STANDARD_INPUT)
                              for text in (error.where, error.witness))
            raise type(error)(error.problem, where=where, witness=witness, hint=error.hint) from None
