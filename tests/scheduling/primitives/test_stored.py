"""Steps as JSON: every kind comes back as it was, and what is no step is refused with what there is."""

from __future__ import annotations

import json

import pytest

from polysched.errors import UsageError
from polysched.scheduling.primitives import STEPS, Peel, Skew, Tile
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.primitives.stored import step_from_json


@pytest.mark.parametrize("step", [
    Tile(loops=("i", 2), sizes=(4, 8)), Skew(loop="j", by=0, factor=-2), Peel(loop="k", count=2, where="last")])
def test_a_step_comes_back(step: Step) -> None:
    stored = json.loads(json.dumps(step.to_json()))
    assert step_from_json(stored) == step
    assert type(step_from_json(stored)) is type(step)


@pytest.mark.parametrize(("value", "problem", "hint"), [
    ([1, 2], "a stored step is a JSON object", "parallel"),
    ("tile", "a stored step is a JSON object", "parallel"),
    ({"loops": ["i"]}, "there is no step None", "tile"),
    ({"step": "bend"}, "there is no step 'bend'", "tile"),
    ({"step": ["tile"]}, "there is no step", "tile"),
    ({"step": "skew", "loop": "j", "by": "i", "factor": 1, "angle": 3}, "has no field 'angle'", "factor"),
    ({"step": "skew", "loop": "j"}, "'skew' is incomplete", "factor"),
    ({"step": "skew", "loop": "j", "by": "i", "factor": None}, "factor cannot be None", "integer"),
])
def test_what_is_no_step(value: object, problem: str, hint: str) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        step_from_json(value)  # type: ignore[arg-type]
    assert hint in refused.value.hint


def test_every_kind_says_its_fields_where_some_are_missing() -> None:
    for name in STEPS:
        with pytest.raises(UsageError, match=f"step '{name}' is incomplete") as refused:
            step_from_json({"step": name})
        assert "its fields are" in refused.value.hint
