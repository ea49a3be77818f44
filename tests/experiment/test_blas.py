"""The experiment against the libraries: every workload's definition, and ours, agree on small sizes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.experiment.listings import unpack

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "blas"
SIZES = {"product": {"M": 37, "N": 33, "K": 21}, "batched_product": {"BATCH": 3, "M": 17, "N": 19, "K": 23},
         "convolution": {"N": 16, "K": 5, "H": 9, "R": 3}, "depthwise": {"K": 7, "H": 9, "R": 3},
         "softmax": {"M": 9, "N": 33}, "layer_norm": {"M": 9, "N": 33}, "gelu": {"M": 9, "N": 17, "K": 13},
         "lstm": {"BATCH": 3, "H": 16}, "jacobi": {"N": 23, "STEPS": 5}, "heat": {"N": 13, "STEPS": 3}}
COMPARE = """
import sys, json
sys.path.insert(0, sys.argv[1])
import ours, peers
from polysched.experiment.contest import difference_of
parameters = json.loads(sys.argv[2])
results = []
for made in (peers.numpy_entry(parameters), ours.entry(parameters)):
    made.restore()
    made.call()
    made.restore()
    made.call()
    results.append(made.results())
print(difference_of(*results, 1e-4)[0])
"""


@pytest.mark.parametrize("kind", SIZES)
def test_ours_computes_the_definition(kind: str, tmp_path: Path) -> None:
    row = f'{{"name": "{kind}", "kind": "{kind}", "dtype": "float32", "sizes": {SIZES[kind]}}}'.replace("'", '"')
    done = subprocess.run([sys.executable, "-c", COMPARE, str(EXPERIMENT),
                           f'{{"workload": {row}, "threads": 2, "flags": ["-O2", "-march=native"], '
                           f'"polysched": {{"reassociate": true}}, "kept_values": "{tmp_path}/values.json"}}'],
                          capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
                          env={**os.environ, "OMP_NUM_THREADS": "2"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
    (listing,) = unpack(json.loads((tmp_path / "values.json").read_text())["listings"])
    assert "parallel" in listing.schedule
    assert "for (" in listing.transformed
