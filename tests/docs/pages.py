"""Pages of docs/ whose examples are run: what a page shows is what the program prints.

A block ```` ```python ```` that is directly followed by a block ```` ```text ```` is an example and its output;
all Python blocks of a page share their names, and run in order in an empty folder.  A refusal is printed as the
command line prints it.  In a block ```` ```console ```` the lines that start with `$ polysched` are run and the others
are their output.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polysched.cli import main
from polysched.errors import PolyschedError

_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def with_real_output(page: str, folder: Path) -> str:
    """The page with every output replaced by what its example prints now."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def replaced(block: re.Match[str]) -> str:
        kind, code, output = block.groups()
        if kind == "console":
            return f"```console\n{_console(code)}```\n"
        printed = _python(code, names)
        if output is None:
            assert not printed, f"an example prints and has no block for it:\n{code}"
            return block.group()
        return f"```python\n{code}```\n\n```text\n{printed}```\n"

    with contextlib.chdir(folder), _search_path():
        return _BLOCK.sub(replaced, page)


@contextlib.contextmanager
def _search_path() -> Iterator[None]:
    """Modules that a page writes are found, and forgotten afterwards."""
    path, modules = list(sys.path), set(sys.modules)
    sys.path.insert(0, str(Path.cwd()))
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(f"{Path.cwd()}/"):
                del sys.modules[name]


def _python(code: str, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, "<example>", "exec", dont_inherit=True), names)
        except PolyschedError as refusal:
            print(refusal)
    return _tidy(printed.getvalue())


def _console(text: str) -> str:
    lines = []
    for command in re.findall(r"^\$ (polysched .*)$", text, re.MULTILINE):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            main(shlex.split(command)[1:])
        lines += [f"$ {command}\n", _tidy(printed.getvalue())]
    return "".join(lines)


def _tidy(text: str) -> str:
    """Without white space at line ends, the folder of the run, and empty lines around."""
    text = text.replace(f"{Path.cwd()}/", "").strip("\n")
    return "".join(f"{line.rstrip()}\n" for line in text.split("\n")) if text else ""
