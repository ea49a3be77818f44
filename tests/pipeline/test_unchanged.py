"""Regions that stay as written are told in one line; nothing is left that compilers would warn of."""

import logging
from pathlib import Path

import pytest

from polysched import optimize
from polysched.pipeline import PipelineOptions, transform_file
from polysched.scop import from_c_text
from polysched.target import find_compiler

HEAD = "void f(int n, double *restrict a, double *restrict b) {\n#pragma scop\nfor (int i = 1; i < n; i++)\n"


@pytest.mark.parametrize(("body", "reason"), [
    ("a[i * i] = 1.0;", "a subscript of `a` in line 4 is not affine: it may name any element"),
    ("a[i] = a[i - 1] * b[i];", "every iteration of line 4 needs `a` of earlier ones"),
    ("a[i] = 2 * b[i];", None),
])
def test_a_region_that_stays_as_it_is_is_told(
        tmp_path: Path, caplog: pytest.LogCaptureFixture, body: str, reason: str | None) -> None:
    source = tmp_path / "in.c"
    source.write_text(f"{HEAD}{body}\n#pragma endscop\n}}\n")
    with caplog.at_level(logging.WARNING):
        transform_file(source)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ([f"{source}:4: the loops stay as they are: {reason}"] if reason else [])


@pytest.mark.parametrize(("body", "told"), [
    ("a[i] = cos(b[i]) + exp(a[i]) + sqrt(b[i]) + fabs(a[i]);",
     "cos, exp in vectors are within 4 units in the last place; --math libm has the bits of the C library"),
    ("a[i] = log(b[i]);",
     "log in vectors is within 4 units in the last place; --math libm has the bits of the C library"),
    ("a[i] = floor(b[i]) + fmax(a[i], 0.0);", None),
])
def test_functions_that_round_otherwise_than_the_c_library_are_told(
        tmp_path: Path, caplog: pytest.LogCaptureFixture, body: str, told: str | None) -> None:
    source = tmp_path / "in.c"
    source.write_text(f"#include <math.h>\n{HEAD}{body}\n#pragma endscop\n}}\n")
    with caplog.at_level(logging.WARNING):
        transform_file(source)
        transform_file(source, PipelineOptions(math="libm"))
    assert [record.getMessage() for record in caplog.records] == ([f"{source}:5: {told}"] if told else [])


def test_a_loop_that_is_left_early_is_told_without_names_that_the_file_does_not_have(
        tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = tmp_path / "in.c"
    source.write_text(f"{HEAD}{{ if (a[i] > b[i]) break;\na[i - 1] = b[i]; }}\n#pragma endscop\n}}\n")
    with caplog.at_level(logging.WARNING):
        transform_file(source)
    assert [record.getMessage() for record in caplog.records] == [
        f"{source}:3: the loops stay as they are: whether line 4 runs depends on earlier iterations, which may leave "
        "the loop or go on"]


@pytest.mark.parametrize(("left", "told"), [
    ("for (int i = 0; i < n; i++) a[i * i] = 1.0;",
     "a subscript of `a` in line 4 is not affine: it may name any element"),
    ("for (int i = 1; i < n; i++) a[i] = a[i - 1] * 3;", "every iteration of line 4 needs `a` of earlier ones"),
    ("for (int i = 1; i < n; i++) a[i] = 3;", None),
    ("for (int i = 1; i < n; i++) { a[i] = a[i - 1]; for (int j = 0; j < n; j++) c[i][j] = 2; }",
     "every iteration of line 4 needs `a` of earlier ones"),
])
def test_loops_that_stay_beside_others_are_told(
        tmp_path: Path, caplog: pytest.LogCaptureFixture, left: str, told: str | None) -> None:
    source = tmp_path / "in.c"
    source.write_text(f"""void f(int n, double *restrict a, double *restrict b, double (*restrict c)[n]) {{
#pragma scop

{left}
for (int i = 0; i < n; i++)
  b[i] = 2.0 * i;
#pragma endscop
}}
""")
    with caplog.at_level(logging.WARNING):
        made = transform_file(source)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ([f"{source}:4: the loops around this line stay as they are: {told}"] if told else [])
    assert "simd" in made.text


WARNED = """static double sq(double x) { return x * x; }
static const double unused_before = 1.0;
double g(int n, double *restrict a, double *restrict b, double c) {
  double t, u = 0, kept = 3;
  int i;
#pragma scop
  for (i = 0; i < n; i++) {
    t = sq(b[i]);
    u = t + 1;
    a[i] = u * c + kept;
  }
#pragma endscop
  b[0] = unused_before;
#pragma scop
  for (i = 0; i < n; i++)
    b[i] = a[i];
#pragma endscop
  return kept;
}
"""


@pytest.mark.parametrize("autodetect", [False, True])

def test_what_was_made_needless_leaves_no_warning(tmp_path: Path, autodetect: bool) -> None:
    source, made = tmp_path / "in.c", tmp_path / "out.c"
    source.write_text(WARNED)
    made.write_text(transform_file(source, PipelineOptions(autodetect=autodetect)).text)
    done = find_compiler(None).run(["-Wall", "-Wextra", "-Werror", "-O2", "-fopenmp", "-c", str(made), "-o",
                                    str(tmp_path / "out.o")])
    assert done.returncode == 0, done.stderr
    text = made.read_text()
    assert "(void)t;" in text
    assert "(void)sq;" in text
    assert "(void)kept;" not in text, "the code behind the region reads it"
    assert "#pragma scop" not in text
    assert "#pragma endscop" not in text


def test_pragmas_around_what_was_not_taken_stay(tmp_path: Path) -> None:
    source = tmp_path / "in.c"
    source.write_text("""int printf(const char *, ...);
void f(int n, double *restrict a) {
#pragma scop
  for (int i = 0; i < n; i++)
    printf("x");
#pragma endscop
  for (int i = 0; i < n; i++)
    a[i] = 1.0;
}
""")
    text = transform_file(source, PipelineOptions(autodetect=True)).text
    assert text.count("#pragma scop") == text.count("#pragma endscop") == 1


QUANTISED = """float row(const signed char *restrict x, const float *restrict xs,
          const signed char *restrict w, int n) {
  float val = 0;
  #pragma scop
  for (int j = 0; j <= n - 64; j += 64) {
    int ival = 0;
    for (int k = 0; k < 64; k++) ival += (int)x[j + k] * (int)w[j + k];
    val += (float)ival * xs[j / 64];
  }
  #pragma endscop
  return val;
}
"""


def test_starts_of_sums_in_lanes_and_sums_in_registers_are_no_gain() -> None:
    """What llama2.c does inside its own team: three loops and memory for `ival` gained a loop of zeros in lanes."""
    made = optimize(from_c_text(QUANTISED), PipelineOptions().but(parallel=False))
    assert made.as_written
    assert "ival" not in made.text.replace("int ival = 0", "").split("for (int k")[0]


def test_a_loop_by_steps_is_not_the_innermost_one() -> None:
    """Every 64th element is no lane; the step was not found, and such a loop looked as if it had one iteration."""
    made = optimize(from_c_text(QUANTISED))
    loops = made.text.split("k = 0; k < 64")
    assert "+= 64" in loops[0], made.text
    assert "simd" not in loops[0].splitlines()[-2], made.text
