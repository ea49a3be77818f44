"""Every described instruction and function by name: the one visible place where they are listed, and the loader of a
user's file."""

from __future__ import annotations

import difflib
import importlib.util
import logging
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from polysched.errors import PolyschedError, SourceSyntaxError, UsageError
from polysched.tensorize.description.agreement import require_agreement
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.library_function import LibraryFunction
from polysched.tensorize.functions.readings import require_readings
from polysched.tensorize.intrinsics import blas_functions
from polysched.tensorize.intrinsics.shipped import ShippedByName
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.proofs.ideal import accumulates_sum, multiplies

logger = logging.getLogger(__name__)

INTRINSICS: Mapping[str, Intrinsic] = ShippedByName()

FUNCTIONS: dict[str, LibraryFunction] = {f.name: f for file in (blas_functions,) for f in file.ALL}

FILES = LIMITS.kept_files


def find_function(name: str, *, also: dict[str, LibraryFunction] | None = None) -> LibraryFunction | None:
    """The function of this name that is described by its C code; None when there is none."""
    return (FUNCTIONS | (also or {})).get(name)


def find_intrinsic(name: str, *, also: dict[str, Intrinsic] | None = None) -> Intrinsic:
    """The instruction of this name.

    Raises
    ------
    UsageError : there is none; the hint names the closest.
    """
    known = {**INTRINSICS, **(also or {})}
    if name in known:
        return known[name]
    names = [*known, *FUNCTIONS]
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    raise UsageError(f"no intrinsic is called {name!r}", witness=f"known are {', '.join(sorted(names))}",
                     hint=f"did you mean {', '.join(close)}?" if close
                     else "describe another in a file of your own: --intrinsics FILE.py")


def load_intrinsics(path: str, *, wanted: str = "") -> dict[str, Intrinsic]:
    """Every `Intrinsic` that a user's Python file defines at its top level, by name.

    A file is run, and what it leaves out is told, once for each text that it has.

    Parameters
    ----------
    wanted : the one that was asked for by its name; another one that is refused is left out then, with a warning.

    Raises
    ------
    UsageError : the file is not there, does not run, or defines none.
    SourceSyntaxError : a text cannot be read, or its three readings differ.
    UndefinedDescriptionError : some operands make a text do what C leaves undefined.
    """
    return dict(_accepted(path, _text(path), wanted))


@lru_cache(maxsize=FILES)
def _accepted(path: str, text: bytes, wanted: str) -> dict[str, Intrinsic]:
    """As `load_intrinsics`, of a text."""
    module = _module(path, text)
    found = {v.name: v for v in vars(module).values() if isinstance(v, Intrinsic)}
    if not found and not any(isinstance(v, LibraryFunction) for v in vars(module).values()):
        raise UsageError("the file defines no Intrinsic at its top level", where=path)
    accepted = {}
    for name, intrinsic in found.items():
        try:
            _require_description(intrinsic)
        except PolyschedError as refusal:
            if wanted in ("", name):
                raise
            logger.warning("%s of %s is left out: %s", name, path, refusal)
        else:
            accepted[name] = intrinsic
    return accepted


def _require_description(intrinsic: Intrinsic) -> None:
    """Refuse an instruction whose text is not read in one way, or is none that matches are made of.

    Raises
    ------
    SourceSyntaxError : a text cannot be read, or its three readings differ.
    UndefinedDescriptionError : some operands make a text do what C leaves undefined.
    """
    require_agreement(intrinsic.semantics)
    contraction = intrinsic.contraction
    if not contraction.whole:   # the inputs are those of one stage
        return
    _require_operands(intrinsic)
    if contraction.reductions and not accumulates_sum(intrinsic):
        raise SourceSyntaxError("the text is no sum, and updates one element several times", where=intrinsic.name,
                                hint="describe one update per element (a maximum): the program's loops repeat it")


def _require_operands(intrinsic: Intrinsic) -> None:
    """Refuse an instruction whose text does not read what it is given, or that only counts."""
    contraction = intrinsic.contraction
    used = {e.array for e in (*(r.output for r in contraction.results), *contraction.inputs)} | set(contraction.tables)
    idle = [v.name for v in intrinsic.parsed.operands if v.name not in used]
    if idle and not intrinsic.library:
        raise SourceSyntaxError(f"the result does not depend on operand {idle[0]}", where=intrinsic.name,
                                hint="leave the operand out, or a constant in its place in the template")
    read = {e for r in contraction.results for e in r.reads if e != r.output}
    if not (read or contraction.tables) and multiplies(intrinsic):
        raise SourceSyntaxError("the text reads nothing but its result", where=intrinsic.name,
                                hint="an instruction computes from operands; ordinary code sets constants")


def load_functions(path: str) -> dict[str, LibraryFunction]:
    """Every `LibraryFunction` that a user's Python file defines at its top level, by name; possibly none.

    Raises
    ------
    UsageError : the file is not there, or does not run.
    PolyschedError : the C code of one cannot be read, or its three readings differ.
    """
    found = {v.name: v for v in vars(_module(path, _text(path))).values() if isinstance(v, LibraryFunction)}
    for function in found.values():
        require_readings(function)
    return found


def _text(path: str) -> bytes:
    """What a user's file holds.

    Raises
    ------
    UsageError : it is not there, or cannot be read.
    """
    file = Path(path)
    if not file.is_file():
        raise UsageError("no such file of intrinsics", where=path)
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError("the file of intrinsics cannot be read", where=path, witness=error.strerror) from None


@lru_cache(maxsize=FILES)
def _module(path: str, text: bytes) -> ModuleType:
    """A user's file, run.

    Raises
    ------
    UsageError : it does not run.
    """
    file = Path(path)
    spec = importlib.util.spec_from_file_location(f"polysched_user_intrinsics_{file.stem}", file)
    if spec is None:
        raise UsageError("a file of intrinsics is a Python file", where=path, hint="name it with the ending .py")
    module = importlib.util.module_from_spec(spec)
    try:
        exec(compile(text, path, "exec"), vars(module))
    except (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, OSError, RuntimeError,
            SyntaxError, TypeError, ValueError) as error:
        raise UsageError("the file of intrinsics does not run", where=path,
                         witness=f"{type(error).__name__}: {error}") from error
    return module
