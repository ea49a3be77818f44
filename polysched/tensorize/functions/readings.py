"""Whether the three readings of a described function agree, bit for bit: host compiler, Python emulator, equations.

The user's bytes are compiled and run in a process of their own; the emulator walks over their syntax tree; the
equations are what the matcher compares programs with.  Sizes are drawn from those that the text allows, operands are
random bits, corners, small and whole numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from polysched.errors import SourceSyntaxError, UndefinedBehaviourError, UndefinedDescriptionError
from polysched.records import dataclass
from polysched.scop.dtypes import INT32, DType
from polysched.scop.points import fix_parameters
from polysched.scop.signature import FunctionParameter, ParameterKind
from polysched.tensorize.description.host_execution import executed as run_on_host
from polysched.tensorize.description.inputs import Filling, drawn, first_difference
from polysched.tensorize.description.library_function import HEADERS, LibraryFunction, Variant
from polysched.tensorize.description.python_emulator import Emulated
from polysched.tensorize.functions.described import described
from polysched.tensorize.functions.emulated_function import emulated_function, executed
from polysched.tensorize.functions.equation_values import EquationValues

Memory: TypeAlias = dict[str, np.ndarray[Any, np.dtype[Any]]]

TRIED_SIZES = ((4, 5, 6, 3, 7), (1, 1, 1, 1, 1), (6, 3, 7, 5, 8), (2, 9, 2, 4, 3))   # in any order
MOST_SIZES = 3                 # of them are used
TRIALS = 5                     # per filling and size
EMULATED_STEPS = 6_000         # assignments of the emulator, per filling and size
LEAST_DEFINED = 0.2            # of the trials: others divide by zero, or convert what does not fit


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the comparison of one variant found.

    Parameters
    ----------
    sizes : values of the `int` parameters, in words.
    trials : sets of operands on which all three readings were compared.
    difference : the first one, or "".
    """

    name: str
    sizes: tuple[str, ...]
    trials: int
    difference: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.trials} executions with {'; '.join(self.sizes)}: {self.difference or 'agree'}"


def require_readings(function: LibraryFunction) -> tuple[Reading, ...]:
    """The agreement of every variant of a function.

    Raises
    ------
    SourceSyntaxError : the readings differ, or one of them does not know a construct.
    UndefinedDescriptionError : C leaves undefined what most operands make the text do.
    BudgetExceededError : its values are too large, or fixed extents make it too long.
    """
    found = tuple(map(readings_of, function.variants))
    for reading in found:
        if reading.difference:
            raise SourceSyntaxError("the readings of the function disagree", where=reading.name,
                                    witness=reading.difference, hint="say it in simpler words")
    return found


@lru_cache(maxsize=512)
def readings_of(variant: Variant, *, seed: int = 1) -> Reading:
    """Compare the readings of one text.

    Raises
    ------
    SourceSyntaxError, UndefinedDescriptionError, BudgetExceededError : as for `require_readings`.
    """
    system = described(variant)   # first: the front end says best what is no described function
    emulator, _ = emulated_function(variant), variant.template
    runs: list[_Run] = []
    undefined: list[UndefinedBehaviourError] = []
    for sizes in itertools.islice(_sizes(variant), MOST_SIZES):
        values = EquationValues(system, sizes)
        for filling in Filling:
            chooser = np.random.default_rng([seed, list(Filling).index(filling), *sizes.values()])
            _emulate(variant, emulator, values, filling, chooser, runs, undefined)
    if len(runs) < LEAST_DEFINED * (len(runs) + len(undefined)):
        first = undefined[0]
        raise UndefinedDescriptionError(first.problem, where=variant.name, witness=first.witness, hint=first.hint)
    if not runs:
        raise SourceSyntaxError("none of the sizes that are tried is one of the function's", where=variant.name,
                                witness=str(variant.preconditions), hint="what `requires` says is read by isl")
    words = tuple(dict.fromkeys(run.words for run in runs))
    found = Reading(name=variant.name, sizes=words, trials=len(runs))
    for run, host in zip(runs, _on_host(variant, runs), strict=True):
        arrays = {n: v for n, v in run.before.items() if n not in run.values.plain}
        why = (_difference(variant, host, run.after, "the Python emulator")
               or _difference(variant, host, run.values.run(arrays), "the equations"))
        if why:
            return replace(found, difference=f"{why} with {run.words}")
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class _Run:
    """One set of operands, and what the emulator makes of it."""

    values: EquationValues
    before: Memory
    after: Memory

    @property
    def words(self) -> str:
        """The sizes."""
        return ", ".join(f"{n} = {v}" for n, v in self.values.plain.items()) or "its own sizes"


