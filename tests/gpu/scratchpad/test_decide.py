"""The whole mapping, and what is refused."""

from __future__ import annotations

import pytest

from polysched.dependence.legality import check_legal
from polysched.errors import UnsupportedScopError
from tests.gpu.scratchpad.accelerated import chain, mapped, norm, program


@pytest.mark.parametrize("text", [norm(16, 8), chain(32, 16, 16, 16)])
def test_the_mapping_is_a_legal_tree(text: str) -> None:
    own = mapped(text)
    check_legal(own.dependences, own.tree)
    assert "parallel=1" in str(own.tree)


def test_a_nest_that_no_tile_cuts_is_one_tile() -> None:
    own = mapped(program("float a[40]", "for (int i = 1; i < 40; i++) a[i] = a[i] + a[i - 1];"))
    (group,) = own.groups.values()
    assert group.plan.tiles == 1
    assert group.plan.edges == ()


def test_another_number_of_subscripts_is_refused() -> None:
    text = program("int n, int m, float *a", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)\n"
                   "  a[i * m + j] = 1.0f;")
    with pytest.raises(UnsupportedScopError):
        mapped(text, sizes={"n": 4, "m": 5})
