"""SourceOptions: how a C file becomes regions."""

from __future__ import annotations

from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """How a C file is read.

    Parameters
    ----------
    autodetect : take the largest regions that can be represented, marked by pragmas or not.
    pure : functions that only compute with their arguments.
    include_dirs, defines : the preprocessor's `-I` and `-D`.
    cc : the compiler that preprocesses, and that compiles what is run; None finds one.
    """

    autodetect: bool = False
    pure: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    cc: str | None = None
