"""Which dimensions an operand's element tells, and how a refusal names two iterations."""

import pytest

from polysched.tensorize import find_intrinsic
from polysched.tensorize.proofs.correspondence import blurred, is_shared
from tests.tensorize.described import unit

NEST = "for (int i = 0; i < 8; i++) for (int k = 0; k < 4; k++)"
OPERANDS = {   # shape and element of X, the dimensions that the element does not tell, whether instances share elements
    "X[i][k]": ("[8][4]", {}, False),
    "X[i + k]": ("[11]", {"i", "k"}, True),
    "X[4*i + k]": ("[32]", {}, False),
    "X[3*i + k]": ("[25]", {"i", "k"}, True),
    "X[i + k][k]": ("[11][4]", {}, False),
    "X[i][i]": ("[8][8]", {}, False),
    "X[7 - i]": ("[8]", {}, False),
    "X[2*i] * X[2*i + 1]": ("[16]", {}, True),
    "X[i] * X[k]": ("[8]", {"i", "k"}, True),
    "X[i][k] * X[i][3 - k]": ("[8][4]", {"k"}, True),
}


@pytest.mark.parametrize("text", OPERANDS)
def test_dimensions_that_an_element_does_not_tell(text: str) -> None:
    shape, dimensions, shared = OPERANDS[text]
    made = unit("made", f"int32_t Y[8], const int16_t X{shape}, const int16_t W[4]", f"{NEST} Y[i] += {text} * W[k];")
    assert blurred(made, "X") == frozenset(dimensions)
    assert is_shared(made, "X") == shared
    assert not is_shared(made, "W")


def test_shipped_products_tell_all_instances_apart() -> None:
    for name in ("vpdpbusd", "tdpbusd", "mma_16x16x16_s8", "cblas_dgemm"):
        intrinsic = find_intrinsic(name)
        contraction = intrinsic.contraction
        assert not any(is_shared(intrinsic, e.array) for e in (contraction.output, *contraction.inputs))
