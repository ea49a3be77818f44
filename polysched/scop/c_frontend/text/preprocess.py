"""From the text of a C file to preprocessed text with line markers.

The compiler's own preprocessor runs over the file, but with the standard headers of `stub_headers/`,
which hold plain C declarations only: a system's headers use extensions that a C parser cannot read.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from polysched.errors import CompileError, SourceLocation, SourceSyntaxError, UsageError
from polysched.records import dataclass
from polysched.scop.c_frontend.text.assembly import without_assembly
from polysched.scop.c_frontend.text.attributes import without_attributes
from polysched.scop.c_frontend.text.typeofs import without_typeof
from polysched.target import Compiler, find_compiler

STANDARD_INPUT = "-"
OTHER_FORMS = {".mlir": ("MLIR", "from_mlir"), ".scop": ("OpenScop", "from_openscop")}
STUB_HEADERS = Path(__file__).parent.parent / "stub_headers"
# Extensions of GNU C that change nothing about what a region computes.
EXTENSIONS = ("-D__extension__=", "-D__inline=inline", "-D__inline__=inline",
              "-D__restrict=restrict", "-D__restrict__=restrict", "-D__const=const", "-D__signed__=signed",
              "-D__volatile__=volatile", "-D__builtin_offsetof=offsetof", "-D__alignof__=_Alignof",
              "-D__alignof=_Alignof", "-D__POLYSCHED_FRONTEND__=1", "-U__OPTIMIZE__")
_MARKER = re.compile(r'^(# \d+ ")([^"\n]*\\[0-7]{3}[^"\n]*)', re.M)
_MISSING = re.compile(r"fatal error: '?([^':]+)'?(?:: No such file or directory| file not found)")
_MESSAGE = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+)(?::(?P<column>\d+))?: (?:fatal )?error: (?P<text>.*)$", re.M)


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A C file and how to read it.

    Parameters
    ----------
    path : as the user named it.
    text : the whole file, line ends as they are.
    include_dirs, defines : the `-I` and `-D` arguments, without the letters.
    compiler : who preprocesses.
    on_disk : False when the text does not stand in `path`, but came as a string.
    """

    path: str
    text: str
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    compiler: Compiler
    on_disk: bool = True

    @property
    def arguments(self) -> tuple[str, ...]:
        """The user's own preprocessor arguments."""
        return (*(f"-I{d}" for d in self.include_dirs), *(f"-D{d}" for d in self.defines))

    @property
    def arguments_elsewhere(self) -> tuple[str, ...]:
        """The same for a compiler that runs in another folder."""
        return replace(self, include_dirs=tuple(str(Path(d).absolute()) for d in self.include_dirs)).arguments


def read_source(path: str | Path, *, include_dirs: Sequence[str | Path], defines: Sequence[str],
                cc: str | None) -> SourceFile:
    """Read a C file, or standard input as `-`, without touching its line ends.

    Raises
    ------
    UsageError : the file cannot be read, or is one of MLIR or OpenScop.
    NoCompilerError : there is no compiler to preprocess it with.
    """
    piped = str(path) == STANDARD_INPUT
    if (other := OTHER_FORMS.get(Path(path).suffix)) is not None:
        raise UsageError(f"a file of {other[0]} is no C file", where=str(path),
                         hint="`polysched extract`, `deps`, `schedule` and `tile` read it, and in Python "
                              f"polysched.optimize({other[1]}(text)) makes C of it")
    try:
        text = (sys.stdin.buffer.read() if piped else Path(path).read_bytes()).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise UsageError(f"cannot read the file: {error.strerror}", where=str(path)) from None
    return SourceFile(path="<stdin>" if piped else str(path), text=text,
                      include_dirs=tuple(str(d) for d in include_dirs),
                      defines=tuple(defines), compiler=find_compiler(cc), on_disk=not piped)


def preprocess(source: SourceFile) -> str:
    """Run the preprocessor; line markers stay and name the file as the user did, assembly and attributes go.

    Raises
    ------
    SourceSyntaxError : an include is missing, or a directive is wrong; carries the compiler's message.
    """
    return without_typeof(without_attributes(without_assembly(_run(source, ("-E",)))))


def check_syntax(source: SourceFile) -> None:
    """Let the compiler judge the file.

    Raises
    ------
    SourceSyntaxError : the compiler refuses it; the witness is its own message.
    """
    _run(source, ("-fsyntax-only", "-w"))


def _run(source: SourceFile, mode: tuple[str, ...]) -> str:
    arguments = [*mode, "-x", "c", "-nostdinc", "-isystem", str(STUB_HEADERS), *EXTENSIONS, *source.arguments]
    if source.on_disk:
        return _checked(source, [*arguments, source.path], source.path)
    with tempfile.TemporaryDirectory(prefix="polysched-") as folder:
        file = Path(folder) / "source.c"
        file.write_bytes(source.text.encode("utf-8", "surrogateescape"))
        beside = Path(source.path).parent
        return _checked(source, [*arguments, "-iquote", str(beside), str(file)], str(file))


def _checked(source: SourceFile, arguments: list[str], path: str) -> str:
    try:
        done = source.compiler.run(arguments)
    except CompileError as error:
        raise SourceSyntaxError(error.problem, where=source.path, witness=error.witness) from None
    if done.returncode == 0:
        text = _MARKER.sub(_readable_marker, done.stdout)
        return text.replace(f'"{path}"', f'"{source.path}"') if path != source.path else text
    raise _refusal(source, done.stderr.replace(path, source.path))


def _readable_marker(marker: re.Match[str]) -> str:
    """A line marker with the bytes that the compiler wrote as octal numbers put back."""
    raw = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), marker[2])
    if raw == marker[2]:
        return marker[0]
    return marker[1] + raw.encode("latin-1", "replace").decode("utf-8", "surrogateescape")


def _refusal(source: SourceFile, messages: str) -> SourceSyntaxError:
    """The first error that the compiler reports, with its place."""
    found = _MESSAGE.search(messages)
    if found is None:
        return SourceSyntaxError("the compiler could not read the file", where=source.path,
                                 witness=messages.strip() or None)
    where = SourceLocation(found["path"], int(found["line"]), int(found["column"] or 0))
    if missing := _MISSING.search(found[0]):
        return SourceSyntaxError(
            f"the include file {missing[1]!r} was not found", where=where, witness=found[0],
            hint="name its folder with -I; the standard headers come with polysched, those of a system are not read")
    return SourceSyntaxError(f"the C compiler refuses the file: {found['text']}", where=where, witness=found[0],
                             hint="mend the file until the compiler accepts it, or pass the -I and -D it needs")
