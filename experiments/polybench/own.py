"""The variants of the project's own kernels: the C function in a shared object, and Numba on the Python version."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from kept import digest
from tools import call, clang, compile_program, tool, translate

from polysched.experiment import Contender, Entry, Program
from polysched.experiment.c_function import Arguments, command, described
from polysched.experiment.contest import MissingToolError
from polysched.experiment.contestant import program
from polysched.measure.measurement import Build
from polysched.measure.processes.call_interface import Slot, wrapper
from polysched.measure.programs.problem_size import choose_size
from polysched.measure.programs.slots import make_slots
from polysched.scop import from_c_file

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
SHARED = ("-fPIC", "-shared", "-fvisibility=hidden", "-w")
NUMBA = {"numba": "", "numba_outer": "outer", "numba_inner": "inner"}


@dataclass(frozen=True, kw_only=True)
class OwnKernel:
    """A kernel of this repository.

    Parameters
    ----------
    slots : its arguments, as JSON values.
    """

    name: str
    file: Path
    folder: Path
    config: Mapping[str, Any]
    recipe: str
    sizes: Mapping[str, int]
    slots: tuple[Slot, ...]


def kernels() -> dict[str, Path]:
    """Every kernel that exists in C and in Python."""
    return {p.stem: p for p in sorted(KERNELS.glob("*.c")) if p.with_suffix(".py").exists()}


def read(name: str, folder: Path, config: Mapping[str, Any]) -> OwnKernel:
    """Sizes from the configuration, else such that a run takes about a second."""
    file, own = kernels()[name], config.get("own", {}).get(name, {})
    scop = from_c_file(file)
    size = choose_size((scop,), own.get("sizes", {}))
    assert scop.source is not None
    assert scop.source.signature is not None
    slots = make_slots((scop,), scop.source.signature, size, given=own.get("sizes", {}), is_global=lambda name: False)
    return OwnKernel(name=name, file=file, folder=folder, config=config, recipe=own.get("recipe", "dominant"),
                     sizes=dict(size.spelled), slots=slots)


class Parallel(ast.NodeTransformer):
    """`range` becomes `prange` in the loops of one depth: `outer` the outermost, `inner` those directly inside."""

    def __init__(self, which: str) -> None:
        self.target = {"outer": 0, "inner": 1}[which]
        self.depth = 0

    def visit_For(self, node: ast.For) -> ast.For:
        if self.depth == self.target and isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and (
                node.iter.func.id == "range"):
            node.iter.func.id = "prange"
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node


@dataclass(frozen=True, kw_only=True)
class NumbaFunction:
    """A kernel as Numba compiles it, and what the C version calls its arguments."""

    call: Callable[..., Any]
    names: list[str]


def numba_function(file: Path, which: str) -> NumbaFunction:
    """The kernel's Python version, compiled by Numba; `which` loops are parallel (none when empty)."""
    import numba
    tree = ast.parse(file.read_text())
    if which:
        tree = Parallel(which).visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for argument in node.args.args:
                argument.annotation = None
    space: dict[str, Any] = {"prange": numba.prange}
    exec(compile(ast.fix_missing_locations(tree), str(file), "exec"), space)
    plain: Callable[..., Any] = space[file.stem]
    return NumbaFunction(call=numba.njit(parallel=bool(which), fastmath=False)(plain), names=c_names(plain))


def c_names(function: Callable[..., Any]) -> list[str]:
    """What the C version calls the arguments: some names are Python's own (`in`), which its `NAMES` says."""
    others: Mapping[str, str] = function.__globals__.get("NAMES", {})
    return [others.get(name, name) for name in inspect.signature(function).parameters]


