"""A search that is killed at any moment goes on where it stopped: one trial is lost at most."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from polysched.search.database import Database, DatabaseError
from tests.search.programs import PRODUCT
from tests.search.test_tuning import FASTER

TUNE = """\
import sys
from tests.search.programs import OPTIONS, Recorded, Unbuilt, product
from tests.search.test_tuning import seconds_of, template
from polysched.search.tuning import Budget, tune

class Slow(Recorded):
    def race(self, candidates, *, against, pairs, slow_ratio, told):
        def tell(candidate, ran):
            print(candidate.proposal.recipe.text, flush=True)
            told(candidate, ran)
        super().race(candidates, against=against, pairs=pairs, slow_ratio=slow_ratio, told=tell)

found = tune(product(), space=template, strategy="grid", sizes={"n": 64}, budget=Budget(trials=16), options=OPTIONS,
             runner=Slow(seconds_of), builder=Unbuilt(), database=sys.argv[1], resume=True, clock=lambda: 0.0)
print("found", found.recipe.text, flush=True)
"""


def kept(path: Path) -> int:
    try:
        with Database(path, read_only=True) as database:
            return sum(len(database.trials(key)) for key, _ in database.tasks())
    except (DatabaseError, FileNotFoundError):
        return 0


def test_kill_at_random_moments(tmp_path: Path):
    draw, database, measured = random.Random(7), tmp_path / "tuned.db", []
    root = Path(__file__).parents[2]
    (tmp_path / "search.py").write_text(TUNE)
    kills = 0
    while True:
        process = subprocess.Popen([sys.executable, str(tmp_path / "search.py"), str(database)], stdout=subprocess.PIPE,
                                   text=True, env={**os.environ, "PYTHONPATH": str(root)})
        assert process.stdout is not None
        done = False
        for count, line in enumerate(process.stdout):
            if line.startswith("found"):
                done = True
                break
            measured.append(json.dumps(json.loads(line)))
            if kills < 2 and count >= draw.randrange(5):
                time.sleep(draw.random() * 0.01)
                kills += 1
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.close()
        process.wait()
        if done:
            break
    assert kills == 2
    raced_again = FASTER + 3
    assert kept(database) == 1 + 16 + raced_again
    assert len(measured) <= 1 + 16 + raced_again + kills, "each kill loses one trial at most"


REAL = """\
import sys
from polysched.measure.paired import MeasureOptions
from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_file
from polysched.search.tuning import Budget, tune
from tests.search.programs import OPTIONS

found = tune(from_c_file(sys.argv[1]), strategy="grid", sizes={"n": 64}, budget=Budget(trials=3), options=OPTIONS,
             threads=1,
             space=lambda choose, dependences: Recipe(tile=choose.one_of("edge", (8, 16, 24)), vector_bits=0),
             measure=MeasureOptions(flags=("-O1",)), database=sys.argv[2], resume=True,
             on_trial=lambda trial, count: print("trial", count, flush=True))
print("found", found.repeated, len(found.trials), flush=True)
"""


def times(path: Path) -> dict[tuple[str, str], tuple[tuple[float, float], ...]]:
    if not path.exists():
        return {}
    with Database(path, read_only=True) as database:
        return {(t.recipe.text, t.phase): t.pairs for key, _ in database.tasks() for t in database.trials(key)
                if t.is_settled}


def test_a_search_that_builds_and_times_is_killed(tmp_path: Path):
    """Compilers, timed processes and the search die together; what was measured stays, and is not measured again."""
    root, database = Path(__file__).parents[2], tmp_path / "tuned.db"
    (tmp_path / "search.py").write_text(REAL)
    (tmp_path / "product.c").write_text(PRODUCT)
    kept: dict[tuple[str, str], tuple[tuple[float, float], ...]] = {}
    before = 0
    for kill_at in (2, None):
        process = subprocess.Popen([sys.executable, str(tmp_path / "search.py"), str(tmp_path / "product.c"),
                                    str(database)], stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "PYTHONPATH": str(root)})
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.split())
            if line.startswith(f"trial {kill_at}"):
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.close()
        process.wait()
        now = times(database)
        assert {name: now[name] for name in kept} == kept, "a trial was measured again"
        kept, before = now, len(kept)
    told, repeated, trials = lines[-1]
    assert (told, trials) == ("found", "3")
    assert int(repeated) >= before, "what was there already and undisturbed"
