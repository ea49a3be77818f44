"""`Kernel`: a Python function that runs as optimised C."""

from __future__ import annotations

import functools
import inspect
import logging
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from polysched.errors import BudgetExceededError, NoCompilerError, UnsupportedScopError, UsageError
from polysched.kernel import arguments as checks
from polysched.kernel.call_checks import SharedMemoryError
from polysched.kernel.choosing import Choice, Code, measured_choice
from polysched.kernel.compiled_scop import FLAGS
from polysched.kernel.given_arrays import as_numpy
from polysched.kernel.known_calls import KnownCalls, lie_apart, signature_of
from polysched.kernel.limits import LIMITS
from polysched.kernel.specialisation import Specialisation, array_arguments
from polysched.kernel.timing import KernelTiming, time_call
from polysched.pipeline import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.records import shortened
from polysched.scheduling.schedule import Schedule
from polysched.scop.python_frontend import PythonScop, extract
from polysched.scop.python_frontend.environment import OuterNames, identity
from polysched.scop.python_frontend.signature import ArgumentType, ArrayType, argument_types, bound_arguments
from polysched.scop.python_frontend.source import FunctionSource, read_source
from polysched.scop.scop import Scop
from polysched.tensorize.decision import may_gain
from polysched.tensorize.options import DEFAULT

logger = logging.getLogger(__name__)

MOST_VARIANTS = LIMITS.kept_variants
EXACT_SAMPLE = LIMITS.exact_sample
REASONS_TO_FALL_BACK = (UnsupportedScopError, NoCompilerError, BudgetExceededError)


class FallbackWarning(UserWarning):
    """A kernel runs as plain Python; the text says why."""


