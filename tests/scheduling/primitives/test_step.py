"""What all steps share: types of fields, and JSON."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import Peel, Reorder, Reverse, Scale, Skew, Tile
from polysched.scheduling.primitives.step import Step
from tests.scheduling.primitives.programs import product


@pytest.mark.parametrize(("kind", "values", "field"), [
    (Tile, {"loops": ("i",), "sizes": (2.5,)}, "sizes"),
    (Tile, {"loops": "ij", "sizes": (2, 2)}, "loops"),
    (Reverse, {"loop": None}, "loop"),
    (Reverse, {"loop": True}, "loop"),
    (Skew, {"loop": "j", "by": "i", "factor": 1.5}, "factor"),
    (Scale, {"loop": "i", "factor": 1 << 40}, "factor"),
    (Peel, {"loop": "i", "count": "1"}, "count"),
])
def test_values_of_another_type_are_refused(kind: type[Step], values: dict[str, object], field: str):
    with pytest.raises(UsageError, match=f"step {kind.NAME}: {field} cannot be"):
        kind(**values)


def test_a_list_stands_for_a_tuple():
    assert Tile(loops=["i"], sizes=[4]) == Tile(loops=("i",), sizes=(4,))
    with pytest.raises(UsageError, match="no loop was named"):
        steps.apply(product(), Reorder(order=()))
