"""Pages of docs/ whose examples are run: what a page shows is what the program prints.

A block ```` ```python ```` that is directly followed by a block ```` ```text ```` is an example and its output;
all Python blocks of a page share their names, and run in order in an empty folder.  A refusal is printed as the
command line prints it.  In a block ```` ```console ```` the lines that start with `$ polysched` are run and the others
are their output.  A block with a file's name behind its language, ```` ```c sweep.c ````, is written to that file.

As a script it reads a page from standard input and prints it with its real output: `in_fresh_process` runs it so.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polysched.cli import main
from polysched.errors import PolyschedError

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(python|console|\w+ [\w.]+)\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?",
                    re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^## (.*)\n", re.MULTILINE)


def sections(page: str) -> tuple[str, dict[str, str]]:
    """What stands in front of the first heading of the second level, and the text below each by its heading."""
    start, *parts = _HEADING.split(page)
    return start, dict(zip(parts[::2], parts[1::2], strict=True))


def in_fresh_process(page: str, folder: Path) -> str:
    """As `with_real_output`, in a new interpreter that knows nothing of this user: no settings, no caches.

    Raises
    ------
    AssertionError : an example fails; the message has its traceback.
    """
    own = {name: str(folder / place) for name, place in (
        ("HOME", "home"), ("XDG_CACHE_HOME", "cache"), ("TMPDIR", "tmp"))}
    for place in (*own.values(), folder / "work"):
        Path(place).mkdir()
    environment = {**own, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "LANG": "C.UTF-8"}
    done = subprocess.run([sys.executable, __file__], input=page, cwd=folder / "work", env=environment, text=True,
                          capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def with_real_output(page: str, folder: Path) -> str:
    """The page with every output replaced by what its example prints now."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def replaced(block: re.Match[str]) -> str:
        kind, code, output = block.groups()
        if " " in kind:
            Path(kind.split()[1]).write_text(code)
            return block.group()
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
            main(["--quiet", *shlex.split(command)[1:]])   # progress is told by the clock
        lines += [f"$ {command}\n", _tidy(printed.getvalue())]
    return "".join(lines)


def _tidy(text: str) -> str:
    """Without white space at line ends, the folder of the run, and empty lines around."""
    text = text.replace(f"{Path.cwd()}/", "").strip("\n")
    return "".join(f"{line.rstrip()}\n" for line in text.split("\n")) if text else ""


if __name__ == "__main__":
    sys.stdout.write(with_real_output(sys.stdin.read(), Path.cwd()))
