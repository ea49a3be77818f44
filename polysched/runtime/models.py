"""`PreemptibleModel`: a compiled model that stops behind a step where a flag says so, and goes on there."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import UsageError
from polysched.model import CompiledModel
from polysched.model.driver import ENTRY as MODEL_ENTRY
from polysched.model.driver import STOPPED, driver_text
from polysched.model.kernels import compile_object, link_library
from polysched.records import dataclass
from polysched.runtime.kernels import ENTRY, PackedArguments
from polysched.runtime.scheduler_rows import RUN
from polysched.scop.shown import Shown
from polysched.target import find_compiler


@dataclass(frozen=True, eq=False, kw_only=True)
class PreemptibleModel(Shown):
    """A compiled model that can be stopped behind every step of its plan: a kernel, or a copy.

    A step is not left in its middle, and no run is thrown away, since values of one arena take each other's places.

    Parameters
    ----------
    model : what it computes.
    library : the shared object of its own driver, with the model's kernels.
    machine_code : its bytes, for other processes.
    """

    model: CompiledModel
    library: ctypes.CDLL
    machine_code: bytes
    resettable: bool = False

    @property
    def failure(self) -> str:
        """What it means that it failed."""
        return "a model had no memory for its temporaries, or an index is outside of its dimension"

    @cached_property
    def entry(self) -> Callable[..., int]:
        """As for `PreemptibleKernel`: 1 where the flag stopped it, 0 at its end, 2 where it failed."""
        return RUN((ENTRY, self.library))

    def headline(self) -> str:
        """The name of its graph, and its steps."""
        return f"of {self.model.graph.name[:60]}, {len(self.model.plan.steps)} steps"

    def packed(self, arguments: Mapping[str, Any]) -> PackedArguments:
        """Inputs and arrays for the outputs, by name, with an arena of their own.

        Raises
        ------
        UsageError : an output's array is missing or does not fit.
        UnsupportedGraphError : an input is missing or does not fit.
        """
        graph = self.model.plan.graph
        needed = self.model.memory({n: v for n, v in arguments.items() if n not in graph.outputs})
        outputs = [_checked(name, arguments.get(name), *needed.results[name], self.model.graph.name)
                   for name in graph.outputs]
        kept = [*needed.inputs.values(), *outputs, *needed.constants, needed.sizes, needed.offsets, needed.arena]
        fixed = len(needed.constants) + 2
        return PackedArguments(kept, [*(False for _ in needed.inputs), *(True for _ in outputs),
                                      *(False for _ in range(fixed)), True])


def _checked(name: str, value: Any, shape: tuple[int, ...], dtype: np.dtype, model: str) -> np.ndarray:
    if isinstance(value, np.ndarray) and value.shape == tuple(shape) and value.dtype == dtype \
            and value.flags.c_contiguous and value.flags.writeable and value.flags.aligned:
        return value
    raise UsageError(f"the output {name} needs an array of {dtype} {tuple(shape)} without gaps that can be written",
                     where=f"model {model}", witness="none" if value is None else type(value).__name__)


def preemptible_model(model: CompiledModel) -> PreemptibleModel:
    """A driver for a compiled model that can be stopped behind every step; its kernels run on one thread.

    Raises
    ------
    UsageError : parts of the model are not compiled, or an input has an output's name.
    CompileError, NoCompilerError : as for any C.
    """
    if not isinstance(model, CompiledModel):
        raise UsageError("a job is a model that is compiled as a whole", witness=type(model).__name__,
                         hint="islands of another runtime cannot be stopped")
    graph = model.plan.graph
    if both := sorted({n for n, _ in graph.inputs} & set(graph.outputs)):
        raise UsageError("an input and an output have one name", where=f"model {graph.name}", witness=both[0])
    compiler = find_compiler(model.options.cc)
    text = driver_text(model.plan, model.symbols, exported=False, stops=True, threads=False) + _entry(model)
    with tempfile.TemporaryDirectory(prefix="polysched-") as name:
        folder = Path(name)
        (folder / "driver.c").write_text(text)
        what = f"the driver of {graph.name}"
        compile_object(folder / "driver.c", folder / "driver.o", compiler, what=what)
        link_library([folder / "driver.o", *(k.object for k in model.kernels.values())], folder / "model.so", compiler,
                     what=what)
        path = folder / "model.so"
        return PreemptibleModel(model=model, library=ctypes.CDLL(str(path)), machine_code=path.read_bytes())


def _entry(model: CompiledModel) -> str:
    """The C function that takes addresses as one list, and runs on one thread."""
    graph = model.plan.graph
    inputs, outputs = len(graph.inputs), len(graph.outputs)
    last = inputs + outputs + len(graph.constants)
    return f"""
extern void omp_set_num_threads(int) __attribute__((weak));
__attribute__((visibility("default"))) int {ENTRY}(void *const *arguments, const int *stop, long *done) {{
  if (omp_set_num_threads) omp_set_num_threads(1);
  const int status = {MODEL_ENTRY}(arguments, arguments + {inputs}, arguments + {inputs + outputs},
                                   arguments[{last}], arguments[{last + 1}], arguments[{last + 2}], 0, stop, done);
  return status == {STOPPED} ? 1 : status ? 2 : 0;
}}
"""
