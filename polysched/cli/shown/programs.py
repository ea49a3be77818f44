"""Programs that a command line names: C files, Python expressions as MODULE:EXPRESSION, models with their sizes."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from polysched.errors import PolyschedError, UsageError

if TYPE_CHECKING:
    from polysched.graph import Graph
    from polysched.scop.expression.tensors import Tensor
    from polysched.scop.scop import Scop
    from polysched.search.rewriting.sketches import Sketch


def is_c_file(what: str) -> bool:
    """Whether the words of a command name a C file: no Python object, and no model."""
    return not is_named(what) and not what.endswith(".onnx")


def is_named(what: str) -> bool:
    """Whether this is MODULE:EXPRESSION, and no file."""
    return ":" in what and not what.endswith((".c", ".onnx"))


def named_object(what: str) -> Any:
    """What MODULE:NAME stands for; modules of the current folder are found.

    Raises
    ------
    UsageError : there is no such module, it fails, or it has nothing of that name.
    """
    module_name, _, name = what.partition(":")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # a user's own operators stand in the current folder
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise UsageError(f"the module {module_name} cannot be imported", witness=str(error),
                         hint="MODULE:NAME names a module of the current folder or an installed one") from error
    except PolyschedError:
        raise
    except Exception as error:
        raise UsageError(f"the module {module_name!r} fails with {type(error).__name__}", witness=str(error),
                         where=_place(error), hint="it is imported before its expression is looked at") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{module_name} has no {name!r}",
                             hint="MODULE:NAME is a tensor expression, a Scop, or a function that returns one")
        found = getattr(found, part)
    return found


def _place(error: Exception) -> str:
    """Where a module failed: its own line, or that of what it called; nothing where Python did not begin to run it."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return "" if "importlib" in last.filename else f"{last.filename}:{last.lineno}"


def named_scop(what: str, sizes: Mapping[str, int]) -> tuple[Scop, dict[str, int]]:
    """The Scop of MODULE:EXPRESSION, and the sizes that are left for its parameters.

    Parameters
    ----------
    what : names a tensor expression, several, a Scop, or a function that returns one of these.
    sizes : of a function, its keyword arguments among them.

    Raises
    ------
    UsageError : it is none of these, or the function needs an argument that has no size.
    """
    from polysched.kernel.compiling import EXPRESSIONS
    from polysched.scop.expression import build
    from polysched.scop.scop import Scop
    found, left = named_object(what), dict(sizes)
    name = what.rpartition(":")[2].rpartition(".")[2]
    if callable(found) and not isinstance(found, (*EXPRESSIONS, Scop)):
        found, left = _called(found, what, left)
    if isinstance(found, Scop):
        return found, left
    items = list(found) if isinstance(found, list | tuple) else [found]
    if items and all(isinstance(item, EXPRESSIONS) for item in items):
        return build(items, name=name), left
    raise UsageError(f"{what} is a {type(found).__name__}",
                     hint="MODULE:NAME is a tensor expression, a Scop, or a function that returns one")


def named_tensor(what: str, sizes: Mapping[str, int]) -> tuple[Tensor, dict[str, int]]:
    """The one tensor expression that MODULE:EXPRESSION names, and the sizes that are left for its parameters.

    Raises
    ------
    UsageError : it is something else, or the function needs an argument that has no size.
    """
    from polysched.scop.expression.tensors import Tensor
    found, left = named_object(what), dict(sizes)
    if callable(found) and not isinstance(found, Tensor):
        found, left = _called(found, what, left)
    if isinstance(found, Tensor) and found.definition is not None:
        return found, left
    raise UsageError(f"{what} is a {type(found).__name__}, and terms are of one tensor expression",
                     hint="compute(...) makes one; leave --terms out for several, or for a Scop")


def named_sketch(what: str) -> Sketch:
    """The form of terms that MODULE:SKETCH names.

    Raises
    ------
    UsageError : it is something else.
    """
    from polysched.search.rewriting.sketches import Sketch
    found = named_object(what)
    if isinstance(found, Sketch):
        return found
    raise UsageError(f"{what} is a {type(found).__name__}, and no sketch",
                     hint="contains(total(extents=(16,))) of polysched.search.rewriting.sketches is one, say")


def check_sizes(graph: Graph, given: Collection[str], *, closed: bool, hint: str) -> None:
    """Refuse sizes that a model does not have.

    Parameters
    ----------
    closed : open sizes are refused as well.
    hint : what to do about an open one, with {0} for its name.

    Raises
    ------
    UsageError : with the first such size.
    """
    if unknown := [name for name in given if name not in graph.symbols]:
        raise UsageError(f"the model has no size {unknown[0]!r}",
                         hint=f"its sizes: {', '.join(graph.symbols) or 'none'}")
    if closed and (missing := [name for name in graph.symbols if name not in given]):
        raise UsageError(f"these sizes are open: {', '.join(missing)}", hint=hint.format(missing[0]))


def _called(function: Any, what: str, sizes: dict[str, int]) -> tuple[Any, dict[str, int]]:
    """What a function returns for the sizes that it has as arguments, and the other sizes."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise UsageError(f"{what} is no Python function", hint="a tensor expression, a Scop, or a function") from None
    own = {n: v for n, v in sizes.items() if n in parameters}
    missing = [n for n, p in parameters.items() if n not in own and p.default is inspect.Parameter.empty
               and p.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)]
    if missing:
        raise UsageError(f"{what} needs a value of {missing[0]}", hint=f"--size {missing[0]}=64")
    return function(**own), {n: v for n, v in sizes.items() if n not in own}
