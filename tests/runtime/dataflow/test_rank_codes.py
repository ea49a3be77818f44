"""What workers load: little, and without the rooms that make code."""

import subprocess
import sys

import numpy as np
import pytest

from polysched.runtime.dataflow.rank_codes import CollectCode

HEAVY = ("polysched.scheduling", "polysched.tiling", "polysched.emit_c", "polysched.dependence", "polysched.distribute",
         "polysched.graph", "polysched.model", "islpy", "ortools")


@pytest.mark.parametrize("module", ["executor", "codes", "rank_codes", "ray_workers"])
def test_workers_import_no_room_that_makes_code(module: str) -> None:
    text = (f"import sys, polysched.runtime.dataflow.{module}\n"
            f"print(*(m for m in {HEAVY!r} if m in sys.modules))")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_what_was_written_is_packed() -> None:
    ((found,),) = CollectCode().load()(((slice(1, 3),),), np.arange(4))
    assert found.tolist() == [1, 2]
