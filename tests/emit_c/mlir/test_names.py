"""Names as another language spells them, no two alike."""

import pytest

from polysched.emit_c.mlir.names import array_name, distinct_names, free_prefix
from polysched.errors import UnsupportedScopError


def test_names() -> None:
    assert array_name("p->x") == "p__x"
    assert distinct_names(["n", "p.x"], array_name) == {"n", "p_x"}
    with pytest.raises(UnsupportedScopError, match=r"^two names would be spelt p_x\n  witness: p.x, p_x"):
        distinct_names(["p.x", "p_x"], array_name)


def test_a_prefix_begins_no_name() -> None:
    assert free_prefix("i", {"n", "j"}) == "i"
    assert free_prefix("i", {"i0", "i_"}) == "i__"
