"""Files over ranks: regions that have the loop, and those that every rank runs as a whole."""

import logging
import subprocess
from pathlib import Path

import pytest

from polysched.errors import UsageError
from polysched.measure.ranks import mpi_command
from polysched.pipeline import PipelineOptions
from polysched.pipeline.whole_files.distributed import distribute_file
from tests.measure.mpi import needs_mpi

TWO = """\
#include <math.h>
/* before */
void f(int n, double A[n], double s[1]) {
#pragma scop
  for (int i = 0; i < n; i++) A[i] = sqrt(A[i]);
#pragma endscop
#pragma scop
  for (int k = 0; k < n; k++) s[0] += A[k];
#pragma endscop
}
/* after */
"""


def test_other_regions_and_bytes_stay(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "two.c"
    file.write_text(TWO)
    with caplog.at_level(logging.WARNING):
        made = distribute_file(file, "i")
    assert len(made.regions) == len(made.whole) == 1
    assert "two.c:7: every rank runs the region as a whole" in caplog.text
    assert made.text.startswith("#include <math.h>\n#include <mpi.h>\n")
    assert made.text.endswith(TWO[TWO.index("#pragma scop\n  for (int k"):])
    assert made.text.count("static void polysched_put(") == 1


def test_no_region_has_the_loop(tmp_path: Path) -> None:
    file = tmp_path / "two.c"
    file.write_text(TWO)
    with pytest.raises(UsageError, match="no loop q to distribute"):
        distribute_file(file, "q")


@pytest.mark.parametrize("options", [PipelineOptions(guard=True), PipelineOptions(safe=True)], ids=["guard", "safe"])
def test_versions_with_the_original_code_are_refused(options: PipelineOptions, tmp_path: Path) -> None:
    file = tmp_path / "two.c"
    file.write_text(TWO)
    with pytest.raises(UsageError, match="no original code beside them"):
        distribute_file(file, "i", options=options)


def test_names_of_the_emitted_code_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "two.c"
    file.write_text(TWO.replace("/* before */", "static int polysched_me = 3;"))
    with pytest.raises(UsageError, match="a name of the code that distributes regions: polysched_me"):
        distribute_file(file, "i")


def test_detected_regions_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "two.c"
    file.write_text(TWO)
    with pytest.raises(UsageError, match="regions over ranks are marked by pragmas"):
        distribute_file(file, "i", options=PipelineOptions(autodetect=True))


def test_what_is_always_tested_stands_around_all_ranks_do(tmp_path: Path) -> None:
    file = tmp_path / "one.c"
    file.write_text("void f(int n, int s, double A[n], double *restrict d) {\n#pragma scop\n"
                    "  for (int i = 0; i < n; i++)\n    for (int k = 0; k < 4; k++)\n      d[i * s + k] += A[i];\n"
                    "#pragma endscop\n}\n")
    made = distribute_file(file, "i").text
    assert "  if ((n >= 1) && ((long)s >= 4)) {\n    { /* f along i" in made
    original = "for (int i = 0; i < n; i++)\n        for (int k = 0; k < 4; k++)\n          d[i * s + k] += A[i];\n"
    assert f"  }} else {{\n      {original}  }}" in made


HALO = """\
#include <stdlib.h>
void f(int n, int m, double A[n][m], double B[n][m]) {
#pragma scop
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < n - 1; i++) for (int j = 0; j < m; j++) B[i][j] = A[i - 1][j] + A[i + 1][j];
    for (int i = 1; i < n - 1; i++) for (int j = 0; j < m; j++) A[i][j] = B[i][j] / 2;
  }
#pragma endscop
}
int main(int count, char **words) {
  static double a[400], b[400];
  const int n = atoi(words[1 + (polysched_rank() && count > 2)]);
  f(n, 20, (void *)a, (void *)b);
  return 0;
}
"""


@needs_mpi
@pytest.mark.parametrize(("sizes", "agree"), [(("20",), True), (("0",), True), (("-3",), True), (("20", "0"), False),
                                              (("0", "20"), False), (("-1", "0"), False)])
def test_ranks_that_disagree_on_whether_there_are_elements_are_told(sizes: tuple[str, ...], agree: bool,
                                                                     tmp_path: Path) -> None:
    """They ended in different branches of the test of sizes, and one waited for ever."""
    file = tmp_path / "halo.c"
    file.write_text(HALO.replace("polysched_rank()", "(getenv(\"PMI_RANK\") && atoi(getenv(\"PMI_RANK\")))"))
    made = distribute_file(file, "i")
    assert made.regions
    source, program = tmp_path / "made.c", str(tmp_path / "made")
    source.write_text(made.text)
    subprocess.run([mpi_command("mpicc"), "-O1", "-w", "-fopenmp", str(source), "-o", program], check=True)
    done = subprocess.run([mpi_command("mpiexec"), "-n", "2", program, *sizes], capture_output=True, text=True,
                          timeout=60, check=False)
    assert (done.returncode == 0) == agree
    assert ("n, m differ between ranks" in done.stderr) is not agree


LEFT_ALONE = r"""
#include <stdio.h>
#include <sys/mman.h>
void choices(int n, int t, int R[n], int a[n], int m[n]) {
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++) if (m[i] > 0) R[i] = a[i - 1];
    for (int i = 1; i < n - 1; i++) a[i] = a[i] + R[i + 1];
  }
#pragma endscop
}
enum { N = 4096 };
int main(void) {
  int *r = mmap(0, N * sizeof(int), 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static int a[N], m[N], q[N], b[N];
  for (int k = 0; k < N; k++) { r[k] = q[k] = -k; a[k] = b[k] = k; m[k] = k % 2048 < 1024; }
  for (int k = 0; k < 2; k++) mprotect(r + 1024 + 2048 * k, 4096, PROT_READ);
  for (int s = 0; s < 3; s++) {
    for (int i = 1; i < N - 1; i++) if (m[i] > 0) q[i] = b[i - 1];
    for (int i = 1; i < N - 1; i++) b[i] = b[i] + q[i + 1];
  }
  choices(N, 3, r, a, m);
  int bad = 0;
  for (int k = 0; k < N; k++) bad += r[k] != q[k] || a[k] != b[k];
  printf("bad %d\n", bad);
  return bad > 0;
}
"""


@needs_mpi
def test_elements_that_a_condition_leaves_alone_may_be_read_only(tmp_path: Path) -> None:
    file, source, program = tmp_path / "f.c", tmp_path / "g.c", str(tmp_path / "g")
    file.write_text(LEFT_ALONE)
    source.write_text(distribute_file(file, "i").text)
    subprocess.run([mpi_command("mpicc"), "-w", "-O1", str(source), "-o", program], check=True)
    done = subprocess.run([mpi_command("mpiexec"), "-n", "3", program], capture_output=True, text=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stdout) == (0, "bad 0\n"), done.stderr
