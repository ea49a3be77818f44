"""An error of a device ends the program with its words, or returns to a caller that asked for that."""

from __future__ import annotations

import subprocess
from pathlib import Path

from polysched.emit_gpu.shared_runtime import ERRORS
from polysched.target import find_compiler

MAIN = r"""
int main(int count, char **arguments) {
  (void)arguments;
  jmp_buf here;
  if (count > 1) {
    polysched_device_caller = &here;
    if (setjmp(here)) return printf("%s came back\n", polysched_device_problem), 0;
  }
  polysched_device_refuse("no 100% device");
  return 0;
}
"""


def test_the_end_or_a_return(tmp_path: Path) -> None:
    source, program = tmp_path / "errors.c", tmp_path / "errors"
    source.write_text(ERRORS + MAIN)
    done = find_compiler(None).run(["-Wall", "-Wextra", "-Werror", str(source), "-o", str(program)], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    ended = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "polysched: no 100% device\n")
    returned = subprocess.run([program, "caller"], capture_output=True, text=True, check=False)
    assert (returned.returncode, returned.stdout) == (0, "no 100% device came back\n")
