"""What a call of a C function is checked for: read back from JSON it is the same, and says what C declares."""

import json
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.errors import UsageError
from polysched.kernel import CFileFunction
from polysched.kernel.c_callable import CArgument, CCallable, Reach, RegionLimits, Variable

WEIGHTED = """
static double total[2][3];
int calls;
float weighted(unsigned char n, int m, const float x[n + 1], double y[n][2 * m], float *z) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      y[i][2 * j] = x[i + 1];
      total[0][0] += x[i];
    }
#pragma endscop
  z[0] = 3;
  calls += 1;
  return n;
}
"""
DESCRIBED = CCallable(
    name="f", returns="float32", variables=(Variable(name="t", dtype="float64", shape=(2, 3)),),
    arguments=(CArgument(name="n", kind="integer", dtype="int32"),
               CArgument(name="x", kind="array", dtype="float32", extents=("n", None), constant=True)),
    regions=(RegionLimits(context="[n] -> { : n > 0 }", sizes=(("n", "n"),), reaches=(
        Reach(argument="x", elements="[n] -> { x[i, j] }", inner=("[n] -> { [(n)] }",)),)),))


def test_what_was_kept_is_what_was_found() -> None:
    assert CCallable.from_json(json.loads(json.dumps(DESCRIBED.to_json()))) == DESCRIBED


@pytest.fixture
def weighted(tmp_path: Path) -> CFileFunction:
    path = tmp_path / "weighted.c"
    path.write_text(WEIGHTED)
    found = polysched.compile(path)
    assert isinstance(found, CFileFunction)
    return found


def test_a_call_takes_gives_and_keeps_what_the_c_function_does(weighted: CFileFunction) -> None:
    x, y, z = np.arange(8, dtype="float32")[::2], np.zeros((6, 4))[::2], np.zeros(2, "float32")[::-1]
    returned = weighted(3, 2, x, y, z)
    assert (returned, z[0]) == (3.0, 3.0)
    np.testing.assert_array_equal(y[:, ::2], np.repeat(x[1:, None], 2, axis=1))
    assert not y[:, 1::2].any()
    assert weighted.variables["total"].tolist() == [[2 * x[:3].sum(), 0, 0], [0, 0, 0]]
    assert "calls" not in weighted.variables
    x.flags.writeable = False
    weighted(3, 2, x, y, z)
    with pytest.raises(UsageError, match="n has to be a number of type uint8"):
        weighted(256, 2, x, y, z)
    with pytest.raises(UsageError, match="x has to have the shape"):
        weighted(3, 2, x[:3], y, z)
    with pytest.raises(UsageError, match="y has to have the shape"):
        weighted(3, 2, x, y[:, :3], z)


def test_a_size_that_wraps_is_checked_as_c_computes_it(tmp_path: Path) -> None:
    path = tmp_path / "wrapped.c"
    path.write_text("void wrapped(int n, float x[16]) {\n  long k = n - 8u;\n#pragma scop\n"
                    "  for (long i = 0; i < k; i++) x[i] = 1;\n#pragma endscop\n}\n")
    wrapped, x = polysched.compile(path), np.zeros(16, "float32")
    wrapped(12, x)
    assert x.sum() == 4
    with pytest.raises(UsageError, match=r"x has to have at least 4294967292 elements, it has 16"):
        wrapped(4, x)
