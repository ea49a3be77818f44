"""Where experiments are found, and how their `run.py` and `experiment.toml` are read.

Experiments are part of a checkout and not of the installed package: they need sources to measure, and their
results are committed beside them.
"""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from polysched.errors import UsageError
from polysched.experiment.definition import Experiment
from polysched.records import dataclass

CONFIG = "experiment.toml"
RUN = "run.py"
RESULTS = "results.jsonl"
"""What the committed results of an experiment are called, and those of a run of all."""
PREFIX = "polysched_experiment_"
_REQUIREMENT = re.compile(r"([\w.-]+).*\bextra == [\"']([\w-]+)[\"']")
_LOADED_FROM: set[str] = set()


@dataclass(frozen=True, kw_only=True)
class Found:
    """An experiment's folder with its configuration.

    Parameters
    ----------
    name : the folder's name, behind that of its group: `blas`, `reproduced/injected_orders`.
    config : all of `experiment.toml`; `question` and `expected_time` are required; `arguments` are the options of the
        committed run.
    """

    name: str
    folder: Path
    config: dict[str, Any]


def roots() -> Iterator[Path]:
    """Folders named `experiments`: of the current folder and those around it, then of the checkout of this package."""
    here = Path.cwd()
    candidates = [folder / "experiments" for folder in (here, *here.parents)]
    candidates.append(Path(__file__).parents[2] / "experiments")
    seen: set[Path] = set()
    for candidate in candidates:
        if candidate.is_dir() and candidate.resolve() not in seen and any(_configurations(candidate)):
            seen.add(candidate.resolve())
            yield candidate


def list_experiments() -> tuple[Found, ...]:
    """All experiments of the nearest folder `experiments`.

    Raises
    ------
    UsageError : there is no such folder.
    """
    root = next(roots(), None)
    if root is None:
        raise UsageError("there are no experiments here, nor beside the installed package",
                         hint="experiments come with the source tree: change into a checkout, or name an experiment's "
                              "folder: polysched bench PATH")
    return tuple(read_folder(path.parent) for path in _configurations(root))


def _configurations(root: Path) -> list[Path]:
    """Those of the folder and of its groups."""
    return sorted(root.glob(f"*/{CONFIG}")) + sorted(root.glob(f"*/*/{CONFIG}"))


def find(name: str) -> Found:
    """The experiment of that name, or in that folder.

    Raises
    ------
    UsageError : there is none; the hint names those that exist.
    """
    if (Path(name) / CONFIG).is_file():
        return read_folder(Path(name))
    for root in roots():
        if (root / name / CONFIG).is_file():
            return read_folder(root / name)
    known = [found.name for found in list_experiments()]
    close = difflib.get_close_matches(name, known, n=1)
    raise UsageError(f"there is no experiment {name}",
                     hint=f"did you mean {close[0]}?" if close else f"those that exist: {', '.join(known)}")


def read_folder(folder: Path) -> Found:
    """Read and check `experiment.toml`.

    Raises
    ------
    UsageError : it cannot be read, lacks a required entry, or one is of another kind.
    """
    path = folder / CONFIG
    try:
        config = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"the configuration cannot be read: {error}", where=str(path)) from None
    for key in ("question", "expected_time"):
        if not isinstance(config.get(key), str):
            raise UsageError(f"the configuration has no text {key}", where=str(path),
                             hint=f'add a line: {key} = "..."')
    arguments = config.get("arguments", [])
    if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        raise UsageError("the configuration's arguments are no list of texts", where=str(path), witness=str(arguments),
                         hint='for instance arguments = ["--budget", "1"]')
    whole = folder.resolve()
    grouped = whole.parent.parent.name == "experiments"
    return Found(name=f"{whole.parent.name}/{whole.name}" if grouped else whole.name, folder=whole, config=config)


def load(folder: Path) -> Experiment:
    """The `EXPERIMENT` of a folder.

    Raises
    ------
    UsageError : its `run.py` defines none.
    """
    module = load_module(folder / RUN)
    experiment = getattr(module, "EXPERIMENT", None)
    if not isinstance(experiment, Experiment):
        raise UsageError("the experiment's run.py defines no EXPERIMENT", where=str(folder / RUN))
    return experiment


def load_module(path: Path) -> ModuleType:
    """Execute a Python file of an experiment; the files beside it can be imported by it.

    Files of the same name in another experiment that was loaded before are other modules: they are forgotten first.

    Raises
    ------
    UsageError : there is no such file, or it is not Python.
    """
    name = f"{PREFIX}{path.parent.name}_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ is not None and Path(known.__file__).resolve() == path.resolve():
        return known
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None or not path.is_file():
        raise UsageError("the experiment has no such file", where=str(path))
    _come_first(path.parent)
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]   # what is half loaded
        if isinstance(error, SyntaxError):
            raise UsageError(f"the experiment's file is not Python: {error.msg}",
                             where=f"{error.filename}:{error.lineno}",
                             witness=(error.text or "").strip() or None) from None
        if isinstance(error, ModuleNotFoundError):
            raise UsageError(missing(error), where=str(path)) from None
        raise
    return module


def missing(error: ImportError) -> str:
    """What an experiment needs and is not there, with the extra that brings it."""
    needed = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not needed or needed in sys.modules:   # a part of it is missing
        return f"the experiment needs what is not installed: {error}"
    extra = extra_of(needed)
    return f"the experiment needs {needed}, which is not installed" + (
        f": python -m pip install 'polysched[{extra}]'" if extra else "")


def extra_of(package: str) -> str:
    """The extra that brings a package, of several the one of its name; empty where none does."""
    try:
        requirements = importlib.metadata.requires("polysched") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    wanted = package.replace("_", "-").lower()
    extras = [found[2] for found in map(_REQUIREMENT.match, requirements)
              if found is not None and found[1].replace("_", "-").lower() == wanted]
    return wanted if wanted in extras else next(iter(extras), "")


def _come_first(folder: Path) -> None:
    """Let imports find the files of this folder, and not those of experiments that were loaded before."""
    others = {entry for entry in sys.path if entry in _LOADED_FROM and entry != str(folder)}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and str(Path(file).parent) in others and not name.startswith(PREFIX):
            del sys.modules[name]
    sys.path[:] = [str(folder), *(entry for entry in sys.path if entry not in others and entry != str(folder))]
    _LOADED_FROM.add(str(folder))
