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
from dataclasses import dataclass
from pathlib import Path

from polysched.emit_c.function import CFunction, emit_function, function_around
from polysched.errors import CompileError
from polysched.graph.planning.expressions import scop_of
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import from_text, to_text
from polysched.measure.processes.building import DEFAULT_FLAGS, first_lines
from polysched.model.limits import LIMITS
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop.signature import ParameterKind
from polysched.target import Compiler, build_cache, find_compiler

KIND = "models"
FLAGS = (*DEFAULT_FLAGS, "-fwrapv")
OBJECT, SOURCE, RECORD = "kernel.o", "kernel.c", "entry.json"


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


def symbol_of(fragment: Graph, options: PipelineOptions) -> str:
    """The name of a fragment's function: equal fragments have equal names."""
    text = to_text(fragment) + json.dumps(options.differences(), sort_keys=True)
    return f"polysched_k_{hashlib.sha256(text.encode()).hexdigest()[:20]}"


def build_kernels(fragments: Sequence[Graph], options: PipelineOptions) -> dict[str, BuiltKernel]:
    """The kernels of fragments by their symbol, each built once; several at a time where several are missing.

    Raises
    ------
    PolyschedError : a stage of the pipeline or the compiler refuses one.
    """
    compiler = find_compiler(options.cc)
    wanted = {symbol_of(f, options): f for f in fragments}
    keys = {symbol: _key(symbol, options, compiler) for symbol in wanted}
    missing = [s for s in wanted if build_cache.found(keys[s], kind=KIND) is None]
    if len(missing) >= LIMITS.least_for_a_worker:
        with worker([to_text(wanted[s]) for s in reversed(missing)], options):
            for symbol in missing:
                build_one(wanted[symbol], options, compiler, keys[symbol])
    return {s: BuiltKernel(symbol=s, folder=build_one(f, options, compiler, keys[s])) for s, f in wanted.items()}


@contextmanager
def worker(texts: Sequence[str], options: PipelineOptions) -> Iterator[None]:
    """A second process that builds kernels from the other end of the list; what it fails at, its parent reports."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = subprocess.Popen([sys.executable, "-m", "polysched.model.kernel_worker"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    assert process.stdin is not None
    try:
        process.stdin.write(pickle.dumps((list(texts), options)))
        process.stdin.close()
        yield
    finally:
        process.terminate()
        process.wait()


def build_texts(texts: Sequence[str], options: PipelineOptions) -> None:
    """Build the kernels of fragments given as texts, one after the other, those that are not there."""
    compiler = find_compiler(options.cc)
    for text in texts:
        fragment = from_text(text)
        build_one(fragment, options, compiler, _key(symbol_of(fragment, options), options, compiler))


def build_one(fragment: Graph, options: PipelineOptions, compiler: Compiler, key: str) -> Path:
    """The folder of a kernel; built where it is not there."""
    return build_cache.find_or_build(key, lambda folder: _build(fragment, options, compiler, folder), kind=KIND)


def _key(symbol: str, options: PipelineOptions, compiler: Compiler) -> str:
    return build_cache.entry_key({"kernel": symbol, "options": options.differences(), "flags": list(FLAGS)}, compiler)


def _build(fragment: Graph, options: PipelineOptions, compiler: Compiler, folder: Path) -> None:
    symbol = symbol_of(fragment, options)
    function = emitted(fragment, options, f"{symbol}_region")
    (folder / SOURCE).write_text(function.text + adapter(function, symbol))
    compile_object(folder / SOURCE, folder / OBJECT, compiler, what=f"the kernel {symbol}")
    (folder / RECORD).write_text(json.dumps({"fragment": to_text(fragment), "options": options.differences()}))


def emitted(fragment: Graph, options: PipelineOptions, name: str) -> CFunction:
    """The C function of a fragment, by the pipeline."""
    optimized = optimize(scop_of(fragment), options)
    if optimized.source.preamble:
        return function_around(optimized.source, name=name)
    return emit_function(optimized.tiled, name=name, options=options.emit_options())


def adapter(function: CFunction, symbol: str) -> str:
    """A function that takes pointers and sizes as two arrays, around one that takes them one by one."""
    arguments, sizes, arrays = [], 0, 0
    parameters = [p.name for p in function.source.scop.parameters]
    for parameter in function.signature.parameters:
        if sizes < len(parameters):
            arguments.append(f"sizes[{sizes}]")
            sizes += 1
            continue
        by_value = parameter.kind is not ParameterKind.ARRAY
        assert parameter.dtype is not None
        arguments.append(f"*({parameter.dtype.c_name} *)arrays[{arrays}]" if by_value else f"arrays[{arrays}]")
        arrays += 1
    name, call = function.signature.name, ", ".join(arguments)
    body = f"return {name}({call});" if function.signature.return_type == "int" else f"{name}({call}); return 0;"
    return f"\nint {symbol}(void *const *arrays, const long *sizes) {{\n  (void)sizes;\n  {body}\n}}\n"


def compile_object(source: Path, target: Path, compiler: Compiler, *, what: str) -> None:
    """Compile a C file to an object file.

    Raises
    ------
    CompileError : the compiler refused it.
    """
    done = compiler.run([*FLAGS, *compiler.openmp_compile, "-w", "-fPIC", "-fvisibility=hidden",
                         "-fno-strict-aliasing", "-c", str(source), "-o",
                         str(target)], folder=target.parent)
    if done.returncode != 0:
        raise CompileError(f"{compiler} refused {what}", witness=first_lines(done.stderr, str(target.parent)))
