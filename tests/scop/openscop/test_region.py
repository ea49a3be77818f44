"""The kinds of accesses have one name each."""

from polysched.scop.openscop.region import KINDS
from polysched.scop.scop import AccessKind


def test_every_kind_has_a_name() -> None:
    assert sorted(KINDS.values(), key=str) == sorted(AccessKind, key=str)
