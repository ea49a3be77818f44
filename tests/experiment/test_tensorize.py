"""The experiment on tensorized operators: its loop nests, its bare instruction, and what its table makes of times."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.tensorize import find_intrinsic
from polysched.tensorize.choice import executes_here

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "tensorize"
START = "import json, sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); sys.path.insert(0, sys.argv[2])\n"


def said(text: str, folder: Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", START + text, str(folder), str(EXPERIMENT)], capture_output=True,
                          text=True, timeout=300, check=False, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "2"})
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


NESTS = """
import numpy as np, ours, workloads
for kind, types, sizes in (("product", "bytes", dict(m=5, n=7, k=9)), ("product", "bf16", dict(m=5, n=7, k=9)),
                           ("channels_last", "bytes", dict(k=3, c=5, size=4, window=3))):
    row = {"kind": kind, "types": types, "sizes": sizes}
    w = workloads.make(row)
    library, _ = ours.built("#include <stdlib.h>\\n" + __import__("field").PRELUDE + w.plain, (), Path(), kind + types)
    entry = ours.entry({"workload": row, "library": str(library.resolve()), "function": "plain", "prepare": "",
                        "plain": True, "arrays": w.order, "note": ""})
    entry.call()
    a = {n: (v.astype(np.uint32) << 16).view(np.float32) if v.dtype == np.uint16 else v.astype(np.int32)
         for n, v in w.inputs().items() if n != w.result}
    if kind == "product":
        wanted = a["A"] @ a["B"]
    else:
        seen = np.lib.stride_tricks.sliding_window_view(a["X"], (3, 3), axis=(1, 2))
        wanted = np.einsum("npqcrs,kcrs->npqk", seen, a["W"])
    print(np.array_equal(entry.results()[w.result], wanted) and bool(wanted.any()))
"""


BARE = """
import numpy as np, ours
from bare import bare
from dataclasses import asdict
from polysched.tensorize import find_intrinsic
made = bare(find_intrinsic("fma_f32_avx2"), threads=2)
library, _ = ours.built(made.text, made.flags, Path(), "bare")
entry = ours.bare_entry({**asdict(made), "library": str(library.resolve()), "times": 1000})
for _ in range(2):
    entry.call()
    got = entry.results()["registers"]
    print(got.shape, got.min(), got.max(), 2 * got.size * made.times == made.operations)
"""


def test_what_is_compiled_here_computes_its_definition(tmp_path: Path) -> None:
    if not executes_here(find_intrinsic("fma_f32_avx2")):
        pytest.skip("this CPU has no AVX2, whose multiply-add counts here")
    assert said(NESTS + BARE, tmp_path) == 3 * ["True"] + 2 * ["(2, 12, 8) 1000.0 1000.0 True"] + [""]


EACH = """
from bare import bare_c
from polysched.target import find_compiler
from polysched.tensorize import find_intrinsic
compiler = find_compiler()
Path("bare.c").write_text(bare_c(find_intrinsic("vpmaddwd"), 12))
done = compiler.run(["-O3", "-mavx2", "-std=gnu11", "-w", *compiler.openmp_compile, "-S", "bare.c", "-o", "bare.s"])
print(done.stderr, Path("bare.s").read_text().count("vpmaddwd"))
"""


def test_the_bare_instruction_computes_every_product(tmp_path: Path) -> None:
    """Inputs never change there, but their product is no constant of the loop: that would be a peak of additions."""
    if platform.machine() != "x86_64":
        pytest.skip("vpmaddwd is an instruction of x86-64")
    assert said(EACH, tmp_path) == [" 12", ""]


TABLE = """
import run
from polysched.experiment import Record
from polysched.experiment.standings import Standings, Status, VariantTimes
from polysched.measure.timing.statistics import Sample

def variant(name, *seconds, status=Status.VERIFIED):
    rounds = {i: (Sample(wall_seconds=s, thread_cpu_seconds=s, process_cpu_seconds=s, involuntary_switches=0),)
              for i, s in enumerate(seconds)}
    return VariantTimes(name=name, status=status, problem="" if seconds else "C[0] is 1 instead of 2", rounds=rounds)

def record(status, *seconds):
    standings = Standings(variants=(
        variant("plain", 8.0, 80.0), variant("polysched packing", 2.0, 20.0), variant("polysched", *seconds,
        status=status), variant("peak x", 0.5, 5.0), variant("polysched y", 2.0, 20.0), variant("peak y", 1.0, 10.0),
        variant("polysched y packing", 2.0, 20.0), variant("oneDNN a", 3.0, 30.0), variant("oneDNN b", 2.0, 20.0),
        variant("oneDNN b up to Y", 4.0, 40.0), variant("oneDNN narrow u8", 1.5, 15.0), variant("MKL", 4.0, 40.0)))
    rows = [{"intrinsic": "x", "ours": "polysched", "peak": "peak x", "peak_operations": 5e9, "asked": False,
             "onednn_limit": ""},
            {"intrinsic": "y", "ours": "polysched y", "peak": "peak y", "peak_operations": 1e10, "asked": True,
             "onednn_limit": "Y"}]
    values = {"contest": standings.to_json(), "flop_count": 1e10, "rows": rows, "skipped": {"z": "z: no such thing"}}
    return Record(experiment="tensorize", case="c", key="", parameters={}, threads=(2,), options={}, status="done",
                  problem="", values=json.loads(json.dumps(values)), seconds=1.0, machine={}, conditions={},
                  libraries={}, git_revision="", started="")

good, bad = record(Status.VERIFIED, 1.0, 10.0), record(Status.WRONG)
print(json.dumps([[r.share[0], r.plain[0], r.onednn[0], r.narrow and r.narrow[0], r.blas[0], r.rates[1]]
                  for r in run.rows_of(good)]))
print(json.dumps([run.verdict([good]), run.verdict([bad])]))
print(run.table([good]).splitlines()[-1])
print(run.table([bad]).splitlines()[-1])
"""


def test_a_share_is_a_ratio_of_rates_in_one_round(tmp_path: Path) -> None:
    rows, verdicts, skipped, wrong, _ = said(TABLE, tmp_path)
    assert json.loads(rows) == [[1.0, 8.0, 2.0, 1.5, 4.0, pytest.approx(10 / 5.5)],
                                [0.5, 4.0, 2.0, None, 2.0, pytest.approx(10 / 11)]]
    assert json.loads(verdicts) == ["", "not verified: c by x: verified, wrong"]
    assert skipped == "- c, z: skipped: z: no such thing"
    assert wrong == "- c, polysched: wrong: C[0] is 1 instead of 2"
