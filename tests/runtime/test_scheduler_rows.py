"""The rows that Python fills are those that the scheduler's C reads."""

import ctypes
from pathlib import Path
from tempfile import TemporaryDirectory

from polysched.measure.processes.building import compile_shared
from polysched.runtime.scheduler_rows import JobRow, Options, Told
from polysched.runtime.scheduler_source import SCHEDULER
from polysched.target import find_compiler


def test_rows_are_those_of_the_scheduler() -> None:
    sizes = "".join('__attribute__((visibility("default"))) '
                    f'long {name}_bytes(void) {{ return sizeof(struct {name}); }}\n'
                    for name in ("job", "options", "told"))
    with TemporaryDirectory() as folder:
        made = compile_shared(SCHEDULER + sizes, name="sizes", folder=Path(folder), compiler=find_compiler(None),
                              flags=("-O0", "-pthread"), openmp=False, what="the scheduler")
        library = ctypes.CDLL(str(made.path))
    assert [library.job_bytes(), library.options_bytes(), library.told_bytes()] == [
        ctypes.sizeof(row) for row in (JobRow, Options, Told)]
