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
    confirmed = 3
    assert kept(database) == 1 + 16 + confirmed
    assert len(measured) <= 1 + 16 + confirmed + kills, "each kill loses one trial at most"