def _emulate(variant: Variant, emulator: Emulated, values: EquationValues, filling: Filling,
             chooser: np.random.Generator, runs: list[_Run], undefined: list[UndefinedBehaviourError]) -> None:
    """Add executions on operands of one kind; those that C leaves undefined are set apart."""
    made, most = 0, TRIALS
    while made < most:
        made += 1
        before = _operands(variant, values, filling, chooser)
        try:
            after = executed(emulator, before)
        except UndefinedBehaviourError as error:
            undefined.append(error)
            continue
        most = max(1, min(TRIALS, EMULATED_STEPS // max(1, after.pop("#"))))
        runs.append(_Run(values=values, before=before, after=after))


def _sizes(variant: Variant) -> Iterator[dict[str, int]]:
    """Values of the `int` parameters for which the text means what the call computes."""
    names = [p.name for p in variant.scop.parameters]
    seen = set()
    for numbers in TRIED_SIZES:
        for order in itertools.islice(itertools.permutations(numbers), 24):
            given = tuple(order[i % len(order)] for i in range(len(names)))
            sizes = dict(zip(names, given, strict=True))
            if given not in seen and not fix_parameters(variant.preconditions, sizes).is_empty():
                seen.add(given)
                yield sizes
                break


def _operands(variant: Variant, values: EquationValues, filling: Filling, chooser: np.random.Generator) -> Memory:
    """What every parameter of the function is given, arrays as one row, sizes as 64 bits."""
    found: Memory = {}
    for p in variant.signature.parameters:
        if p.name in values.plain:
            found[p.name] = np.array([values.plain[p.name]], np.int64)
            continue
        dtype = _dtype(variant, p)
        found[p.name] = drawn(dtype, filling, (values.lengths.get(p.name, 1) if _is_array(p) else 1,), chooser)
    return found


def _dtype(variant: Variant, parameter: FunctionParameter) -> DType:
    if parameter.dtype is None or parameter.kind is ParameterKind.OTHER or parameter.dtype.name in (
            "longdouble", "float16", "bfloat16"):
        raise SourceSyntaxError("such a parameter of a described function is not read", where=variant.name,
                                witness=parameter.c_declaration)
    return parameter.dtype


def _difference(variant: Variant, host: Memory, other: Memory, reading: str) -> str:
    """The first element that differs; "" where none does."""
    for p in variant.signature.parameters:
        if _is_array(p) and p.name in other:
            values, theirs = host[p.name], other[p.name]
            at = first_difference(p.dtype or INT32, values, theirs)
            if at >= 0:
                return f"{reading} against the host, {p.name} element {at}: {theirs[at]} instead of {values[at]}"
    return ""


def _on_host(variant: Variant, runs: Sequence[_Run]) -> list[Memory]:
    """All arrays after one execution each of the user's bytes, compiled."""
    parameters = variant.signature.parameters
    most = {p.name: max(run.before[p.name].nbytes for run in runs) for p in parameters}
    sent = b"".join(part.tobytes() for run in runs for p in parameters
                    for part in (np.int64(run.before[p.name].nbytes), run.before[p.name]))
    (printed,) = run_on_host(variant.name, _program(variant, runs[0].before, most), ("text",), sent,
                             what="a described function")
    found, at = [], 0
    for run in runs:
        after = {}
        for name in (p.name for p in parameters if _is_array(p)):
            size = run.before[name].nbytes
            after[name] = np.frombuffer(printed[at:at + size], run.before[name].dtype)
            at += size
        found.append(after)
    return found


def _is_array(parameter: FunctionParameter) -> bool:
    return parameter.kind is ParameterKind.ARRAY


def _program(variant: Variant, memory: Memory, most: Mapping[str, int]) -> str:
    """A program that reads the operands of one call after another, the length of each ahead, and prints the arrays."""
    buffers, reads, arguments, writes = [], [], [], []
    for p in variant.signature.parameters:
        name = f"polysched_{p.name}"
        assert p.dtype is not None
        buffers += [f"    static unsigned char {name}[{most[p.name]}] __attribute__((aligned(64)));",
                    f"    int64_t {name}_n;"]
        reads.append(f"fread(&{name}_n, 8, 1, stdin) && fread({name}, {name}_n, 1, stdin)")
        if _is_array(p):
            arguments.append(f"(void *){name}")
            writes.append(f"        fwrite({name}, {name}_n, 1, stdout);")
        else:
            kind = "int64_t" if memory[p.name].dtype == np.int64 else p.dtype.c_name
            arguments.append(f"*({kind} *)(void *){name}")
    return "\n".join((
        f"{HEADERS}#include <stdio.h>", variant.text, "int main(void) {", *buffers,
        f"    while ({' && '.join(reads) or '0'}) {{", f"        {variant.name}({', '.join(arguments)});", *writes,
        "    }", "    return 0;", "}", ""))