def numba_entry(parameters: Mapping[str, Any]) -> Entry:
    """Numba's version, compiled before the first run."""
    import numba
    numba.set_num_threads(parameters["threads"])
    arguments = Arguments(parameters)
    function = numba_function(Path(parameters["file"]), parameters["which"])
    values = [arguments.arrays[n] if arguments.is_array[n] else arguments.arrays[n][()] for n in function.names]
    started = time.monotonic()
    function.call(*values)
    flags = ("njit", *(("parallel=True", f"prange={parameters['which']}") if parameters["which"] else ()))
    made = Build(compiler="numba", version=numba.__version__, flags=flags,
                 source_sha256=digest(Path(parameters["file"]).read_bytes()),
                 compile_seconds=round(time.monotonic() - started, 4))   # with the first run
    return Entry(call=lambda: function.call(*values), restore=arguments.restore, results=arguments.results,
                 note=f"Numba {numba.__version__}", build=made)


def library(kernel: OwnKernel, name: str, source: Path, compiler: Sequence[str],
            link: Sequence[str] = ()) -> Program:
    """Compile one version of the C file and run it as a contestant."""
    path = kernel.folder / f"lib{name}.so"   # polysched.so would be taken for a module by a Python that starts there
    around = kernel.folder / f"{name}_call.c"
    around.write_text(wrapper(source, kernel.name, kernel.slots))
    made = compile_program(compiler, [*SHARED, *link, "-lm"], around, path, what=name,
                           recorded=(*SHARED, *link, "-lm"))
    made = replace(made, source_sha256=digest(source.read_text()))
    return Program(command=command(path, kernel.slots, kernel.folder, name, recipe=kernel.recipe), build=made)


def with_numba(kernel: OwnKernel, which: str, threads: int) -> Program:
    if importlib.util.find_spec("numba") is None:
        raise MissingToolError("the package numba is not installed")
    parameters = described(kernel.slots, kernel.recipe) | {
        "file": str(kernel.file.with_suffix(".py")), "which": which, "threads": threads}
    return Program(command=program(Path(__file__), "numba_entry", parameters, kernel.folder,
                                   f"numba_{which}_{threads}"))


def without_macros(kernel: OwnKernel) -> Path:
    """The C file, its own macros expanded: Pluto's front end knows none.  What it includes stays included."""
    lines = kernel.file.read_text().splitlines()
    if not any(line.startswith("#define") for line in lines):
        return kernel.file
    included = [line for line in lines if line.startswith("#include")]
    rest = kernel.folder / f"rest_{kernel.file.name}"
    rest.write_text("\n".join(line for line in lines if line not in included))
    expanded = kernel.folder / f"expanded_{kernel.file.name}"
    text = call([tool("gcc"), "-E", "-P", rest], "preprocessing for pluto", kernel.folder)
    expanded.write_text("\n".join([*included, text]))
    return expanded


def contenders(kernel: OwnKernel, threads: Sequence[int], options: Sequence[str]) -> list[Contender]:
    """The same peers as for the original suite, and Numba."""
    config, plain = kernel.config, kernel.file

    def transformed(name: str) -> Program:
        output = kernel.folder / f"{name}_{kernel.file.name}"
        translate(name, without_macros(kernel) if name == "pluto" else plain, output, (), options, kernel.sizes)
        return library(kernel, name, output, [tool("gcc"), *config["gcc_flags"], "-fopenmp"], ())

    newest = clang()
    made = [Contender(name="gcc", make=lambda: library(kernel, "gcc", plain, [tool("gcc"), *config["gcc_flags"]])),
            Contender(name="clang", make=lambda: library(kernel, "clang", plain,
                                                         [tool(newest), *config["clang_flags"]])),
            Contender(name="numba", make=partial(with_numba, kernel, "", 1))]
    parallel: dict[str, Callable[[], Program]] = {
        "polly": lambda: library(kernel, "polly", plain, [tool(newest), *config["clang_flags"],
                                                          *config["polly_flags"]], ("-lgomp",)),
        **{name: partial(transformed, name) for name in ("pluto", "ppcg", "polysched")}}
    made += [Contender(name=f"{kind}@{count}", threads=count, make=make) for count in threads
             for kind, make in parallel.items()]
    made += [Contender(name=f"{name}@{max(threads)}", threads=max(threads),
                       make=partial(with_numba, kernel, which, max(threads))) for name, which in NUMBA.items() if which]
    return made
