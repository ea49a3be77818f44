"""Kernels: a fragment of a graph through the pipeline to an object file, once per fragment, kept in the cache."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from polysched.emit_c.alternatives.shared_team import shared_by_team
from polysched.emit_c.function import CFunction, function_around
from polysched.errors import CompileError, PolyschedError
from polysched.graph.planning.expressions import has_stages, scop_of
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import from_text, to_text
from polysched.measure.processes.building import DEFAULT_FLAGS, first_lines
from polysched.model.limits import LIMITS
from polysched.model.stitched import stitched_fragment
from polysched.model.variants import Asked, Candidate, predicted_seconds
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.options import BEST, PipelineOptions
from polysched.records import dataclass
from polysched.scop.signature import ParameterKind
from polysched.search.as_functions import function_of
from polysched.search.lookup import optimize, state_of
from polysched.target import Compiler, build_cache, find_compiler

KIND = "models"
FLAGS = (*DEFAULT_FLAGS, "-fwrapv")
WITHOUT_PRE = """#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize ("no-tree-pre")
#endif
"""
"""Ahead of a kernel: partial redundancy elimination of GCC 12 keeps the addresses of a register block's rows apart, in
more registers than there are."""
OBJECT, SOURCE, RECORD, PREDICTED = "kernel.o", "kernel.c", "entry.json", "predicted.json"


TYPICAL = Asked()
"""A kernel for the sizes that the models take by themselves."""


@dataclass(frozen=True, kw_only=True)
class BuiltKernel:
    """A compiled fragment.

    Parameters
    ----------
    symbol : the C function `int symbol(void *const *arrays, const long *sizes)`: inputs, then outputs; 0 where there
        was memory for its temporaries.
    folder : of the cache, with the object file and the C source.
    """

    symbol: str
    folder: Path

    @property
    def object(self) -> Path:
        """The object file."""
        return self.folder / OBJECT

    @property
    def source(self) -> str:
        """The C."""
        return (self.folder / SOURCE).read_text()

    def candidate(self, likely: int) -> Candidate:
        """The kernel as code for a likely value, with what was predicted for it."""
        found = json.loads((self.folder / PREDICTED).read_text())
        return Candidate(function=self.symbol, likely=likely, digest=found["digest"],
                         seconds={int(size): seconds for size, seconds in found["seconds"].items()})


def symbol_of(fragment: Graph, options: PipelineOptions, *, shared: bool = False, said: str | None = None) -> str:
    """The name of a fragment's function: equal fragments have equal names.

    Parameters
    ----------
    shared : every thread of a team calls it.
    said : `said_of` the options, for callers that name many.
    """
    text = to_text(fragment) + (said_of(options) if said is None else said) + " shared" * shared
    return f"polysched_k_{hashlib.sha256(text.encode()).hexdigest()[:20]}"


def said_of(options: PipelineOptions) -> str:
    """What the name of a kernel says of its options."""
    return json.dumps(in_any_order(options).differences(), sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class Order:
    """A kernel to build: plain values, so that another process can do it.

    Parameters
    ----------
    text : the fragment.
    symbol : its function.
    key : its entry of the cache.
    asked : the sizes that it is made and predicted for, and whether a team shares it.
    """

    text: str
    symbol: str
    key: str
    asked: Asked = TYPICAL


def build_kernels(fragments: Sequence[Graph], options: PipelineOptions,
                  asked: Sequence[Asked] | None = None) -> dict[str, BuiltKernel]:
    """The kernels of fragments by their symbol, each built once; several at a time where several are missing.

    Parameters
    ----------
    asked : the sizes that each is made for; None for those that the models take.

    Raises
    ------
    PolyschedError : a stage of the pipeline or the compiler refuses one.
    """
    options = in_any_order(options)
    compiler = find_compiler(options.cc)
    said = said_of(options)
    wanted = {symbol_of(f, for_sizes(options, a), shared=a.shared, said=None if a.assumed else said): (f, a)
              for f, a in zip(fragments, asked or [TYPICAL] * len(fragments), strict=True)}
    orders = [Order(text=to_text(f), symbol=s, key=_key(s, options, compiler, a), asked=a)
              for s, (f, a) in wanted.items()]
    missing = [o for o in orders if build_cache.found(o.key, kind=KIND) is None]
    if len(missing) >= LIMITS.least_for_a_worker:
        with worker(missing[::-1], options):
            build_orders(missing, options)
    build_orders(missing, options)
    folders = {o.symbol: build_cache.cache_folder(KIND) / o.key for o in orders}
    return {symbol: BuiltKernel(symbol=symbol, folder=folder) for symbol, folder in folders.items()}


@contextmanager
def worker(orders: Sequence[Order], options: PipelineOptions) -> Iterator[subprocess.Popen[bytes]]:
    """A second process that builds kernels from the other end of the list; what it fails at, its parent reports."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = subprocess.Popen([sys.executable, "-m", "polysched.model.kernel_worker"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    assert process.stdin is not None
    try:
        process.stdin.write(pickle.dumps((list(orders), options)))
        process.stdin.close()
        yield process
    finally:
        process.terminate()
        process.wait()


