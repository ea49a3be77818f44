"""The scheduler's C: compiles without a warning."""

from pathlib import Path

from polysched.runtime.scheduler_source import SCHEDULER
from polysched.target import find_compiler


def test_it_compiles_without_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "scheduler.c"
    source.write_text(SCHEDULER)
    done = find_compiler(None).run(["-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-fsyntax-only", str(source)],
                                   folder=tmp_path)
    assert done.returncode == 0, done.stderr
