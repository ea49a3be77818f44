"""Every described instruction by name, and the loader of a user's file."""

from __future__ import annotations

import difflib
import importlib.util
from pathlib import Path

from polysched.errors import SourceSyntaxError, UsageError
from polysched.tensorize.description.agreement import require_agreement
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.shipped import SHIPPED
from polysched.tensorize.proofs.ideal import accumulates_sum

INTRINSICS: dict[str, Intrinsic] = {intrinsic.name: intrinsic for intrinsic in SHIPPED}


def find_intrinsic(name: str, *, also: dict[str, Intrinsic] | None = None) -> Intrinsic:
    """The instruction of this name.

    Raises
    ------
    UsageError : there is none; the hint names the closest.
    """
    known = INTRINSICS | (also or {})
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    raise UsageError(f"no intrinsic is called {name!r}", witness=f"known are {', '.join(sorted(known))}",
                     hint=f"did you mean {', '.join(close)}?" if close
                     else "describe another in a file of your own: --intrinsics FILE.py")


def load_intrinsics(path: str) -> dict[str, Intrinsic]:
    """Every `Intrinsic` that a user's Python file defines at its top level, by name.

    Raises
    ------
    UsageError : the file is not there, does not run, or defines none.
    SourceSyntaxError : a text cannot be read, or its three readings differ.
    UndefinedBehaviourError : some operands make a text do what C leaves undefined.
    """
    file = Path(path)
    if not file.is_file():
        raise UsageError("no such file of intrinsics", where=path)
    spec = importlib.util.spec_from_file_location(f"polysched_user_intrinsics_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise UsageError("a file of intrinsics is a Python file", where=path, hint="name it with the ending .py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (SyntaxError, NameError, ImportError, TypeError, ValueError, AttributeError) as error:
        raise UsageError("the file of intrinsics does not run", where=path,
                         witness=f"{type(error).__name__}: {error}") from error
    found = {v.name: v for v in vars(module).values() if isinstance(v, Intrinsic)}
    if not found:
        raise UsageError("the file defines no Intrinsic at its top level", where=path)
    for intrinsic in found.values():
        require_agreement(intrinsic.semantics)
        contraction = intrinsic.contraction
        if contraction.whole and contraction.reductions and not accumulates_sum(intrinsic):
            raise SourceSyntaxError("the text is no sum, and updates one element several times", where=intrinsic.name,
                                    hint="describe one update per element (a maximum): the program's loops repeat it")
    return found
