"""`@polysched.block_program`: one function run by many program ids over blocks of NumPy arrays."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polysched.emit_gpu.nvrtc import KernelResources
from polysched.errors import UsageError
from polysched.kernel import triton_calls
from polysched.kernel.decorated import Kernel
from polysched.kernel.given_arrays import as_numpy
from polysched.kernel.specialisation import Specialisation, array_arguments
from polysched.kernel.triton_compiling import triton_resources
from polysched.pipeline import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.records import shortened
from polysched.scheduling.schedule import Schedule
from polysched.scop.block_frontend import BlockSource, loops_of, read_block_program, refuse_races, triton_text
from polysched.scop.block_frontend.loops import Loops
from polysched.scop.dtypes import BY_NAME
from polysched.scop.python_frontend import extract
from polysched.scop.python_frontend.signature import ArgumentType, ArrayType, ScalarType, bound_arguments
from polysched.scop.python_frontend.source import FunctionSource
from polysched.scop.scop import Scop

TRITON = "triton"
"""The target that is no device of ours: its compiler is Triton's."""


def as_written(target: str | None) -> PipelineOptions:
    """The options of a block program, whose author chose the tiles and the order: no others are made."""
    return PipelineOptions(scheduler="original", tile="off", device=target)


class BlockProgram:
    """A function in the words of `scop.block_frontend.language`, called with NumPy arrays.

    Its arguments with defaults are constants, which a call may give by name; each combination is compiled once.

    Parameters
    ----------
    function : the Python function.
    options : of the pipeline.
    on_triton : whether calls run what `to_triton` prints.

    Raises
    ------
    SourceSyntaxError, UnsupportedScopError : it cannot be read as a block program.
    """

    def __init__(self, function: Callable[..., Any], *, options: PipelineOptions, on_triton: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options, self.on_triton = function, options, on_triton
        self._kernels: dict[tuple[tuple[str, int], ...], BlockKernel] = {}
        self._last = self.with_constants()

    def __repr__(self) -> str:
        source, axes = self._last.block_source, len(self._last.loops.programs)
        return shortened(f"<block program {source.name}({', '.join(source.arguments)}) over {axes} axes>")

    def with_constants(self, **given: int) -> BlockKernel:
        """The kernel with other constants than those of the defaults.

        Raises
        ------
        UsageError : no such constant, or a value below 1.
        """
        key = tuple(sorted(given.items()))
        if key not in self._kernels:
            self._kernels[key] = BlockKernel(read_block_program(self.function, given), options=self.options)
        return self._kernels[key]

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Run all programs on the arguments.

        Raises
        ------
        UnsupportedScopError : two programs write one element, or one reads what another writes; with a witness.
        UsageError : arguments whose types, shapes or memory do not fit; nothing has run.
        """
        constants = {name: value for name, value in kwargs.items() if name in self._last.block_source.constants}
        self._last = self.with_constants(**constants)
        others = {name: value for name, value in kwargs.items() if name not in constants}
        if self.on_triton:
            self._last.run_on_triton(*args, **others)
        else:
            self._last(*args, **others)

    @property
    def loops(self) -> str:
        """The program as loops over program ids and lanes: Python that computes the same."""
        return self._last.loops.text

    @property
    def scop(self) -> Scop:
        """The Scop of the last call."""
        return self._last.scop

    @property
    def schedule(self) -> Schedule:
        """The schedule of the last call."""
        return self._last.schedule

    @property
    def optimized(self) -> Optimized:
        """All stages of the last call."""
        return self._last.optimized

    @property
    def c_source(self) -> str:
        """The C of the last call."""
        return self._last.c_source

    def to_triton(self) -> str:
        """The program as a module for Triton.

        Raises
        ------
        UnsupportedScopError : an edge of a tile is no power of two.
        """
        return self._last.to_triton()


class BlockKernel(Kernel):
    """A block program with its constants, as a kernel of its loops."""

    def __init__(self, block_source: BlockSource, *, options: PipelineOptions) -> None:
        self.block_source = block_source
        self.loops: Loops = loops_of(block_source)
        scope: dict[str, Any] = {"np": np}
        exec(compile(self.loops.text, f"<loops of {block_source.name}>", "exec"), scope)
        super().__init__(scope[block_source.name], options=options)

    @functools.cached_property
    def _source(self) -> FunctionSource:
        return self._as_source(self.loops)

    @functools.cached_property
    def _launcher(self) -> Callable[..., None]:
        """The function that launches the program on Triton."""
        found: Callable[..., None] = getattr(triton_calls.triton_module(self.block_source), self.block_source.name)
        return found

    def to_triton(self) -> str:
        """The program as a module for Triton.

        Raises
        ------
        UnsupportedScopError : an edge of a tile is no power of two.
        """
        return triton_text(self.block_source)

    def triton_resources(self, types: Mapping[str, ArgumentType], architecture: str = "sm_80") -> KernelResources:
        """What the program takes of a multiprocessor, compiled by Triton without a GPU.

        Parameters
        ----------
        types : of the arguments, as `types_of` makes them.

        Raises
        ------
        DeviceError : Triton is not installed.
        CompileError : with Triton's words.
        """
        return triton_resources(self.block_source, types, architecture)

    def types_of(self, names: Mapping[str, str]) -> dict[str, ArgumentType]:
        """The types of all arguments from the names of element types.

        Parameters
        ----------
        names : by argument; under an empty name that of all others.

        Raises
        ------
        UsageError : there is no such type.
        """
        if unknown := [kind for kind in names.values() if kind not in BY_NAME]:
            raise UsageError(f"no type {unknown[0]!r}", hint=f"one of {', '.join(BY_NAME)}")
        ranks = self.block_source.ranks
        found = {name: BY_NAME[names.get(name, names[""])] for name in self.block_source.arguments}
        return {name: ArrayType(dtype, (None,) * ranks[name]) if name in ranks else ScalarType(dtype, name not in names)
                for name, dtype in found.items()}

    def specialised(self, types: Mapping[str, ArgumentType]) -> Specialisation:
        """The kernel for these types, without running it.

        Raises
        ------
        UnsupportedScopError : two programs write one element, or one reads what another writes; with a witness.
        """
        return self._specialised(types, (), None)

    def prepared(self, *args: Any, **kwargs: Any) -> Callable[[], None]:
        """A call that was checked and compiled, for timing; it runs in place on these arguments again and again.

        Raises
        ------
        UsageError : arrays without elements, beside the errors of every call.
        """
        values = self._bound(args, kwargs)
        found, sizes = self._checked(self._fitting(values), values)
        if sizes is None:
            raise UsageError(f"{self.block_source.name}: there is nothing to time for empty arrays")
        call = found.prepare(values, sizes)

        def run() -> None:
            call.run()
            call.copy_back()
        return run

    def run_on_triton(self, *args: Any, **kwargs: Any) -> None:
        """Run what Triton makes of the program, after the same checks.

        Raises
        ------
        DeviceError : there is no Triton, or neither a GPU nor its interpreter.
        UnsupportedScopError, UsageError : as every call.
        """
        launcher, given = self._launcher, bound_arguments(self._source, args, kwargs)
        values = as_numpy(self.block_source.name, triton_calls.stand_ins(given))
        found, _ = self._checked(self._fitting(values), values)
        written = frozenset(n for n in array_arguments(found.python) if n in self.block_source.stored)
        passed = {name: value if triton_calls.is_on_gpu(value) else values[name] for name, value in given.items()}
        triton_calls.run_on_triton(launcher, passed, written)

    def _as_source(self, loops: Loops) -> FunctionSource:
        """Loops; what they cannot be is refused at a line of theirs."""
        tree = ast.parse(loops.text).body[0]
        assert isinstance(tree, ast.FunctionDef)
        return FunctionSource(function=self.function, path=f"<loops of {self.block_source.name}>",
                              lines=tuple(loops.text.splitlines()), first_line=1, indent=0, tree=tree)

    def _extracted(self, types: Mapping[str, ArgumentType], same: tuple[tuple[str, str], ...],
                   values: Mapping[str, Any] | None) -> Specialisation:
        source = self._source
        if same:   # what is written under another name is loaded in its place
            source = self._as_source(loops_of(replace(self.block_source, same=dict(same))))
        python = extract(source, types, same=dict(same), values=values)
        found = Specialisation(python, self.options, self._key_parts(python, types, same), types, same)
        refuse_races(found.python.scop, len(self.loops.programs))
        return found


def block_program(function: Callable[..., Any] | None = None, /, *, target: str | None = None,
                  options: PipelineOptions | None = None) -> Any:
    """Make a function a block program.

    Parameters
    ----------
    target : a device that runs it, `opencl` or `cuda`, or `triton`; this machine's cores unless given.
    options : of the pipeline; by default the loops stay in the order of the program, with its tiles alone.
    """
    on_triton = target == TRITON
    chosen = options or as_written(None if on_triton else target)
    if function is None:
        return lambda function: BlockProgram(function, options=chosen, on_triton=on_triton)
    return BlockProgram(function, options=chosen, on_triton=on_triton)
