"""The variants of a kernel of the original suite: each with the suite's own main, and a loop around the call."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kept import digest
from tools import call, clang, compile_program, tool, translate
from tuned import Tuning

from polysched.experiment import Contender, Program
from polysched.measure.processes.perf_counters import specification

HARNESS = Path(__file__).parent / "harness"
INITIALISATION = re.compile(r"^(\s*)init_array\s*\(", re.MULTILINE)
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
        if (snapshot := self.snapshot()) is not None:
            values["HARNESS_SNAPSHOT"] = str(snapshot)
        if "fill" in self.settings:
            values["HARNESS_FILL"] = self.settings["fill"]
        return values

    def snapshot(self) -> Path | None:
        """Where the initialised arrays are kept; None where every variant initialises its own."""
        if not self.settings.get("snapshot"):
            return None
        return self.folder / f"snapshot_{digest(self.dataset + self.file.read_text())[:16]}"

    def source(self) -> Path:
        """The kernel's file, its initialisation skipped where a snapshot replaces it."""
        path, text = self.folder / self.file.name, self.file.read_text()
        if self.settings.get("snapshot"):
            main = text.index("int main")
            text = text[:main] + INITIALISATION.sub(r"\1if (harness_fresh()) init_array (", text[main:], count=1)
        path.write_text(text)
        return path


def kernels_of(root: Path) -> dict[str, Path]:
    """Every kernel file of the suite, by name, in the suite's own order."""
    listed = (root / "utilities" / "benchmark_list").read_text().split()
    return {Path(line).stem: root / line for line in listed}


def build(kernel: Kernel, source: Path, name: str, command: Sequence[str], link: Sequence[str] = ()) -> Program:
    """Compile a variant with the harness."""
    harness, dataset = kernel.folder / "harness.o", f"-D{kernel.dataset}_DATASET"
    compile_program([tool("gcc"), "-O2"], ["-c"], HARNESS / "harness.c", harness, what="the harness", recorded=())
    made = compile_program(command, [*kernel.include, dataset, harness, *link, "-lm"], source,
                           kernel.folder / f"{name}.program", what=name, recorded=(dataset, *link, "-lm"))
    return Program(command=(str(kernel.folder / f"{name}.program"),), environment=kernel.environment, build=made)


def compiled(kernel: Kernel, name: str, compiler: str, flags: Sequence[str], link: Sequence[str] = (), *,
             exact: bool = False) -> Program:
    """The file as it is, through one compiler; `exact`: without contraction of products and sums."""
    return build(kernel, kernel.source(), *_exactly(name, [tool(compiler), *flags], exact), link)


def _exactly(name: str, command: list[str], exact: bool) -> tuple[str, list[str]]:
    return (f"{name}-exact", [*command, "-ffp-contract=off"]) if exact else (name, command)


def translated(kernel: Kernel, name: str, options: Sequence[str], *, exact: bool = False) -> Program:
    """One tool's output through gcc; `exact`: without contraction of products and sums."""
    output = kernel.folder / f"{name}.c"
    translate(name, kernel.source(), output, (*kernel.include, f"-D{kernel.dataset}_DATASET"), options,
              sizes_of(kernel))
    return build(kernel, output, *_exactly(name, [tool("gcc"), *kernel.config["gcc_flags"], "-fopenmp"], exact))


def contenders(kernel: Kernel, threads: Sequence[int], options: Sequence[str]) -> list[Contender]:
    """gcc and clang once, everything parallel for each number of threads."""
    config, command = kernel.config, clang()
    single: dict[str, Callable[..., Program]] = {
        "gcc": partial(compiled, kernel, "gcc", "gcc", config["gcc_flags"]),
        "clang": partial(compiled, kernel, "clang", command, config["clang_flags"])}
    parallel: dict[str, Callable[..., Program]] = {
        "polly": partial(compiled, kernel, "polly", command, [*config["clang_flags"], *config["polly_flags"]],
                         ["-lgomp"]),
        **{name: partial(translated, kernel, name, options) for name in ("pluto", "ppcg", "polysched")}}
    return [Contender(name=name, make=make, exact=partial(make, exact=True)) for name, make in single.items()] + [
        Contender(name=f"{kind}@{count}", make=make, exact=partial(make, exact=True), threads=count)
        for kind, make in parallel.items() for count in threads]


def initialise(kernel: Kernel) -> None:
    """Run an initialisation that costs more than its kernel, once for all variants and runs."""
    snapshot = kernel.snapshot()
    if snapshot is not None and not snapshot.exists():
        program = compiled(kernel, "gcc", "gcc", kernel.config["gcc_flags"])
        call(program.command, "the initialisation", kernel.folder, environment=program.environment)


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


def tuning(kernel: Kernel) -> Tuning:
    """What is searched of a kernel: its function at the sizes of the data set."""
    folders = tuple(word[2:] for word in kernel.include if word.startswith("-I"))
    return Tuning(file=kernel.source(), sizes=sizes_of(kernel), include_dirs=folders,
                  defines=(f"{kernel.dataset}_DATASET",))


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
