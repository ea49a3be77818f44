"""Compile C text into a shared object and call it; only for code that the tests themselves made."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from pathlib import Path

from polysched.target import find_compiler

STRICT = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-parameter",
          "-Wno-unused-variable", "-Wno-unused-function", "-Wno-psabi", "-Wno-misleading-indentation")


def load(text: str, folder: Path, *, flags: Sequence[str] = ("-O1",), strict: bool = True,
         cc: str | None = None) -> ctypes.CDLL:
    """The shared object of a C text, made by the compiler `cc` or the usual one; once a process for the same text."""
    key = (text, tuple(flags), strict, cc)
    if key not in _LOADED:
        _LOADED[key] = _load(text, folder, flags, strict, cc)
    return _LOADED[key]


_LOADED: dict[tuple[str, tuple[str, ...], bool, str | None], ctypes.CDLL] = {}


def _load(text: str, folder: Path, flags: Sequence[str], strict: bool, cc: str | None) -> ctypes.CDLL:
    stem = hashlib.sha256((text + " ".join([*flags, cc or ""])).encode()).hexdigest()[:16]
    source, binary = folder / f"{stem}.c", folder / f"{stem}.so"
    source.write_text(text)
    compiler = find_compiler(cc)
    options = [*flags, *(STRICT if strict and compiler.kind == "gcc" else ()), "-ffp-contract=off",
               *compiler.openmp_compile, "-shared", "-fPIC", str(source), "-o", str(binary), *compiler.openmp_link,
               "-lm"]
    done = compiler.run(options, folder=folder)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    return ctypes.CDLL(str(binary))


TRACE = """
static long polysched_log[1 << 20];
static long polysched_count;
static int visit(int statement, long a, long b, long c) {
  long *at = polysched_log + 4 * polysched_count++;
  at[0] = statement, at[1] = a, at[2] = b, at[3] = c;
  return 0;
}
long logged(void) { return polysched_count; }
long entry(long k) { return polysched_log[k]; }
"""


def trace(region: str, parameters: dict[str, int], folder: Path) -> list[tuple[int, tuple[int, int, int]]]:
    """The statement instances that a region visits, in order."""
    heads = ", ".join(f"int {name}" for name in parameters) or "void"
    library = load(f"{TRACE}void run({heads}) {{\n  int sink = 0;\n{region}  (void)sink;\n}}\n", folder)
    library.entry.restype = library.logged.restype = ctypes.c_long
    library.run(*parameters.values())
    log = [library.entry(ctypes.c_long(k)) for k in range(4 * library.logged())]
    return [(log[k], (log[k + 1], log[k + 2], log[k + 3])) for k in range(0, len(log), 4)]
