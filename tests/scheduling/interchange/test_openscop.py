"""The scattering of a region in OpenScop as a schedule of the program, and of no other."""

import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.scheduling import Schedule, original
from polysched.scheduling.interchange.openscop import has_region, read_region
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_text
from tests.scop.openscop.example import PRODUCT

SAME = """void f(int N, double A[N][N], double B[N + 1]) {
#pragma scop
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = B[i-1];
#pragma endscop
}"""


@pytest.fixture(scope="module")
def program() -> Dependences:
    return analyse(from_c_text(SAME))


def test_the_order_of_another_tool_is_read(program: Dependences) -> None:
    assert has_region(PRODUCT)
    read = Schedule.from_text(PRODUCT, program)
    assert tree_text(read.tree) == "band permutable\n  parallel    S0: j\n  parallel    S0: i\n"
    assert original(program).to_text("openscop").count("SCATTERING") == 1


@pytest.mark.parametrize(("old", "new", "message"), [
    ("1   -1    0    1   -1 ", "1   -1    0    1   -2 ", r"other iterations of S0\n  witness: .* only in the program"),
    ("1   -1    0    1   -1 ", "1   -1    0    1    0 ", "only in the OpenScop region"),
    ("1    0    0   -1    ##", "1    0    0    0    ##", "lacks an access of S0\n  witness: read B"),
    ("1 A\n2 B", "1 A\n2 C", "lacks an access of S0"),
])
def test_another_program_is_refused(program: Dependences, old: str, new: str, message: str) -> None:
    assert old in PRODUCT
    with pytest.raises(UsageError, match=message):
        read_region(PRODUCT.replace(old, new, 1), program.scop)


def test_another_number_of_statements_is_refused() -> None:
    two = from_c_text(SAME.replace("A[i][j] = B[i-1];", "{ A[i][j] = B[i-1]; A[i][j] += 1; }"))
    with pytest.raises(UsageError, match="it has 1 statements, the program 2"):
        read_region(PRODUCT, two)