def build_orders(orders: Sequence[Order], options: PipelineOptions) -> None:
    """Build kernels one after the other, those that are not there."""
    compiler = find_compiler(options.cc)
    for order in orders:
        build_cache.find_or_build(order.key, partial(_build, order, options, compiler), kind=KIND)


def for_sizes(options: PipelineOptions, asked: Asked) -> PipelineOptions:
    """The options with the sizes that a kernel is made for."""
    return replace(options, assumed=asked.assumed) if asked.assumed else options


def _key(symbol: str, options: PipelineOptions, compiler: Compiler, asked: Asked) -> str:
    predicted = {"predicted": [asked.parameter, *asked.sampled]} if asked.sampled else {}
    return build_cache.entry_key({"kernel": symbol, "options": options.differences(), "flags": list(FLAGS),
                                  "ahead": WITHOUT_PRE, **predicted, **of_database(options)}, compiler)


def of_database(options: PipelineOptions) -> dict[str, str]:
    """What names the records of a database in a key of the cache."""
    return {} if options.database is None else {"database": state_of(options)}


def _build(order: Order, options: PipelineOptions, compiler: Compiler, folder: Path) -> None:
    made = optimized_kernel(from_text(order.text), for_sizes(options, order.asked))
    text, function = source_of(made, order.symbol, shared=order.asked.shared)
    flags, region = made.options.flags, f"{order.symbol}_region"
    if order.asked.sampled:
        digest = hashlib.sha256(function.text.replace(region, "region").encode()).hexdigest()
        (folder / PREDICTED).write_text(json.dumps({"digest": digest, "seconds": predicted_seconds(made, order.asked)}))
    (folder / SOURCE).write_text(text)
    compile_object(folder / SOURCE, folder / OBJECT, compiler, what=f"the kernel {order.symbol}", flags=flags)
    (folder / RECORD).write_text(json.dumps({"fragment": order.text, "options": options.differences()}))


def source_of(made: Optimized, symbol: str, *, shared: bool) -> tuple[str, CFunction]:
    """The C of a kernel, and the function of its region.

    Parameters
    ----------
    shared : every thread of a team calls it, and shares its loop; one thread does all of it where it has no team.
    """
    part, region = shared_by_team(made.source) if shared else None, f"{symbol}_region"
    function = function_of(made, name=region) if part is None else function_around(part, name=region)
    if shared and part is None:
        return WITHOUT_PRE + function.text + adapter(function, f"{symbol}_whole") + by_one_thread(symbol), function
    return WITHOUT_PRE + function.text + adapter(function, symbol), function


def emitted(fragment: Graph, options: PipelineOptions, name: str) -> tuple[CFunction, tuple[str, ...]]:
    """The C function of a fragment by the pipeline, or by what a database has for it; and its compiler's flags."""
    made = optimized_kernel(fragment, options)
    return function_of(made, name=name), made.options.flags


