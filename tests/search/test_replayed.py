"""Every recipe that a database keeps makes the same C in a new process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from polysched.search.automatic import automatic
from polysched.search.building import code_of, emitted
from polysched.search.database import Database
from polysched.search.identity import canonical_scop, key_of, place_of
from polysched.search.space import Explorer
from polysched.search.trial import Trial
from polysched.target import find_compiler
from tests.search.programs import OPTIONS
from tests.search.rewriting.test_producers import blur

AGAIN = """\
import json, sys
from polysched.search.building import code_of, emitted
from polysched.search.database import Database
from polysched.search.identity import canonical_scop
from tests.search.programs import OPTIONS
from tests.search.rewriting.test_producers import blur
with Database(sys.argv[1], read_only=True) as database:
    kept = [t for key, _ in database.tasks() for t in database.trials(key, canonical_scop(blur()))]
print(json.dumps([[t.code, code_of(emitted(blur(), OPTIONS, t.recipe))] for t in kept]))
"""


def test_stored_recipes_replay_to_the_same_code(tmp_path: Path) -> None:
    explorer, draw = Explorer(automatic, blur(), OPTIONS), random.Random(6)
    drawn = [explorer.sample(draw) for _ in range(3)]
    recipes = [own.recipe for own in drawn if own is not None]
    assert any(recipe.steps for recipe in recipes)
    expected = [code_of(emitted(blur(), OPTIONS, recipe)) for recipe in recipes]
    canonical = canonical_scop(blur())
    key = key_of(canonical, {}, place_of(OPTIONS, find_compiler(), threads=2, flags=()))
    with Database(tmp_path / "tuned.db") as database:
        database.begin(key, "blur")
        for recipe, code in zip(recipes, expected, strict=True):
            database.add(key, Trial(recipe=recipe, code=code), canonical)
    told = subprocess.run(
        [sys.executable, "-c", AGAIN, str(tmp_path / "tuned.db")], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": "77"})
    assert json.loads(told.stdout) == [[code, code] for code in expected]
