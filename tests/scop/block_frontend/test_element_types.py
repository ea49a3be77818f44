"""The types of tiles."""

import pytest

from polysched.scop.block_frontend.element_types import REAL, ElementType, joined, resolved, text_of


@pytest.mark.parametrize(("own", "text"), [
    (ElementType(("x",)), "x.dtype"), (ElementType(("x", "y")), "np.result_type(x, y)"),
    (joined((ElementType(("x",)), REAL)), "np.result_type(x, 1.0)"), (ElementType(), "y.dtype"),
    (ElementType(("alpha",)), "np.result_type(y, alpha)"), (ElementType(("np.uint64",)), "np.uint64")])
def test_the_type_as_python(own: ElementType, text: str) -> None:
    assert text_of(own, ["y", "x"]) == text


def test_temporaries_may_be_made_from_each_other() -> None:
    made = {"a": ElementType(("b", "x")), "b": joined((ElementType(("a", "y")), REAL))}
    assert resolved(ElementType(("a",)), made) == ElementType(("x", "y"), is_float=True)
