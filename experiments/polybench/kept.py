"""Files that tools make: each with a note of what it was made from, so that a kept one is used again only for the same.

A failure is kept as well: a tool that ran into its time limit would do so again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from polysched.errors import CompileError
from polysched.target import Compiler
from polysched.target.build_cache import entry_key

NOTE = ".made"


def made(product: Path, parts: Mapping[str, Any], make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Make a file, unless it is there and was made from the same parts; what `make` said about it.

    Parameters
    ----------
    parts : everything that the file depends on, as JSON values.
    make : writes the file; what it returns (JSON values) is kept beside it.

    Raises
    ------
    CompileError : it cannot be made, or could not when it was tried from the same parts.
    """
    note = product.with_name(product.name + NOTE)
    key = digest(json.dumps(parts, sort_keys=True))
    found = json.loads(note.read_text()) if note.exists() else {}
    if found.get("key") != key or ("failed" not in found and not product.exists()):
        note.unlink(missing_ok=True)
        product.unlink(missing_ok=True)
        try:
            found = {"key": key, "about": dict(make())}
        except CompileError as failure:
            found = {"key": key, "failed": {"problem": failure.problem, "witness": failure.witness}}
        note.write_text(json.dumps(found))
    if "failed" in found:
        raise CompileError(**found["failed"])
    about: dict[str, Any] = found["about"]
    return about


def digest(content: str | bytes) -> str:
    """A digest of a file's or a text's content."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def polysched_key() -> str:
    """A digest of polysched's own sources and of the processor that it writes code for."""
    return entry_key({}, Compiler(command=("gcc",), kind="gcc", version=""))
