"""What compilers make during a test run, once for the same text and options; and large headers are read once.

What has the program's own flags is compiled with -O2 instead of -O3, in half the time: contraction, aliases and
overflow are what they are there, passes that copy loops are missing.  Tests below `AS_ASKED`, which compare every
kernel and random programs, compile as users do.

This holds in the processes of pytest, whose caches are folders of the run, and in the forks that become commands.
Commands that tests start as new interpreters compile on their own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polysched
from polysched.measure.processes.building import DEFAULT_FLAGS
from polysched.scop.c_frontend.text import preprocess
from polysched.target import Compiler

READ_MORE = ("-I", "-include", "-isystem", "-iquote", "-M", "-fprofile", "-save-temps", "-g", "-x", "@")
"""Options with which the output is not that of one file, or names the file."""
OWN = f"-I{Path(polysched.__file__).parent}"
"""How folders of the program's own headers are named, which do not change during a run."""
ENVIRONMENT = ("PATH", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX")
LARGE = ("immintrin.h", "avxintrin.h")
"""Headers that take a compiler longer than the texts of tests that include them."""
ALONE = ("-shared", "-c", "-l", "-L", "-Wl,")
"""Options that change nothing in how headers are read."""
SHARED = "POLYSCHED_TEST_COMPILATIONS"
"""The variable that names the folder to the forks that become commands."""
LESS = ("-O2", *DEFAULT_FLAGS[1:])
"""In the place of the program's own flags."""
KEPT = "POLYSCHED_TEST_FLAGS_AS_ASKED"
"""The variable that is set where these stay as they are."""
AS_ASKED = ("tests/emit_c/alternatives/test_wide_vectors.py", "tests/emit_c/vector_math/", "tests/end_to_end/",
            "tests/fuzz/", "tests/kernels/", "tests/measure/timing/", "tests/tensorize/test_random_sums.py",
            "tests/test_compilations.py")
"""Files and folders of tests where it is set."""
_WORDS = r"#[ \t]*(?:(?:include|define)\b|if defined\(__x86_64__\)(?=[ \t]*\n))"
_HEAD = re.compile(rf"(?:\s|//[^\n]*\n|/\*.*?\*/|{_WORDS}[^\n]*(?<!\\)\n)*", re.DOTALL)
_DIRECTIVE = re.compile(rf"^{_WORDS}.*\n", re.MULTILINE)
STUBS = str(preprocess.STUB_HEADERS)
READING = {"-E", "-fsyntax-only", "-w", "-x", "c", "-nostdinc", "-isystem", STUBS, *preprocess.EXTENSIONS}
_PLAIN = re.compile(r"[\w./-]+")
_MORE = re.compile(r"(?:#|%:|\?\?=)\s*(?:include\s*[^<\s]|embed|line|\\)|__has_include|__\w*(?:FILE|DATE|TIME)")
_HERE = "\0"
_OWN_HEADER = re.compile(r'^\s*#\s*include\s*"|__FILE__|__DATE__|__TIME__|\.incbin', re.MULTILINE)

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class Compilation:
    """One C file that becomes one file of output."""

    key: str
    output: Path
    options: tuple[str, ...]
    text: str

    @staticmethod
    def of(compiler: Compiler, arguments: Sequence[str], source: str | None, folder: Path | None) -> Compilation | None:
        """None where a compiler is asked for something else, or reads more than the file and the system's headers."""
        if source is not None or arguments.count("-o") != 1 or any(
                a.startswith(READ_MORE) and not a.startswith(OWN) for a in arguments):
            return None
        at = arguments.index("-o")
        inputs = [a for k, a in enumerate(arguments) if not a.startswith("-") and k not in (at, at + 1)]
        if at + 1 == len(arguments) or len(inputs) != 1 or not inputs[0].endswith(".c"):
            return None
        here = folder or Path()
        file, output = here / inputs[0], here / arguments[at + 1]
        if not file.is_file() or _OWN_HEADER.search(text := file.read_text(errors="surrogateescape")):
            return None
        others = [a for k, a in enumerate(arguments) if a != inputs[0] and k != at + 1]
        return Compilation(_key(compiler, others, text), output, tuple(others), text)


@dataclass(frozen=True)
class Reading:
    """One C file that is preprocessed, or looked at, without headers but those of the program."""

    key: str
    path: str

    @staticmethod
    def of(compiler: Compiler, arguments: Sequence[str], folder: Path | None) -> Reading | None:
        """None where something else is asked for, or what is said depends on more than the text."""
        if not arguments or arguments[0] not in ("-E", "-fsyntax-only") or arguments.count(STUBS) != 1:
            return None
        *others, path = arguments
        if "-iquote" in others:   # no file is quoted
            del others[others.index("-iquote"):][:2]
        file = (folder or Path()) / path
        if not _PLAIN.fullmatch(path) or not all(o in READING or o.startswith("-D") for o in others) or (
                not file.is_file()):
            return None
        text = file.read_bytes().decode(errors="surrogateescape")   # its line ends are told apart
        if path in text or _MORE.search(text):
            return None
        return Reading(_key(compiler, others, text), path)


def head_of(text: str) -> str:
    """The includes and macros that a text begins with; empty where none of these headers is large.

    Those for x86 alone keep their condition.
    """
    start = _HEAD.match(text)
    directives = _DIRECTIVE.findall(start.group() if start else "")
    head = "".join([*directives, *("#endif\n" for line in directives if "if defined(" in line)])
    return head if any(f"<{name}>" in head for name in LARGE) else ""


def flags_of(arguments: Sequence[str]) -> list[str]:
    """What a compiler gets in the place of arguments that begin with the program's own flags."""
    own = tuple(arguments[:len(DEFAULT_FLAGS)]) == DEFAULT_FLAGS and KEPT not in os.environ
    return [*(LESS if own else arguments[:len(DEFAULT_FLAGS)]), *arguments[len(DEFAULT_FLAGS):]]


def _key(compiler: Compiler, options: Iterable[str], text: str) -> str:
    parts = [*compiler.command, "", *options, "", *(os.environ.get(n, "") for n in ENVIRONMENT), text]
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


@dataclass
class Compilations:
    """Stands in the place of `Compiler.run`.

    Parameters
    ----------
    run : the method itself.
    folder : where outputs are kept; several processes may have the same.
    """

    run: Run
    folder: Path

    def __call__(self, compiler: Compiler, arguments: Sequence[str], *, source: str | None = None,
                 folder: Path | None = None, timeout_seconds: float = 300.0) -> subprocess.CompletedProcess[str]:
        arguments = flags_of(arguments)
        found = Compilation.of(compiler, arguments, source, folder)
        if found is not None and (kept := self.folder / found.key).exists():
            found.output.unlink(missing_ok=True)   # a process may have the earlier one loaded
            shutil.copy(kept, found.output)
            return subprocess.CompletedProcess([*compiler.command, *arguments], 0, "", "")
        read = Reading.of(compiler, arguments, folder) if found is None and source is None else None
        if read is not None and (kept := self.folder / read.key).exists():
            return subprocess.CompletedProcess([*compiler.command, *arguments], 0,
                                               kept.read_text(errors="surrogateescape").replace(_HERE, read.path), "")
        head = self._kept_head(compiler, found) if found is not None and compiler.kind == "gcc" else None
        done = self.run(compiler, [*(("-include", str(head)) if head else ()), *arguments], source=source,
                        folder=folder, timeout_seconds=timeout_seconds)
        if head and (done.returncode or done.stdout + done.stderr):   # what is said has the lines of the text alone
            done = self.run(compiler, arguments, source=source, folder=folder, timeout_seconds=timeout_seconds)
        if found is not None and done.returncode == 0 and not done.stdout + done.stderr and found.output.is_file():
            self._keep(found.key, lambda kept: shutil.copy(found.output, kept))
        if read is not None and done.returncode == 0 and not done.stderr:
            output = done.stdout.replace(read.path, _HERE)
            self._keep(read.key, lambda kept: kept.write_text(output, errors="surrogateescape"))
        return done

    def _keep(self, name: str, write: Callable[[Path], object]) -> None:
        """Write a file that other processes see whole or not at all."""
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            write(made := Path(place, name))
            os.replace(made, self.folder / name)

    def _kept_head(self, compiler: Compiler, found: Compilation) -> Path | None:
        """A header with what the text begins with; beside it is its precompiled form, made when it is asked for again.

        GCC itself looks whether that form fits, and reads the header where it does not.
        """
        if not (text := head_of(found.text)):
            return None
        options = [o for o in found.options if o != "-o" and not o.startswith(ALONE)]
        header = self.folder / f"{_key(compiler, options, text)}.h"
        precompiled = header.with_suffix(".h.gch")
        if precompiled.exists():
            return header
        if not header.exists():
            self._keep(header.name, lambda kept: kept.write_text(text, errors="surrogateescape"))
            return None
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            made = Path(place, precompiled.name)
            if self.run(compiler, [*options, "-x", "c-header", str(header), "-o", str(made)]).returncode:
                return None
            os.replace(made, precompiled)
        return header

    def remove_precompiled(self) -> None:
        """They take 20 MB each; where another process still names one, its compiler reads the header itself."""
        for precompiled in self.folder.glob("*.gch"):
            precompiled.unlink(missing_ok=True)


def take_the_place(folder: Path, set_attribute: Callable[[type, str, object], None] = setattr) -> Compilations:
    """Let every compiler of this process look into a folder first."""
    made = Compilations(run=Compiler.run, folder=folder)
    set_attribute(Compiler, "run", lambda self, arguments, **others: made(self, arguments, **others))
    return made
