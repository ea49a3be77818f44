"""The folder of compiled kernels: one entry per key, complete or not there.

An entry is built in a folder of its own beside the others and renamed into place, so processes that build
the same entry at the same time do not disturb each other; the first to finish wins and the others take
its entry.  The whole folder can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import polysched.errors as errors
from polysched.target import Compiler
from polysched.version import __version__

FORMAT = 1
ENVIRONMENT = "POLYSCHED_CACHE_DIR"


def cache_folder() -> Path:
    """Where compiled kernels are kept: `$POLYSCHED_CACHE_DIR`, else `polysched` in the user's cache folder.

    Source: XDG Base Directory Specification, version 0.8: `$XDG_CACHE_HOME`, else `~/.cache`.
    """
    if own := os.environ.get(ENVIRONMENT):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "polysched" / "kernels"


def entry_key(parts: Mapping[str, object], compiler: Compiler) -> str:
    """The name of an entry: a digest of everything that the compiled code depends on.

    Parameters
    ----------
    parts : source, types, options, as JSON values.
    """
    whole = {"format": FORMAT, "version": __version__, "program": _program_digest(), "processor": _processor(),
             "compiler": [*compiler.command, compiler.kind, compiler.version], **parts}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:40]


@cache
def _program_digest() -> str:
    """A digest of polysched's own source: a changed scheduler must not find the code of the old one."""
    root = Path(errors.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _processor() -> str:
    """The processor's features, since the code is compiled for the machine it is built on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    wanted = {line for line in lines if line.partition(":")[0].strip() in ("model name", "flags", "Features", "isa")}
    return hashlib.sha256("\n".join(sorted(wanted)).encode()).hexdigest()


def find_or_build(key: str, build: Callable[[Path], None]) -> Path:
    """The folder of an entry; `build` fills a new one when there is none.

    Raises
    ------
    OutputError : the cache folder cannot be written.
    """
    folder = cache_folder()
    entry = folder / key
    if entry.is_dir():
        return entry
    try:
        folder.mkdir(parents=True, exist_ok=True)
        working = Path(tempfile.mkdtemp(prefix=f".{key[:8]}-", dir=folder))
    except OSError as error:
        raise errors.OutputError("the cache of compiled kernels cannot be written", where=str(folder),
                                 witness=str(error), hint=f"set {ENVIRONMENT} to a folder of your own") from None
    try:
        build(working)
        try:
            working.rename(entry)
        except OSError:
            if not entry.is_dir():
                raise
    finally:
        shutil.rmtree(working, ignore_errors=True)
    return entry


def forget(key: str) -> None:
    """Remove an entry that turned out to be unusable."""
    shutil.rmtree(cache_folder() / key, ignore_errors=True)
