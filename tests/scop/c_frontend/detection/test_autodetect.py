"""Regions that nobody marked: the largest there are, or a reason."""

from pathlib import Path

import pytest

from polysched.errors import BudgetExceededError, PolyschedError, UnsupportedScopError
from polysched.scop import all_from_c_file, all_from_c_text
from polysched.scop.c_frontend.detection.autodetect import _most
from polysched.scop.scop import Scop

DETECTED = """#include <stdio.h>
#define EACH(i) for (int i = 0; i < n; i++)
void f(int n, double A[n][n], double *x) {
  int i, j;
  double s = 0;
  printf("x");
  for (i = 0; i < n; i++) { // for
    x[i] = 1; /* } */
  }
  s = 2;
  if (n > 3)
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++)
        if (j < i) A[i][j] = s; else
          x[i] += A[j][i];
  printf("y %g", x[0]);
  for (int t = 0; t < n; t++) {
    printf("z");
    for (j = 0; j < n; j++)
      x[j] *= 2;
  }
  EACH(k) x[k] = 0;
}
"""


def test_detected_regions_are_the_largest():
    scops = all_from_c_text(DETECTED, autodetect=True)
    covered = [DETECTED[s.source.start:s.source.end] for s in scops]
    assert [c.split("\n")[0] for c in covered] == ["for (i = 0; i < n; i++) { // for", "for (j = 0; j < n; j++)"]
    assert [c.split("\n")[-1].strip() for c in covered] == ["x[i] += A[j][i];", "x[j] *= 2;"]
    assert [s.source.indent for s in scops] == ["  ", "    "]
    assert [len(s.statements) for s in scops] == [4, 1]


STRAIGHT = """int main(void) {
  int a, b = 3; double A[3];
  a = 3;
  if (a > 0)
    b = 5;
  int c = b;
  A[0] = 1; A[1] = A[0];
  printf("%d", c);
  A[1] += 2;
  return a + b + c;
}
"""


def test_statements_without_loops_make_no_regions():
    with pytest.raises(UnsupportedScopError, match="no loop whose text can be found"):
        all_from_c_text(STRAIGHT, autodetect=True)
    loop = STRAIGHT.replace("A[1] += 2;", "for (int i = 0; i < 3; i++) A[i] += 2;")
    assert len(all_from_c_text(loop, autodetect=True)) == 1


def test_nothing_detected_says_why():
    with pytest.raises(Exception, match=r"represented; the first refusal of an innermost loop: .*affine") as caught:
        all_from_c_text("void f(int n, int *x) {\n for (int i = 0; i < x[n]; i++) x[i] = 1;\n}\n", autodetect=True)
    assert caught.value.where.line == 2
    with pytest.raises(Exception, match="no loop whose text"):
        all_from_c_text("int x;\n", autodetect=True)


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 7, 20])
def test_runs_grow_in_steps_that_double(limit: int) -> None:
    for last in range(limit + 1):
        asked: list[int] = []

        def can_be(number: int, last: int = last, asked: list[int] = asked) -> bool:
            asked.append(number)
            return number <= last
        assert _most(limit, can_be) == last
        assert len(set(asked)) == len(asked) <= 2 * limit.bit_length() + 1
        assert not asked or asked[0] == 1


def test_long_runs_are_one_region() -> None:
    loops = "".join(f"  for (int i = 0; i < n; i++) x[i] += {k};\n" for k in range(11))
    text = f"void g(void); void f(int n, double *x) {{\n{loops}  g();\n{loops}}}\n"
    assert [len(s.statements) for s in all_from_c_text(text, autodetect=True)] == [11, 11]


def test_what_took_too_long_is_not_tried_again_from_its_second_loop_on(tmp_path: Path) -> None:
    loops = "".join(f"  for (int i = 0; i < n; i++) x[i] += {k};\n" for k in range(4))
    asked: list[int] = []

    def judge(scop: Scop) -> PolyschedError | None:
        asked.append(len(scop.statements))
        return BudgetExceededError("too long") if len(scop.statements) > 1 else None
    file = tmp_path / "long.c"
    file.write_text(f"void f(int n, double *x) {{\n{loops}}}\n")
    assert len(all_from_c_file(file, autodetect=True, judge=judge)) == 4
    assert asked == [4, 2, 1, 1, 2, 1, 1]
