"""The variants of a kernel of the original suite: each with the suite's own main, and a loop around the call."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from polysched.errors import CompileError
from polysched.experiment import Contender, Program
from polysched.experiment.contest import MissingToolError
from polysched.measure.building import first_lines
from polysched.measure.measurement import Build
from polysched.measure.perf_counters import specification

HARNESS = Path(__file__).parent / "harness"
INITIALISATION = re.compile(r"^(\s*)init_array\s*\(", re.MULTILINE)
IVDEP = re.compile(r"#pragma\s+ivdep\b")
VECTOR_ALWAYS = re.compile(r"#pragma\s+vector\s+always\s*\n")
TOOL_SECONDS = 300
REPORT = "polysched.json"
HEADING = re.compile(r"void\s+kernel_\w+\s*\(([^{]*)\{")


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A kernel of the suite at one size.

    Parameters
    ----------
    root : the suite.
    file : the kernel as distributed.
    folder : a private one for everything that is made.
    settings : the table [kernel.NAME] of the configuration.
    config : the whole configuration.
    """

    name: str
    root: Path
    file: Path
    dataset: str
    folder: Path
    settings: Mapping[str, Any]
    config: Mapping[str, Any]

    @property
    def include(self) -> tuple[str, ...]:
        return (f"-I{HARNESS}", f"-I{self.root / 'utilities'}", f"-I{self.file.parent}")

    @property
    def environment(self) -> dict[str, str | None]:
        values: dict[str, str | None] = {"HARNESS_EVENTS": specification()}
        if self.settings.get("snapshot"):
            values["HARNESS_SNAPSHOT"] = str(self.folder / "snapshot")
        if "fill" in self.settings:
            values["HARNESS_FILL"] = self.settings["fill"]
        return values

    def source(self) -> Path:
        """The kernel's file, its initialisation skipped where a snapshot replaces it."""
        path = self.folder / self.file.name
        if not path.exists():
            text = self.file.read_text()
            if self.settings.get("snapshot"):
                main = text.index("int main")
                text = text[:main] + INITIALISATION.sub(r"\1if (harness_fresh()) init_array (", text[main:], count=1)
            path.write_text(text)
        return path


def kernels_of(root: Path) -> dict[str, Path]:
    """Every kernel file of the suite, by name, in the suite's own order."""
    listed = (root / "utilities" / "benchmark_list").read_text().split()
    return {Path(line).stem: root / line for line in listed}


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


