"""Run the real `polysched` command, as a user does, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.loaded_process import run_command

REFUSED, RUN_FAILED, WRONG_RESULT = 2, 3, 4

PRODUCT = """\
/* before */
void product(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
/* after */
"""

SCALING = """\
/* before */
void scaling(int n, double A[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] = 2 * A[i];
#pragma endscop
}
/* after */
"""
"""Where it does not matter what is transformed: it takes a quarter of the product's time."""


def polysched(*arguments: str, folder: Path, timeout: float = 120, environment: dict[str, str] | None = None,
              from_nothing: bool = False, given: str | bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run `polysched` in a folder and wait for it.

    given : what its standard input has, where it is a fork.
    from_nothing : a new interpreter imports what the command needs, rather than a fork that has it all; always so with
    a variable that an interpreter reads when it starts.
    """
    variables = {**os.environ, **(environment or {})}
    if not from_nothing and not any(name.startswith(("PYTHON", "LANG", "LC_")) for name in environment or {}):
        return run_command(arguments, folder=folder, environment=variables, timeout=timeout,
                           given=given.encode() if isinstance(given, str) else given)
    # without the user's own packages, which are not there: another word than those of `tests.forked_children`
    return subprocess.run([sys.executable, "-s", "-m", "polysched", *arguments], cwd=folder, capture_output=True,
                          text=True, timeout=timeout, stdin=subprocess.DEVNULL, check=False, env=variables)


def is_refusal(done: subprocess.CompletedProcess[str], *, code: int = REFUSED) -> bool:
    """Whether the command ended with a message, the right exit code and no traceback."""
    return done.returncode == code and done.stderr.startswith("polysched: ") and "Traceback" not in done.stderr
