"""The flags of bands: exact where isl can decide them, absent where it cannot."""

import pytest

from polysched.dependence import analyse
from polysched.scheduling import original
from polysched.scheduling.tree import flags
from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
from polysched.scop import from_c_text

PARALLEL = """
void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
      A[i][j] = A[i][j - 1];
#pragma endscop
}
"""


def coincident(tree):
    return [flag for node in walk(from_isl(tree).root) if isinstance(node, Band) for flag in node.coincident]


def test_flags_are_exact():
    schedule = original(analyse(from_c_text(PARALLEL)))
    assert coincident(flags.with_flags_in_budget(schedule.dependences, schedule.tree)) == [True, False]


def test_without_operations_no_loop_is_parallel(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    schedule = original(analyse(from_c_text(PARALLEL)))
    monkeypatch.setattr(flags, "ISL_OPERATIONS", 10)
    assert coincident(flags.with_flags_in_budget(schedule.dependences, schedule.tree)) == [False, False]
    assert "takes isl more than 10 operations" in caplog.text