class Kernel:
    """A function over NumPy arrays that is optimised, compiled and cached when it is called.

    Parameters
    ----------
    function : the Python function.
    options : of the pipeline.
    fallback : run as plain Python, with a `FallbackWarning`, what cannot be a kernel; else that is refused.

    Attributes
    ----------
    fallback_reason : why the last call ran as plain Python; None when it did not.
    choice : which code the last call ran and how long each takes; None unless the options are `safe`.
    """

    def __init__(self, function: Callable[..., Any], *, options: PipelineOptions | None = None,
                 fallback: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.options = options or PipelineOptions()
        self.fallback = fallback
        self.fallback_reason: str | None = None
        self.choice: Choice | None = None
        self._lock = threading.RLock()
        self._known: dict[object, Specialisation] = {}
        self._variants: dict[object, list[Specialisation]] = {}
        self._sized: dict[object, Specialisation] = {}
        self._calls = KnownCalls()
        self._last: Specialisation | None = None

    def __repr__(self) -> str:
        return shortened(f"<polysched.kernel: {self.function.__qualname__}{inspect.signature(self.function)}>")

    def __reduce__(self) -> str:
        """By its name, as functions are pickled and copied."""
        return str(self.function.__qualname__)

    @functools.cached_property
    def _source(self) -> FunctionSource:
        return read_source(self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel in place on the arguments.

        Raises
        ------
        UsageError : arguments whose types, shapes or memory do not fit; nothing has run.
        UnsupportedScopError : the function cannot be a kernel, and there is no fallback.
        """
        by_place = not kwargs and len(args) == len(self._places)
        direct = self._calls.direct_for(signature_of(args)) if by_place else None
        if direct is not None and (passed := direct[1].values_for(args)) is not None:
            self._last, self.fallback_reason = direct[0], None
            self.choice = direct[2]
            return direct[1].run(passed, args)
        values = self._bound(args, kwargs)
        try:
            found, sizes = self._called(values)
            if sizes is not None:
                found.function  # noqa: B018 - compiled before anything runs, so a refusal leaves the arrays alone
                found.check_values(values, sizes)
        except REASONS_TO_FALL_BACK as reason:
            if not self.fallback:
                raise
            return self._plain(str(reason), args, kwargs)
        if sizes is None:
            return self.function(*args, **kwargs)
        self.fallback_reason, code = None, found
        if self.options.safe:
            self.choice = self._chosen(found, values, sizes)
            if self.choice.code is Code.PYTHON:
                return self.function(*args, **kwargs)
            code = found.as_written if self.choice.code is Code.AS_WRITTEN else found
        call = code.prepare(values, sizes)
        try:
            call.run()
        except REASONS_TO_FALL_BACK as reason:   # code for sizes that an instruction does not fit; nothing has run
            if not self.fallback:
                raise
            return self._plain(str(reason), args, kwargs)
        call.copy_back()
        self._keep_direct(found, code, sizes, values)
        return call.returned()

    def _keep_direct(self, found: Specialisation, code: Specialisation, sizes: Mapping[str, int],
                     values: Mapping[str, Any]) -> None:
        """Remember how the next call with arguments like these goes straight to the code that was chosen."""
        with self._lock:
            self._calls.keep_direct(signature_of(values.values()), found, lambda: code.direct(
                values, sizes, OuterNames(self.function, found.python.captured)), self.choice)

    def _called(self, values: Mapping[str, Any]) -> tuple[Specialisation, dict[str, int] | None]:
        """The specialisation and the sizes of a call, as of an earlier one with arguments like these."""
        signature = signature_of(values.values())
        with self._lock:
            known = self._calls.look_up(signature)
        if known is not None and lie_apart(values) and _means_the_same(self.function, known[0].python):
            self._last = known[0]
            return known
        found, sizes = self._checked(self._fitting(values), values)
        if signature is not None and sizes is not None and not found.same:
            with self._lock:
                self._calls.keep(signature, found, sizes)
        return found, sizes

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, arrays of other libraries as NumPy's on the same memory."""
        places = self._places
        by_place = not kwargs and len(args) == len(places)
        given = dict(zip(places, args, strict=True)) if by_place else bound_arguments(self._source, args, kwargs)
        return as_numpy(self.function.__name__, given, self.options.device)

    @functools.cached_property
    def _places(self) -> tuple[str, ...]:
        """The parameters, where a call may give all of them by their places."""
        given = self._source.tree.args
        named = given.vararg or given.kwarg or given.kwonlyargs
        return () if named else tuple(node.arg for node in (*given.posonlyargs, *given.args))

    def _chosen(self, found: Specialisation, values: Mapping[str, Any], sizes: Mapping[str, int]) -> Choice:
        """What a call runs: measured when sizes between the same powers of two come for the first time."""
        with self._lock:
            about = tuple(size.bit_length() for size in sizes.values())
            if about not in found.choices:
                found.choices[about] = measured_choice(found, self.function, values, sizes)
                logger.info("%s with %s runs as %s", self.function.__name__, dict(sizes), found.choices[about])
            return found.choices[about]

    def _plain(self, reason: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run as plain Python, and say so."""
        self.fallback_reason = reason
        logger.warning("%s runs as plain Python: %s", self.function.__name__, reason)
        warnings.warn(f"{self.function.__name__} runs as plain Python: {reason}", FallbackWarning, stacklevel=3)
        return self.function(*args, **kwargs)

    def _fitting(self, values: Mapping[str, Any]) -> Specialisation:
        """The specialisation for a call's arguments and for how they share memory."""
        types = argument_types(self._source, values)
        checks.check_types(self.function.__name__, types, values)
        found = self._specialised(types, (), values)
        shared = checks.overlaps(found.python, values)
        if shared.partial is not None:
            first, second = shared.partial
            raise SharedMemoryError(
                f"{self.function.__name__}: {first} and {second} overlap, and one of them is written",
                hint="pass a copy of one of them, or use fallback=True")
        if shared.same:
            found = self._specialised(types, shared.same, values)
        self._last = found
        return found

    def _checked(self, found: Specialisation,
                 values: Mapping[str, Any]) -> tuple[Specialisation, dict[str, int] | None]:
        """The sizes of a call after every check; None where an array is empty or nothing is computed: Python runs it.

        A Scop may leave out cases, for instance that one array is shorter than another; a call with such sizes
        gets a specialisation for them.
        """
        name = self.function.__name__
        checks.check_writable(name, found.python, values)
        sizes = checks.sizes_of_call(name, found.python, values)
        if any(values[a].size == 0 for a in array_arguments(found.python)):
            checks.check_sizes(name, found.python, sizes)
            return found, None
        if not checks.check_sizes(name, found.python, sizes):
            found = self._for_sizes(found, sizes, values)
        found = self._with_sizes(found, sizes)
        self._last = found
        return found, sizes if found.python.scop.statements else None

    def _specialised(self, types: Mapping[str, ArgumentType], same: tuple[tuple[str, str], ...],
                     values: Mapping[str, Any] | None) -> Specialisation:
        """The specialisation for argument types; extracted once per process."""
        with self._lock:
            key = (tuple(types.items()), same)
            known = self._known.get(key)
            if known is not None and _means_the_same(self.function, known.python):
                return known
            self._known[key] = self._extracted(types, same, values)
            self._variants.pop(key, None)
            return self._known[key]

    def _for_sizes(self, found: Specialisation, sizes: Mapping[str, int],
                   values: Mapping[str, Any]) -> Specialisation:
        """A specialisation whose context has these sizes, which the given one leaves out.

        Extraction keeps the sizes of its arguments unless they do not fit, so there is one, or they are refused.
        """
        with self._lock:
            key = (tuple(found.types.items()), found.same)
            variants = self._variants.setdefault(key, [])
            for variant in variants:
                if checks.contains(variant.python.scop.context, sizes):
                    return variant
            try:
                made = self._extracted(found.types, found.same, values)
            except UnsupportedScopError:
                checks.refuse_sizes(self.function.__name__, found.python, sizes)
            if not checks.contains(made.python.scop.context, sizes):
                checks.refuse_sizes(self.function.__name__, found.python, sizes)
            variants[:] = [*variants[1 - MOST_VARIANTS:], made]
            return made

    def _with_sizes(self, found: Specialisation, sizes: Mapping[str, int]) -> Specialisation:
        """A specialisation for these sizes only, which code around an instruction is made for."""
        wanted = self.options.tensorize
        if wanted is None or wanted.intrinsic == DEFAULT:   # that is one code for all sizes
            return found
        with self._lock:
            key = (id(found.python), tuple(sizes.items()))
            if key not in self._sized:
                while len(self._sized) >= MOST_VARIANTS:
                    del self._sized[next(iter(self._sized))]
                options = replace(self.options, tensorize=replace(wanted, sizes=dict(sizes)))
                parts = self._key_parts(found.python, found.types, found.same) | {"options": options.differences()}
                self._sized[key] = Specialisation(found.python, options, parts, found.types, found.same)
            return self._sized[key]

    def _extracted(self, types: Mapping[str, ArgumentType], same: tuple[tuple[str, str], ...],
                   values: Mapping[str, Any] | None) -> Specialisation:
        python = extract(self._source, types, same=dict(same), values=values)
        options = with_samples(self.options, python, values)
        parts = self._key_parts(python, types, same) | {"options": options.differences()}
        return Specialisation(python, options, parts, types, same)

    def _key_parts(self, python: PythonScop, types: Mapping[str, ArgumentType],
                   same: tuple[tuple[str, str], ...]) -> dict[str, object]:
        return {"function": self.function.__qualname__, "source": self._source.text, "flags": list(FLAGS),
                "types": {name: _type_text(kind) for name, kind in types.items()}, "same": [list(p) for p in same],
                "context": str(python.scop.context),
                "captured": {k: identity(v) for k, v in python.captured.items()},
                "options": self.options.differences()}

    def specialise(self, *args: Any, **kwargs: Any) -> Specialisation:
        """The kernel for the types of these arguments, without running it; for annotated functions none are needed.

        Raises
        ------
        UnsupportedScopError : the function cannot be a kernel.
        """
        if args or kwargs:
            return self._fitting(self._bound(args, kwargs))
        if self._last is None:
            self._last = self._specialised(argument_types(self._source, None), (), None)
        return self._last

    @property
    def scop(self) -> Scop:
        """The Scop for the last call's types, or for the annotations before the first call."""
        return self.specialise().python.scop

    @property
    def optimized(self) -> Optimized:
        """All stages of the pipeline for the last call's types."""
        return self.specialise().optimized

    @property
    def schedule(self) -> Schedule:
        """The schedule for the last call's types."""
        return self.optimized.schedule

    @property
    def c_source(self) -> str:
        """The C that is compiled for the last call's types."""
        return self.specialise().c_function.text

    def time(self, *args: Any, repeats: int = 20, against: Callable[..., Any] | None = None,
             **kwargs: Any) -> KernelTiming:
        """Time the compiled code on copies of the arguments, alternating with another function when one is given.

        Parameters
        ----------
        repeats : timed runs; one more warms up.
        against : what to compare with; its results must agree with the kernel's.

        Raises
        ------
        WrongResultError : the kernel and `against` compute different things.
        """
        values = self._bound(args, kwargs)
        found, sizes = self._checked(self._fitting(values), values)
        if sizes is None:
            raise UsageError(f"{self.function.__name__}: there is nothing to time for empty arrays or loops")
        found.check_values(values, sizes)
        return time_call(found, values, sizes, repeats=repeats, against=against)


def with_samples(options: PipelineOptions, python: PythonScop, values: Mapping[str, Any] | None) -> PipelineOptions:
    """Options whose instruction, where one may be used by default, is chosen for sizes about those of the first call.

    Long ones count as the next power of two, so that calls of about these sizes share one code in the cache.
    """
    wanted = options.tensorize
    if values is None or wanted is None or wanted.intrinsic != DEFAULT or wanted.samples or not may_gain(python.scop):
        return options
    samples = {name: size if size <= EXACT_SAMPLE else 1 << (size - 1).bit_length()
               for name, size in python.sizes_of(values).items()}
    return replace(options, tensorize=replace(wanted, samples=samples))


def _type_text(kind: ArgumentType) -> str:
    if isinstance(kind, ArrayType):
        return f"{kind.dtype}[{', '.join(':' if e is None else str(e) for e in kind.extents)}]"
    return f"{'python ' if kind.weak else ''}{kind.dtype}"


def _means_the_same(function: Callable[..., Any], python: PythonScop) -> bool:
    """Whether the names from outside the function stand for what they stood for when it was extracted."""
    return OuterNames(function, python.captured).are_unchanged()
