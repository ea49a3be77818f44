"""How the comparison of two checkouts tells what differs."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "experiments" / "ablation" / "emitted.py"

CLAUSE = """\
{
  #pragma omp parallel for if(n >= 2)
  for (long i = 0; i < n; i++) {
    a[i] = 0;
  }
}
"""
TEST = """\
{
  if (n >= 2) {
    #pragma omp parallel for
    for (long i = 0; i < n; i++) {
      a[i] = 0;
    }
  } else {
    for (long i = 0; i < n; i++) {
      a[i] = 0;
    }
  }
}
"""


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ablation_emitted", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


EMITTED = loaded()


@pytest.mark.parametrize(("old", "new", "told"), [
    (CLAUSE, CLAUSE, "same"),
    (CLAUSE, TEST, "same but for tests of teams"),
    (CLAUSE, f"  (void)i;\n{CLAUSE}", "same but for unused variables"),
    (CLAUSE, f"(void)i;\n{TEST}", "same but for tests of teams and unused variables"),
    (CLAUSE, TEST.replace("a[i] = 0", "a[i] = 1"), "1 lines went, 1 came, beside tests of teams"),
    (CLAUSE, CLAUSE.replace("a[i] = 0", "a[i] = 1"), "1 lines went, 1 came"),
    (TEST, CLAUSE.replace("n >= 2", "n >= 3"), "1 lines went, 1 came"),
])
def test_what_differs(old: str, new: str, told: str) -> None:
    assert EMITTED.difference(old, new) == told


def test_the_kernels_of_the_tests_are_compared() -> None:
    assert len([name for name, _, _ in EMITTED.programs(None)]) == 34
