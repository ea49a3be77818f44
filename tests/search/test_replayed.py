"""A recipe that was stored makes the same C in a new process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from polysched.search.automatic import automatic
from polysched.search.building import code_of, emitted
from polysched.search.space import Explorer
from tests.search.programs import OPTIONS
from tests.search.rewriting.test_producers import blur

AGAIN = """\
import json, sys
from polysched.pipeline.recipe import Recipe
from polysched.search.building import code_of, emitted
from tests.search.programs import OPTIONS
from tests.search.rewriting.test_producers import blur
print(json.dumps([code_of(emitted(blur(), OPTIONS, Recipe.from_json(r))) for r in json.load(sys.stdin)]))
"""


def test_stored_recipes_replay_to_the_same_code():
    explorer, draw = Explorer(automatic, blur(), OPTIONS), random.Random(6)
    recipes = [explorer.sample(draw).recipe for _ in range(3)]
    assert any(recipe.steps for recipe in recipes)
    expected = [code_of(emitted(blur(), OPTIONS, recipe)) for recipe in recipes]
    told = subprocess.run(
        [sys.executable, "-c", AGAIN], input=json.dumps([r.to_json() for r in recipes]), capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": "77"})
    assert json.loads(told.stdout) == expected
