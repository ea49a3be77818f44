"""OpenScop text as sets and relations; what is wrong is refused with its line."""

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.scop.openscop import read_openscop
from polysched.scop.scop import AccessKind
from tests.scop.openscop.example import PRODUCT


def test_a_region_of_another_tool() -> None:
    region = read_openscop(PRODUCT)
    assert (region.language, region.parameters) == ("C", ("N",))
    assert region.context.is_equal(isl.Set("[N] -> { : N >= 1 }"))
    (statement,) = region.statements
    assert statement.domain.is_equal(isl.Set("[N] -> { [i, j] : 0 <= i, j < N }"))
    assert statement.scattering.is_equal(isl.Map("[N] -> { [i, j] -> [j, i] }"))
    assert [(kind, array) for kind, array, _ in statement.accesses] == [
        (AccessKind.READ, "B"), (AccessKind.MUST_WRITE, "A")]
    assert statement.accesses[0][2].is_equal(isl.Map("[N] -> { [i, j] -> [i - 1] }"))
    assert (statement.iterators, statement.body) == (("i", "j"), "A[i][j] = B[i-1];")


def test_a_union_has_parts() -> None:
    halves = PRODUCT.replace("DOMAIN\n4 5 2 0 0 1", "DOMAIN\n2\n5 5 2 0 0 1\n 1 -1 0 0 3").replace(
        "\nSCATTERING", "1 5 2 0 0 1\n 0 1 0 0 -9\n\nSCATTERING")
    (statement,) = read_openscop(halves).statements
    assert statement.domain.is_equal(isl.Set("[N] -> { [i, j] : (0 <= i, j < N and i <= 3) or i = 9 }"))


@pytest.mark.parametrize(("old", "new", "message"), [
    ("<OpenScop>", "", "1?: .*<OpenScop> was expected"),
    ("CONTEXT\n", "", "OpenScop:8: this is no OpenScop: CONTEXT was expected\n  witness: 1 3 0 0 0 1"),
    ("4 5 2 0 0 1", "4 6 2 0 0 1", "columns are one for the kind"),
    ("   1    0    1    0    0    ##", "   1    0    1    0    ##", "a constraint has 5 numbers"),
    ("   1    0    1    0    0    ##", "   2    0    1    0    0    ##", "the first of which is 0 or 1"),
    ("SCATTERING", "WRITE", "has no SCATTERING"),
    ("0    0    2    ## Arr", "1    0    2    ## Arr", "not the number of an array"),
    ("N\n</strings>", "N M\n</strings>", "1 parameters and 2 names"),
    ("</OpenScop>", "", "witness: the text ends here"),
    ("CONTEXT\n1 3 0 0 0 1\n   1    1   -1 ", "CONTEXT\n0\n", "parts of the CONTEXT before this line are none"),
    ("CONTEXT\n1 3 0 0 0 1\n   1    1   -1 ", "CONTEXT\n0 4 1 0 0 1\n", "the context has dimensions"),
    ("DOMAIN\n4", "DOMAIN\n2\n0 6 3 0 0 1\n4", "parts of the DOMAIN before this line are none, or differ"),
    ("4 5 2 0 0 1", "4 5 3 -1 0 1", "columns are one for the kind"),
    ("DOMAIN\n4 5 2 0 0 1", "DOMAIN\n4 5 2 0 1 0", "the DOMAIN of the statement .* other dimensions"),
    ("READ\n2 7 2 2 0 1", "READ\n2 7 3 1 0 1", "the READ of the statement .* other dimensions"),
    ("READ\n2 7 2 2 0 1", "READ\n2 7 0 2 2 1", "the READ of the statement .* other dimensions"),
    ("WRITE\n", "DOMAIN\n", "has two DOMAIN"),
    ("DOMAIN\n4 5 2", "DOMAIN\n0 1000000003 1000000000", "at most 1000"),
    ("DOMAIN\n", f"DOMAIN\n{'9' * 5000}\n", r"more than 40 digits\n  witness: 9{80}\.\.\."),
    ("N\n</strings>", "1;]\n</strings>", "different names were expected"),
    ("N\n</strings>", "N N\n</strings>", "different names were expected"),
])
def test_refusals(old: str, new: str, message: str) -> None:
    assert old in PRODUCT
    with pytest.raises(UsageError, match=message):
        read_openscop(PRODUCT.replace(old, new, 1))