def call(command: Sequence[str | Path], what: str, folder: Path) -> str:
    """Run a tool; its standard output.

    Raises
    ------
    CompileError : it fails, or takes too long.
    """
    try:
        done = subprocess.run([str(c) for c in command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=TOOL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise CompileError(f"{what} took more than {TOOL_SECONDS} s") from None
    if done.returncode:
        raise CompileError(f"{what} failed", witness=first_lines(done.stderr or done.stdout, str(folder)))
    return done.stdout


def build(kernel: Kernel, source: Path, name: str, command: Sequence[str], link: Sequence[str] = ()) -> Program:
    """Compile a variant with the harness."""
    harness, program = kernel.folder / "harness.o", kernel.folder / f"{name}.program"
    if not harness.exists():
        call([tool("gcc"), "-O2", "-c", HARNESS / "harness.c", "-o", harness], "compiling the harness", kernel.folder)
    started = time.monotonic()
    call([*command, *kernel.include, f"-D{kernel.dataset}_DATASET", "-w", source, harness, "-o", program, *link, "-lm"],
         f"compiling {name}", kernel.folder)
    made = built(command, (f"-D{kernel.dataset}_DATASET", *link, "-lm"), source, time.monotonic() - started,
                 kernel.folder)
    return Program(command=(str(program),), environment=kernel.environment, build=made)


def built(command: Sequence[str], more: Sequence[str], source: Path, seconds: float, folder: Path) -> Build:
    """What a record keeps of a compilation: the compiler and its version, what changes the code, the source."""
    version = call([command[0], "--version"], "asking a compiler for its version", folder).splitlines()[0]
    return Build(compiler=Path(command[0]).name, version=version, flags=(*command[1:], *more),
                 source_sha256=hashlib.sha256(source.read_bytes()).hexdigest(), compile_seconds=round(seconds, 4))


def compiled(kernel: Kernel, name: str, compiler: str, flags: Sequence[str], link: Sequence[str] = ()) -> Program:
    """The file as it is, through one compiler."""
    return build(kernel, kernel.source(), name, [tool(compiler), *flags], link)


def translate(name: str, source: Path, output: Path, include: Sequence[str], options: Sequence[str],
              folder: Path, sizes: Mapping[str, int] | None = None) -> None:
    """Source to source by polysched, Pluto or PPCG.

    polysched also writes what a record keeps of the transformation: REPORT, with the work at these sizes.
    Pluto's pragma is respelled as gcc reads it; gcc ignores Pluto's own spelling, and says nothing.
    """
    if name == "polysched":
        call([sys.executable, "-m", "polysched", "c2c", source, "-o", output, "--json", folder / REPORT, *include,
              *(word for name, value in (sizes or {}).items() for word in ("--size", f"{name}={value}")), *options],
             "polysched c2c", folder)
    elif name == "pluto":
        call([tool("polycc"), source, "--tile", "--parallel", "--noprevector", "-o", output], "polycc", folder)
        output.write_text(respelled(output.read_text()))
    else:
        call([tool("ppcg"), "--target=c", "--openmp", "--tile", *include, source, "-o", output], "ppcg", folder)


def respelled(text: str) -> str:
    """`#pragma ivdep` for gcc, and without the pragma that only Intel's compiler knows."""
    return IVDEP.sub("#pragma GCC ivdep", VECTOR_ALWAYS.sub("", text))


def translated(kernel: Kernel, tool_name: str, options: Sequence[str], name: str) -> Program:
    """One tool's output through gcc; the tool runs once for all numbers of threads."""
    output = kernel.folder / f"{tool_name}.c"
    if not output.exists():
        translate(tool_name, kernel.source(), output, (*kernel.include, f"-D{kernel.dataset}_DATASET"), options,
                  kernel.folder, sizes_of(kernel))
    return build(kernel, output, name, [tool("gcc"), *kernel.config["gcc_flags"], "-fopenmp"])


def clang() -> str:
    """The newest clang that is expected, or what is there."""
    return next((c for c in ("clang-19", "clang") if shutil.which(c)), "clang-19")


def contenders(kernel: Kernel, threads: Sequence[int], options: Sequence[str]) -> list[Contender]:
    """gcc and clang once, everything parallel for each number of threads."""
    config, command = kernel.config, clang()
    made = [Contender(name="gcc", make=partial(compiled, kernel, "gcc", "gcc", config["gcc_flags"])),
            Contender(name="clang", make=partial(compiled, kernel, "clang", command, config["clang_flags"]))]
    parallel: dict[str, Callable[[str], Program]] = {
        "polly": lambda name: compiled(kernel, name, command, [*config["clang_flags"], *config["polly_flags"]],
                                       ["-lgomp"]),
        **{name: partial(translated, kernel, name, options) for name in ("pluto", "ppcg", "polysched")}}
    for kind, make in parallel.items():
        made += [Contender(name=f"{kind}@{count}", make=partial(make, f"{kind}_{count}"), threads=count)
                 for count in threads]
    return made


def macros(kernel: Kernel) -> dict[str, int]:
    """The sizes of the data set, by macro."""
    text = call([tool("gcc"), "-E", "-dM", *kernel.include, f"-D{kernel.dataset}_DATASET", kernel.source()],
                "preprocessing", kernel.folder)
    return {name: int(value) for name, value in re.findall(r"^#define (\w+) (\d+)$", text, re.MULTILINE)}


def sizes_of(kernel: Kernel) -> dict[str, int]:
    """The parameters of the kernel's function that are sizes of the data set: `n` has the value of the macro `N`."""
    heading, found = HEADING.search(kernel.file.read_text()), macros(kernel)
    names = re.findall(r"\bint\s+(\w+)", heading[1]) if heading is not None else []
    return {name: found[name.upper()] for name in names if name.upper() in found}


def determined(kernel: Kernel) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Sets to zero what the input does not determine (`ignore` of the configuration), before results are compared."""
    found = macros(kernel)
    rules = [(rule["array"], found[rule["macro_row"]], found[rule["macro_from"]])
             for rule in kernel.settings.get("ignore", ())]

    def view(arrays: dict[str, Any]) -> dict[str, Any]:
        for name, row, first in rules:
            arrays[name].reshape(-1, row)[:, first:] = 0
        return arrays
    return view