def optimized_kernel(fragment: Graph, options: PipelineOptions) -> Optimized:
    """All stages of a fragment: several operators in one loop over tiles, where that is legal."""
    options = in_any_order(options)
    one = has_stages(fragment) and options.scheduler != BEST   # which compares schedules, and has none to stitch
    found = stitched_fragment(fragment, options) if one else None
    return optimize(scop_of(fragment), options) if found is None else optimize(found.scop, found.options)


def in_any_order(options: PipelineOptions) -> PipelineOptions:
    """Options under which sums in double of shorter numbers are added up in lanes: operators prescribe no order."""
    return options.but(wide_sums=True)


def why_alone(fragment: Graph, options: PipelineOptions) -> str:
    """Why kernels of a fragment do not share a parallel region; empty where they do."""
    try:
        source = optimized_kernel(fragment, options).source
    except PolyschedError as error:
        return error.problem
    if source.teams and shared_by_team(source) is None:
        return "side by side: the kernel is more than one parallel loop"
    return ""


def adapter(function: CFunction, symbol: str) -> str:
    """A function that takes pointers and sizes as two arrays, around one that takes them one by one.

    The sizes of a fragment are n0, n1, ... in the order of the array; its Scop has them as they first occur in it.
    """
    arguments, arrays = [], 0
    parameters = [p.name for p in function.source.scop.parameters]
    for place, parameter in enumerate(function.signature.parameters):
        if place < len(parameters):
            arguments.append(f"sizes[{parameters[place].removeprefix('n')}]")
            continue
        by_value = parameter.kind is not ParameterKind.ARRAY
        assert parameter.dtype is not None
        arguments.append(f"*({parameter.dtype.c_name} *)arrays[{arrays}]" if by_value else f"arrays[{arrays}]")
        arrays += 1
    name, call = function.signature.name, ", ".join(arguments)
    body = f"return {name}({call});" if function.signature.return_type == "int" else f"{name}({call}); return 0;"
    return f"\nint {symbol}(void *const *arrays, const long *sizes) {{\n  (void)sizes;\n  {body}\n}}\n"


def by_one_thread(symbol: str) -> str:
    """A function that every thread of a team calls, and that one of them runs."""
    return (f"\nint {symbol}(void *const *arrays, const long *sizes) {{\n  int status = 0;\n"
            f"#pragma omp single nowait\n  status = {symbol}_whole(arrays, sizes);\n  return status;\n}}\n")


def compile_object(source: Path, target: Path, compiler: Compiler, *, what: str, flags: tuple[str, ...] = (),
                   hidden: bool = True) -> None:
    """Compile a C file to an object file.

    Parameters
    ----------
    flags : behind those of all kernels.
    hidden : whether no other file of a process sees the functions, unless they say so.

    Raises
    ------
    CompileError : the compiler refused it.
    """
    done = compiler.run([*FLAGS, *flags, *compiler.openmp_compile, "-w", "-fPIC",
                         *(["-fvisibility=hidden"] if hidden else []), "-fno-strict-aliasing", "-c", str(source), "-o",
                         str(target)], folder=target.parent)
    if done.returncode != 0:
        raise CompileError(f"{compiler} refused {what}", witness=first_lines(done.stderr, str(target.parent)),
                           hint="name another compiler, by options, on the command line by --cc")


def link_library(objects: Sequence[Path], library: Path, compiler: Compiler, *, what: str) -> None:
    """Link object files to a shared object.

    Parameters
    ----------
    objects : the first one stands in a folder of the caller's, where the compiler runs.

    Raises
    ------
    CompileError : the compiler refused them.
    """
    folder = objects[0].parent
    done = compiler.run(["-shared", "-fPIC", "-o", str(library.absolute()), *map(str, objects), *compiler.openmp_link,
                         "-lm"], folder=folder)
    if done.returncode != 0:
        raise CompileError(f"{compiler} cannot link {what}", witness=first_lines(done.stderr, str(folder)),
                           hint="name another compiler, by options, on the command line by --cc")
