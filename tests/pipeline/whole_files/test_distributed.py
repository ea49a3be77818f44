"""Files over ranks: regions that have the loop, and those that every rank runs as a whole."""

import logging
from pathlib import Path

import pytest

from polysched.errors import UsageError
from polysched.pipeline import PipelineOptions
from polysched.pipeline.whole_files.distributed import distribute_file

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
    assert "if ((n >= 1) && ((long)s >= 4)) {\n  { /* f along i" in made
    original = "    for (int i = 0; i < n; i++)\n      for (int k = 0; k < 4; k++)\n        d[i * s + k] += A[i];\n"
    assert f"}} else {{\n{original}}}" in made
