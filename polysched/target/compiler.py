"""The C compiler: found once, used for preprocessing and for compiling.

A compiler is looked for in this order: the one that the user names, `$CC`, `gcc`, `clang`, `cc`, and
last the one that the extra `polysched[compiler]` brings from PyPI: `python -m ziglang cc` (clang),
with the OpenMP library of the wheel `intel-openmp`.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from polysched.errors import CompileError, NoCompilerError
from polysched.records import dataclass

SYSTEM_COMPILERS = ("gcc", "clang", "cc")
CLANG_NAMES = ("clang", *(f"clang-{version}" for version in range(22, 13, -1)))
"""Under which names systems install it, the newest first."""
KINDS = ("gcc", "clang", "zig")
NO_COMPILER = ("no C compiler was found (tried $CC, gcc, clang, cc); install one, or bring one from PyPI: "
               "python -m pip install 'polysched[compiler]'")


@dataclass(frozen=True, kw_only=True)
class Compiler:
    """A C compiler that answered when it was asked for its version.

    Parameters
    ----------
    command : the words that start it; options follow.
    kind : `gcc`, `clang`, or `zig` (clang inside `zig cc`, which wants a cache folder of its own).
    version : the first line of what `--version` prints.
    openmp_compile, openmp_link : the options for compiling and for linking code with OpenMP pragmas.
    """

    command: tuple[str, ...]
    kind: str
    version: str
    openmp_compile: tuple[str, ...] = ("-fopenmp",)
    openmp_link: tuple[str, ...] = ("-fopenmp",)

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not self.command:
            raise ValueError(f"no compiler of the kind {self.kind!r} with the command {self.command!r}")

    def run(self, arguments: Sequence[str], *, source: str | None = None, folder: Path | None = None,
            timeout_seconds: float = 300.0) -> subprocess.CompletedProcess[str]:
        """Start the compiler and wait for it; messages are in English whatever the locale.

        Parameters
        ----------
        arguments : the words after the command.
        source : text for its standard input; nothing when None.
        folder : its working directory, which is also where it may leave a cache.

        Raises
        ------
        CompileError : it did not end in time, or could not be started.
        """
        environment = run_environment(self.kind, os.environ, folder)
        try:
            return subprocess.run(
                [*self.command, *arguments], input=source if source is not None else "", capture_output=True,
                encoding="utf-8", errors="surrogateescape", cwd=folder, env=environment,
                timeout=timeout_seconds, check=False)
        except subprocess.TimeoutExpired:
            raise CompileError(f"the compiler {self} did not end within {timeout_seconds:g} seconds",
                               witness=shlex.join(arguments)) from None
        except OSError as error:
            raise CompileError(f"the compiler {self} could not be started: {error.strerror}") from None

    def __str__(self) -> str:
        return shlex.join(self.command)


def run_environment(kind: str, environment: Mapping[str, str], folder: Path | None) -> dict[str, str]:
    """The environment that a compiler is started in: the locale C, and for zig a cache folder that is writable."""
    values = dict(environment) | {"LC_ALL": "C"}
    if kind != "zig":
        return values
    if folder is not None:
        values.setdefault("ZIG_LOCAL_CACHE_DIR", str(folder / "zig-cache"))
    home = values.get("XDG_CACHE_HOME") or values.get("HOME")
    if "ZIG_GLOBAL_CACHE_DIR" not in values and not (home and os.access(home, os.W_OK)):
        user = getattr(os, "getuid", lambda: 0)()
        values["ZIG_GLOBAL_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"polysched-zig-cache-{user}")
    return values


def find_compiler(cc: str | None = None) -> Compiler:
    """The compiler that `cc` names, or the first that this machine has.

    Parameters
    ----------
    cc : a command, with options if need be (`clang-19`, `ccache gcc`, `python -m ziglang cc`).

    Raises
    ------
    NoCompilerError : the one that was asked for (by `cc` or by `$CC`) does not run, or there is none at all.
    """
    for named_by, command in (("--cc", cc), ("$CC", os.environ.get("CC"))):
        if not command or not command.strip():
            continue
        found = _probe(tuple(shlex.split(command)), os.environ.get("PATH", ""))
        if found is None:
            raise NoCompilerError(f"the compiler {command!r} that {named_by} names does not run",
                                  hint="give the name or path of a C compiler, or leave it out")
        return found
    for name in SYSTEM_COMPILERS:
        found = _probe((name,), os.environ.get("PATH", ""))
        if found is not None:
            return found
    if importlib.util.find_spec("ziglang") is not None:
        found = _probe((sys.executable, "-m", "ziglang", "cc"), os.environ.get("PATH", ""))
        if found is not None:
            return found
    raise NoCompilerError(NO_COMPILER)


@lru_cache(maxsize=32)
def _probe(command: tuple[str, ...], path: str) -> Compiler | None:
    """Ask a command for its version and for `__clang__`; None when it is not a working C compiler.

    The search path is an argument only so that the answer is remembered per search path.
    """
    if shutil.which(command[0], path=path) is None:
        return None
    is_zig = any(Path(word).name in ("zig", "ziglang") for word in command)
    environment = run_environment("zig" if is_zig else "gcc", os.environ, None)
    answers = []
    for arguments in (["--version"], ["-dM", "-E", "-x", "c", os.devnull]):
        try:
            done = subprocess.run([*command, *arguments], capture_output=True, encoding="utf-8", errors="replace",
                                  stdin=subprocess.DEVNULL, env=environment, timeout=120, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode != 0:
            return None
        answers.append(done.stdout)
    version, macros = answers
    if "__STDC__" not in macros:
        return None
    kind = "zig" if is_zig else "clang" if "__clang__" in macros else "gcc"
    compile_options, link_options = _zig_openmp() if is_zig else (("-fopenmp",), ("-fopenmp",))
    first_line = (version.strip() or "unknown version").splitlines()[0]
    return Compiler(command=command, kind=kind, version=f"zig cc, {first_line}" if is_zig else first_line,
                    openmp_compile=compile_options, openmp_link=link_options)


def _zig_openmp() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The OpenMP options for `zig cc`, which has no OpenMP library: that of the wheel `intel-openmp` is linked.

    Without the wheel plain `-fopenmp` remains, and the linker then says that the library is missing.
    """
    from importlib import metadata  # a tenth of what a process takes to start that compiles nothing with zig
    include: tuple[str, ...] = ()
    library: Path | None = None
    try:
        files = metadata.files("intel-openmp") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "libiomp5.so":
            library = Path(str(file.locate())).resolve().parent
        elif file.name == "omp.h":
            include = ("-isystem", str(Path(str(file.locate())).resolve().parent))
    if library is None:
        return ("-fopenmp",), ("-fopenmp",)
    return (("-fopenmp", *include),
            ("-fopenmp", f"-L{library}", "-liomp5", f"-Wl,-rpath,{library}"))
