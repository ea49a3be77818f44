"""The process of isolated jobs ends if nobody waits for it."""

import os
import pickle
import subprocess
import sys

from polysched.runtime.isolated import CHILD


def test_who_has_another_parent_ends() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
    done = subprocess.run([sys.executable, "-m", CHILD], input=pickle.dumps({"parent": 1}), env=environment,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
