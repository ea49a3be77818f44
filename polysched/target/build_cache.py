"""Folders of what was built once for this machine: one entry per key, complete or not there.

An entry is built in a folder of its own beside the others and renamed into place, so processes that build
the same entry at the same time do not disturb each other; the first to finish wins and the others take
its entry.  The whole folder can be deleted at any time.

Code that is loaded from here runs with the user's rights.  So the folder is made for its user alone, and an entry that
somebody else could have written is not loaded but built again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import polysched.errors as errors
from polysched.target.compiler import Compiler
from polysched.version import __version__

FORMAT = 1
ENVIRONMENT = "POLYSCHED_CACHE_DIR"
KERNELS = "kernels"
PRIVATE = 0o700
_WORDS = {KERNELS: "compiled kernels"}


def cache_folder(kind: str = KERNELS) -> Path:
    """Where entries of a kind are kept: `$POLYSCHED_CACHE_DIR`, else `polysched` in the user's cache folder.

    Compiled kernels stand in `$POLYSCHED_CACHE_DIR` itself, other kinds in a folder of their name below it.

    Source: XDG Base Directory Specification, version 0.8: `$XDG_CACHE_HOME`, else `~/.cache`.
    """
    if own := os.environ.get(ENVIRONMENT):
        return Path(own) if kind == KERNELS else Path(own) / kind
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "polysched" / kind


def program_key(parts: Mapping[str, object]) -> str:
    """The name of an entry that depends on polysched's own source, on the interpreter, and on no compiler.

    Parameters
    ----------
    parts : whatever else it depends on, as JSON values.
    """
    whole = {"format": FORMAT, "version": __version__, "program": _program_digest(),
             "interpreter": sys.implementation.cache_tag, **parts}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:40]


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
    root = os.path.dirname(errors.__file__)
    digest = hashlib.sha256()
    for path in sorted(os.path.join(folder, name) for folder, _, names in os.walk(root)   # pathlib takes twice as long
                       for name in names if name.endswith(".py")):
        digest.update(path[len(root):].encode())
        with open(path, "rb") as file:
            digest.update(file.read())
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


def find_or_build(key: str, build: Callable[[Path], None], *, kind: str = KERNELS) -> Path:
    """The folder of an entry; `build` fills a new one when there is none, or none that can be trusted.

    Raises
    ------
    OutputError : the cache folder cannot be written, or belongs to somebody else.
    """
    folder = cache_folder(kind)
    entry = folder / key
    try:
        make_private(folder)
        if found(key, kind=kind) is not None:
            return entry
        _remove(entry)
        working = Path(tempfile.mkdtemp(prefix=f".{key[:8]}-", dir=folder))
    except OSError as error:
        raise errors.OutputError(f"the cache of {_WORDS.get(kind, kind)} cannot be written", where=str(folder),
                                 witness=str(error), hint=f"set {ENVIRONMENT} to a folder of your own") from None
    try:
        build(working)
        try:
            working.rename(entry)
        except OSError:
            if not is_own(entry):
                raise
    finally:
        shutil.rmtree(working, ignore_errors=True)
    return entry


def found(key: str, *, kind: str = KERNELS) -> Path | None:
    """The folder of an entry that is there and that only this user can have written; None without one."""
    folder = cache_folder(kind)
    entry = folder / key
    return entry if is_own(folder) and is_own(entry) and all(map(is_own, entry.iterdir())) else None


def make_private(folder: Path) -> None:
    """Make a folder that only its user can enter; one that others could enter is closed to them.

    Raises
    ------
    PermissionError : it belongs to another user.
    OSError : it cannot be made.
    """
    folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise PermissionError(f"the folder belongs to user {status.st_uid}")
    if stat.S_IMODE(status.st_mode) != PRIVATE:
        folder.chmod(PRIVATE)


def is_own(path: Path) -> bool:
    """Whether a file or folder is there, belongs to this user and no other user can write into the folder; no links."""
    try:
        status = path.lstat()
    except OSError:
        return False
    own = status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode)
    return own and not (stat.S_ISDIR(status.st_mode) and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def forget(key: str, *, kind: str = KERNELS) -> None:
    """Remove an entry that turned out to be unusable."""
    _remove(cache_folder(kind) / key)


def _remove(entry: Path) -> None:
    if entry.is_symlink():
        entry.unlink(missing_ok=True)
    shutil.rmtree(entry, ignore_errors=True)
