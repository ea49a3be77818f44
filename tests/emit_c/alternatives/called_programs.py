"""Programs with statements that become calls of a function whose code is known."""

from __future__ import annotations

from polysched.tensorize.called import CalledProgram
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from tests.tensorize.functions.replaced import decided, region

DOUBLED = LibraryFunction(name="doubled", inline=True, variants=(Variant("""
void doubled(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i] + y[i];
}"""),))
PARAMETERS = ("int m, int n, float x[restrict n], float y[restrict n], float z[restrict n], float X[restrict m][n], "
              "float Y[restrict m][n]")


def called(body: str) -> CalledProgram:
    """The program with its calls."""
    found = decided(region(PARAMETERS, body), DOUBLED)
    assert found.program is not None, found.reasons
    return found.program
