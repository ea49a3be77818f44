"""Run the compilers and the source-to-source tools: within limits, and with what they say when they fail."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from kept import digest, made, polysched_key

from polysched.errors import CompileError
from polysched.experiment.contest import MissingToolError
from polysched.measure.measurement import Build
from polysched.measure.processes.building import first_lines
from polysched.measure.timing.machine import describe_machine

IVDEP = re.compile(r"#pragma\s+ivdep\b")
VECTOR_ALWAYS = re.compile(r"#pragma\s+vector\s+always\s*\n")
ERROR = re.compile(r"\berror\b|\bassertion\b|undefined reference", re.IGNORECASE)
TRACEBACK = "Traceback (most recent call last)"
CPU_SECONDS = 200
"""Of each process of a tool."""
WALL_SECONDS = 500
"""Of a tool as a whole, on a busy machine too; a case may take 600 s without progress."""
REPORT = "transformation.json"
SOURCE_TO_SOURCE = {"pluto": "polycc", "ppcg": "ppcg"}


def tool(command: str) -> str:
    """The path of a tool.

    Raises
    ------
    MissingToolError : it is not on the PATH.
    """
    found = shutil.which(command)
    if found is None:
        raise MissingToolError(f"{command} is not on the PATH")
    return found


def clang() -> str:
    """The newest clang that is expected, or what is there."""
    return next((c for c in ("clang-19", "clang") if shutil.which(c)), "clang-19")


def call(command: Sequence[str | Path], what: str, folder: Path,
         environment: Mapping[str, str | None] | None = None) -> str:
    """Run a tool; its standard output.

    The limit on CPU time holds for every process that the tool starts, so none of them outlives the tool for long.

    Parameters
    ----------
    environment : variables to set beside ours; None removes one.

    Raises
    ------
    CompileError : it fails, or takes too long; the witness is its own message.
    """
    variables = {k: v for k, v in {**os.environ, **(environment or {})}.items() if v is not None}
    try:
        done = subprocess.run(
            [str(c) for c in command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=WALL_SECONDS, check=False, env=variables,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5)))
    except subprocess.TimeoutExpired:
        raise CompileError(f"{what} took more than {WALL_SECONDS} s") from None
    if done.returncode:
        how = "failed" if done.returncode > 0 else f"crashed with {signal.Signals(-done.returncode).name}"
        raise CompileError(f"{what} {how}", witness=own_message(f"{done.stderr}\n{done.stdout}", str(folder)))
    return done.stdout


def own_message(text: str, folder: str) -> str:
    """What a tool says about its failure: the exception of a Python program, of any other its first error."""
    if TRACEBACK in text:
        after = text.rpartition(TRACEBACK)[2].splitlines()[1:]
        return first_lines("\n".join(line for line in after if not line.startswith(" ")), folder)
    lines = text.strip().splitlines()
    start = next((i for i, line in enumerate(lines) if ERROR.search(line)), 0)
    return first_lines("\n".join(lines[start:]), folder)


def compile_program(command: Sequence[str], options: Sequence[str | Path], source: Path, output: Path, *,
                    what: str, recorded: Sequence[str]) -> Build:
    """Compile a file, unless a kept output was made from the same text in the same way.

    Parameters
    ----------
    command : the compiler and the options that change the code.
    options : the others: where headers are, what to link; a path is a file that goes in.
    recorded : of the others, what belongs into a record.

    Raises
    ------
    CompileError : the compiler refuses it, or takes too long.
    """
    folder = output.parent
    version = call([command[0], "--version"], "asking a compiler for its version", folder).splitlines()[0]
    text = call([*command, *options, "-w", "-E", "-P", source], f"preprocessing for {what}", folder)
    machine = describe_machine()
    parts = {"command": list(command), "options": list(recorded), "version": version, "text": digest(text),
             "linked": [digest(o.read_bytes()) for o in options if isinstance(o, Path)],
             "processor": [machine.cpu, *machine.isa]}

    def make() -> Mapping[str, Any]:
        started = time.monotonic()
        call([*command, "-w", source, "-o", output, *options], f"compiling {what}", folder)
        return {"seconds": round(time.monotonic() - started, 4)}
    return Build(compiler=Path(command[0]).name, version=version, flags=(*command[1:], *recorded),
                 source_sha256=digest(source.read_text()), compile_seconds=made(output, parts, make)["seconds"])


def translate(name: str, source: Path, output: Path, include: Sequence[str], options: Sequence[str],
              sizes: Mapping[str, int]) -> None:
    """Source to source by polysched, Pluto or PPCG, unless a kept output was made from the same text in the same way.

    polysched also writes what a record keeps of the transformation: REPORT, with the work at these sizes.
    Pluto's pragma is respelled as gcc reads it; gcc ignores Pluto's own spelling, and says nothing.
    """
    folder = output.parent
    command, program = translation(name, source, output, include, options, sizes)
    text = call([tool("gcc"), *include, "-w", "-E", "-P", "-C", source], f"preprocessing for {program}", folder)

    def make() -> Mapping[str, Any]:
        call(command, program, folder)
        if not output.exists() or not output.stat().st_size:
            raise CompileError(f"{program} wrote nothing")
        if name == "pluto":
            output.write_text(respelled(output.read_text()))
        return {}
    database = Path(options[options.index("--database") + 1]) if "--database" in options else None
    made(output, {"command": [str(c) for c in command], "tool": tool_key(name), "text": digest(text),
                  **({"database": digest(database.read_bytes())} if database is not None else {})}, make)


def translation(name: str, source: Path, output: Path, include: Sequence[str], options: Sequence[str],
                sizes: Mapping[str, int]) -> tuple[list[str | Path], str]:
    """The command of a source-to-source tool, and what to call it."""
    if name == "polysched":
        stated = [word for parameter, value in sizes.items() for word in ("--size", f"{parameter}={value}")]
        return [sys.executable, "-m", "polysched", "c2c", source, "-o", output, "--json", output.parent / REPORT,
                *include, *stated, *options], "polysched c2c"
    if name == "pluto":
        return [tool("polycc"), source, "--tile", "--parallel", "-o", output], "polycc"
    return [tool("ppcg"), "--target=c", "--openmp", "--tile", *include, source, "-o", output], "ppcg"


def tool_key(name: str) -> str:
    """Which version of a tool it is: its file (of a script not what it calls), or polysched's own sources."""
    return polysched_key() if name == "polysched" else digest(Path(tool(SOURCE_TO_SOURCE[name])).read_bytes())


def tool_versions(names: Collection[str], folder: Path) -> dict[str, dict[str, str]]:
    """What those of these translators that are on the PATH say of their version, and the digest of the file."""
    return {name: {"version": stated_version(found, folder), "sha256": digest(Path(found).read_bytes())}
            for name, command in SOURCE_TO_SOURCE.items()
            if name in names and (found := shutil.which(command)) is not None}


def stated_version(command: str, folder: Path) -> str:
    """The first line that `--version` prints; polycc prints it and fails."""
    done = subprocess.run([command, "--version"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=WALL_SECONDS, check=False)
    return f"{done.stdout}\n{done.stderr}".strip().partition("\n")[0]


def respelled(text: str) -> str:
    """`#pragma ivdep` for gcc, and without the pragma that only Intel's compiler knows."""
    return IVDEP.sub("#pragma GCC ivdep", VECTOR_ALWAYS.sub("", text))
