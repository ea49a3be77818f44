"""Compile C text to a shared object in a private folder."""

from __future__ import annotations

import logging
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from polysched.errors import CompileError
from polysched.measure.processes.narrow_headers import with_narrow_headers
from polysched.measure.processes.spills import spilled_vectors
from polysched.records import dataclass
from polysched.target import Compiler

logger = logging.getLogger(__name__)

DEFAULT_FLAGS = ("-O3", "-march=native")
MESSAGE_LINES = 12
LINKED = ("-l", "-L", "-Wl,")


@dataclass(frozen=True, kw_only=True)
class Binary:
    """A compiled shared object.

    Parameters
    ----------
    path : where it stands; the folder belongs to the caller.
    compiler : what compiled it.
    flags : all options that change the code, in order.
    compile_seconds : wall time of the compiler.
    spills : stores of vector registers to the stack; None where nobody looked.
    """

    path: Path
    compiler: Compiler
    flags: tuple[str, ...]
    compile_seconds: float
    spills: int | None = None


def compile_shared(text: str, *, name: str, folder: Path, compiler: Compiler, flags: Sequence[str] = DEFAULT_FLAGS,
                   preprocessor: Sequence[str] = (), openmp: bool = True, what: str | None = None,
                   count_spills: bool = False) -> Binary:
    """Compile C text to the shared object `folder/name.so`.

    Only what the text marks with default visibility is exported, so two objects that define the same names
    can live in one process.

    Parameters
    ----------
    flags : compiler options; libraries among them come behind the source, whose calls they serve.
    preprocessor : `-I`, `-D` and the like.
    openmp : compile and link with the compiler's OpenMP options.
    what : what the text is, for the message of a refusal.
    count_spills : by the compiler's assembly text, from which the object is made then.

    Raises
    ------
    CompileError : the compiler refused it; the witness is the compiler's own message.
    """
    source = folder / f"{name}.c"
    library = folder / f"{name}.so"
    options = [*flags, *(compiler.openmp_compile if openmp else ())]
    before = [f for f in options if not f.startswith(LINKED)]
    started = time.monotonic()

    assembly = folder / f"{name}.s" if count_spills and not any(f.startswith("-flto") for f in flags) else None

    def compiled(text: str, warnings: str = "-w") -> subprocess.CompletedProcess[str]:
        source.write_text(text)
        linked = ["-o", str(library), "-Wl,--gc-sections", *(f for f in flags if f.startswith(LINKED)),
                  *(compiler.openmp_link if openmp else ()), "-lm"]
        own = [*before, warnings, "-fPIC", "-fvisibility=hidden", "-ffunction-sections", *preprocessor, str(source)]
        if assembly is None:
            return compiler.run([*own, "-shared", *linked], folder=folder)
        done = compiler.run([*own, "-S", "-o", str(assembly)], folder=folder)
        return done if done.returncode != 0 else compiler.run(
            [*before, "-w", "-shared", str(assembly), *linked], folder=folder)

    narrow = with_narrow_headers(text) if compiler.kind == "gcc" else None
    done = compiled(narrow, "-Werror=implicit-function-declaration") if narrow is not None else compiled(text)
    if narrow is not None and done.returncode != 0:
        logger.info("%s is compiled with all of immintrin.h: %s", name, first_lines(done.stderr, str(folder)))
        done = compiled(text)
    if done.returncode != 0:
        raise CompileError(f"{compiler} refused {what or name}", witness=first_lines(done.stderr, str(folder)),
                           hint=_hint(done.stderr))
    return Binary(path=library, compiler=compiler, flags=tuple(options),
                  compile_seconds=time.monotonic() - started, spills=None if assembly is None else spilled_vectors(
                      assembly.read_text(errors="replace")))


def compiles(text: str, *, folder: Path, compiler: Compiler, preprocessor: Sequence[str] = ()) -> bool:
    """Whether the compiler accepts the text; nothing is generated."""
    source = folder / "probe.c"
    source.write_text(text)
    return compiler.run(["-fsyntax-only", "-w", *preprocessor, str(source)], folder=folder).returncode == 0


_PATH = re.compile(r"(?<![\w./-])/(?:[\w.+~-]+/)+(?=[\w.+~-])")
_CRASH_REPORT = re.compile(r"PLEASE submit|Stack dump|\s*#\d+\s+0x|\d+\.\s+(?:Program arguments|\S+ parser at)")


def first_lines(message: str, folder: str) -> str:
    """The start of a compiler's message, errors first, and with nothing of the machine that it came from.

    Folders are left out of paths, and of a compiler that crashed its report with its command line and its stack.
    """
    plain = [_PATH.sub("", line.replace(f"{folder}/", "")) for line in message.strip().splitlines()]
    lines = [line for line in plain if not _CRASH_REPORT.match(line)]
    errors = [i for i, line in enumerate(lines) if "error" in line or "undefined reference" in line
              or "cannot find -l" in line]
    start = errors[0] if errors else 0
    return "\n    ".join(lines[start:start + MESSAGE_LINES])


_NO_DRIVER = "there is no driver of NVIDIA: install it; with POLYSCHED_CUDA_ON_CPU=1 the kernels run on the CPU"
_NO_CUDA = ("install the CUDA toolkit and set CUDA_HOME to its folder; with POLYSCHED_CUDA_ON_CPU=1 the kernels run "
            "on the CPU")


def _hint(message: str) -> str | None:
    """What to try, for the refusals that are usual."""
    if "omp" in message and ("not found" in message or "cannot find" in message or "unable to find" in message):
        return "the compiler's OpenMP library is missing: install it, or polysched[compiler], or use --cc"
    if "-l:libcuda.so" in message:
        return _NO_DRIVER
    if re.search(r"cuda\.h|nvrtc\.h|-lcuda|-lnvrtc", message):
        return _NO_CUDA
    if re.search(r"cannot find -l\w", message):
        return "the linker does not find a library: name its folder in LIBRARY_PATH"
    if "No such file" in message or "file not found" in message:
        return "name the folder of the missing header with -I"
    return None
