"""The functions for messages, on one rank and on three, in a program of their own."""

import subprocess
from pathlib import Path

import pytest

from polysched.emit_c.distributed.runtime import RUNTIME
from polysched.emit_c.limits import LIMITS
from tests.measure.mpi import needs_mpi

MAIN = r"""
int main(void) {
  printf("hello from the first\n");
  for (int q = 0; q < polysched_ranks; q++) if (q != polysched_me) {
    for (int at = 0; at <= polysched_me; at++) {
      const int value = 100 * polysched_me + q;
      polysched_put(q, &value, sizeof value);
    }
    polysched_in[q].size += (size_t)(q + 1) * sizeof(int);
  }
  polysched_exchange(0);
  for (int q = 0; q < polysched_ranks; q++) if (q != polysched_me)
    for (int at = 0; at <= q; at++) {
      int value;
      polysched_take(q, &value, sizeof value);
      if (value != 100 * q + polysched_me) polysched_fail("another value");
    }
  polysched_forget();
  long sent[4];
  polysched_sent_so_far(sent);
  if (sent[0] != (polysched_ranks - 1) * (polysched_me + 1) * (long)sizeof(int)) polysched_fail("another count");
  polysched_exchange(1);
  polysched_forget();
  return 0;
}
"""


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 3])
def test_values_arrive_and_one_rank_prints(ranks: int, tmp_path: Path) -> None:
    from polysched.measure.ranks import mpi_command
    source = tmp_path / "a.c"
    source.write_text(RUNTIME + MAIN)
    program = str(tmp_path / "a")
    warnings = ("-Wall", "-Wextra", "-Werror")
    subprocess.run([mpi_command("mpicc"), *warnings, "-O1", str(source), "-o", program], check=True)
    done = subprocess.run([mpi_command("mpiexec"), "-n", str(ranks), program], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("hello from the first") == 1


def test_waits_have_their_times() -> None:
    assert f"> {LIMITS.spin_seconds!r}) usleep({LIMITS.rest_microseconds});" in RUNTIME


LATE = r"""
#include <time.h>
int main(void) {
  const int value = 7;
  int found = 0;
  const double started = (double)clock() / CLOCKS_PER_SEC, begin = MPI_Wtime();
  if (polysched_me == 1) usleep(200000);
  polysched_put(1 - polysched_me, &value, sizeof value);
  polysched_in[1 - polysched_me].size += sizeof value;
  polysched_exchange(0);
  polysched_take(1 - polysched_me, &found, sizeof found);
  polysched_forget();
  if (found != 7) polysched_fail("another value");
  if (!polysched_me) printf("%.3f of %.3f\n", (double)clock() / CLOCKS_PER_SEC - started, MPI_Wtime() - begin);
  return 0;
}
"""


@needs_mpi
def test_a_rank_that_waits_leaves_its_core(tmp_path: Path) -> None:
    from polysched.measure.ranks import mpi_command
    source, program = tmp_path / "a.c", str(tmp_path / "a")
    source.write_text(RUNTIME + LATE)
    subprocess.run([mpi_command("mpicc"), "-O1", str(source), "-o", program], check=True)
    done = subprocess.run([mpi_command("mpiexec"), "-n", "2", program], capture_output=True, text=True, timeout=60,
                          check=True)
    used, waited = (float(number) for number in done.stdout.split(" of "))
    assert waited > 0.19
    assert used < waited / 2
