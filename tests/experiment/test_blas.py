"""The experiment against the libraries: every workload's definition, and ours, agree on small sizes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.errors import PolyschedError
from polysched.experiment.folders import load_module
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


TVM = """
import sys, json
sys.path.insert(0, sys.argv[1])
import numpy, peers, tvm, tvm_peers, workloads
from polysched.experiment.contest import difference_of
for request in json.loads(sys.argv[2]):
    w = workloads.make(request)
    arrays = w.inputs()
    peers.NUMPY[w.kind](arrays, w)
    expected = {n: arrays[n].copy() for n in w.results}
    function, names = tvm_peers.defined(w)
    for name in w.results:
        arrays[name][...] = 0
    tvm.compile(function, target=tvm_peers.target_of(2))["main"](*(tvm.runtime.from_dlpack(arrays[n]) for n in names))
    print(w.kind, difference_of(expected, {n: arrays[n] for n in w.results}, 1e-4)[0])
"""


@pytest.mark.skipif(importlib.util.find_spec("tvm") is None, reason="TVM is not installed")
def test_the_definitions_for_tvm_compute_the_same() -> None:
    rows = [{"name": kind, "kind": kind, "dtype": "float32", "sizes": sizes} for kind, sizes in SIZES.items()
            if kind not in ("jacobi", "heat")]
    environment = {**os.environ, "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}
    done = subprocess.run([sys.executable, "-c", TVM, str(EXPERIMENT), json.dumps(rows)], capture_output=True,
                          text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert [line.strip() for line in done.stdout.splitlines()] == [row["kind"] for row in rows]


SEARCH = """
import json, pathlib, sys
request = json.loads(pathlib.Path(sys.argv[1]).read_text())
if request["fails"]:
    sys.exit("no such target")
pathlib.Path(request["records"], "found").write_text(str(request["trials"]))
"""


def test_a_search_is_run_once_for_the_same_request(tmp_path: Path) -> None:
    search = load_module(EXPERIMENT / "searched.py").searched
    folder, found = tmp_path / "records", tmp_path / "records" / "found"

    def run(**request: object) -> str:
        search({"trials": 8, "fails": False, **request}, folder, [sys.executable, "-c", SEARCH], {}, lambda phase: None)
        return found.read_text()
    assert run() == "8"
    found.write_text("kept")
    assert run() == run(trials=4) == "kept"
    assert run(trials=16) == "16"
    assert run(threads=2) == "8"
    with pytest.raises(PolyschedError, match="no such target"):
        run(fails=True)
    assert run() == "8"


def test_the_instructions_of_the_innermost_loop_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXPERIMENT))
    assembly = load_module(EXPERIMENT / "assembly.py")
    (body,) = assembly.innermost_loops(LOOPS)
    loop = assembly.counted(body)
    assert (loop.instructions, loop.multiply_adds, loop.register) == (10, 3, "zmm")
    assert (loop.vector_loads, loop.broadcasts, loop.vector_stores) == (1, 2, 1)
    assert (loop.stack, loop.prefetches, loop.others) == (1, 1, 3)


LOOPS = """\
kernel:
\tvmovups\t(%rsi), %zmm5
.L2:
\tjne\t.L4
.L3:
\tprefetcht0\t3072(%rbx)
\tvmovups\t(%rbx), %zmm3
\tvbroadcastss\t640(%r10,%rax), %zmm29
\tvfmadd231ps\t%zmm29, %zmm3, %zmm28
\tvfmadd231ps\t-8(%rsi){1to16}, %zmm3, %zmm27
\tvfnmadd231ps\t%zmm29, %zmm3, %zmm26
\tvmovaps\t%zmm26, (%rdi){%k1}
\taddq\t$4, 344(%rsp)
\taddq\t$64, %rbx
\tjne\t.L3
\tjne\t.L2
.L4:
\tret
"""
