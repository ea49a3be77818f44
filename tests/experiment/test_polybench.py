"""The experiment on PolyBench: harness, verification and tools, on a suite of one kernel that is written here."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polysched.errors import CompileError
from polysched.experiment.contest_results import first_line, over_best_peer, standings_of
from polysched.experiment.folders import load_module
from polysched.experiment.listings import unpack
from polysched.experiment.record import read
from polysched.experiment.standings import Standings, Status, VariantTimes
from polysched.measure.processes.perf_counters import specification
from polysched.measure.timing.statistics import Sample
from polysched.search import Database
from tests.cli.command import polysched

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "polybench"

HEADER = """\
#ifndef POLYBENCH_H
#define POLYBENCH_H
#include <stdlib.h>
#define POLYBENCH_FREE_ARRAY(x) free((void *)x);
#define polybench_start_instruments
#define polybench_stop_instruments
#define polybench_print_instruments
extern void *polybench_alloc_data(unsigned long long int n, int elt_size);
#endif
"""
KERNEL = """\
#include <polybench.h>
#define DATA_TYPE double
#ifdef MINI_DATASET
#define N 40
#endif
static void init_array(int n, DATA_TYPE A[N][N], DATA_TYPE x[N])
{
  DATA_TYPE *scratch = polybench_alloc_data(n, sizeof(DATA_TYPE));
  for (int i = 0; i < n; i++) {
    scratch[i] = x[i] = i + 1.0;
    for (int j = 0; j < n; j++)
      A[i][j] = scratch[i] * (j + 1) / n;
  }
  POLYBENCH_FREE_ARRAY(scratch);
}

static void kernel_toy(int n, DATA_TYPE A[N][N], DATA_TYPE x[N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x[i] = x[i] + A[i][j] + 1.0;
#pragma endscop
}

int main(int argc, char **argv)
{
  DATA_TYPE (*A)[N][N] = polybench_alloc_data(N * N, sizeof(DATA_TYPE));
  DATA_TYPE (*x)[N] = polybench_alloc_data(N, sizeof(DATA_TYPE));
  init_array (N, *A, *x);
  polybench_start_instruments;
  kernel_toy (N, *A, *x);
  polybench_stop_instruments;
  polybench_print_instruments;
  return 0;
}
"""
WRONG_POLYCC = r"""#!/bin/sh
# polycc FILE ... -o OUT: another function
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; [ -f "$1" ] && in=$1; shift; done
sed 's/\[j\] + 1.0;/[j] + 2.0;/' "$in" > "$out"
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    root = tmp_path / "suite"
    (root / "utilities").mkdir(parents=True)
    (root / "kernels" / "toy").mkdir(parents=True)
    (root / "utilities" / "polybench.h").write_text(HEADER)
    (root / "utilities" / "benchmark_list").write_text("./kernels/toy/toy.c\n")
    (root / "kernels" / "toy" / "toy.c").write_text(KERNEL)
    return root


@pytest.mark.skipif(shutil.which("gcc") is None, reason="the experiment needs gcc as its reference")
def test_a_kernel_of_a_suite_is_verified_and_timed(suite: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "polycc").write_text(WRONG_POLYCC)
    (tools / "polycc").chmod(0o755)
    done = polysched("bench", str(EXPERIMENT), "--polybench-root", str(suite), "--dataset", "MINI", "--threads", "1",
                     "2", "--budget", "0.2", "--variants", "polysched", "pluto", "ppcg", "-q", "--results", "r.jsonl",
                     folder=tmp_path, environment={"PATH": f"{tools}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    (record,) = read(tmp_path / "r.jsonl")
    assert record.values["flop_count"] == 2 * 40 * 40
    assert record.values["bytes_moved"] == 8 * (40 * 40 + 2 * 40)
    assert "x[i]" in unpack(record.values["listings"])[0].transformed
    assert [*record.values["tools"]] == ["pluto"], "what is missing has no version"
    standings = standings_of(record)
    status = {v.name: v.status for v in standings.variants}
    assert status == {"gcc": Status.VERIFIED, "polysched@1": Status.VERIFIED, "polysched@2": Status.VERIFIED,
                      "pluto@1": Status.WRONG, "pluto@2": Status.WRONG, "ppcg@1": Status.MISSING,
                      "ppcg@2": Status.MISSING}
    wrong = standings.variant("pluto@1")
    assert wrong is not None
    assert wrong.problem.startswith("array2"), "the second array that main keeps; what init_array frees is none"
    assert "| toy" in done.stdout
    assert "not measured: ppcg (ppcg is not on the PATH)" in done.stdout


def test_a_kernel_is_translated_by_what_a_search_found(suite: Path, tmp_path: Path) -> None:
    done = polysched("bench", str(EXPERIMENT), "--polybench-root", str(suite), "--dataset", "MINI", "--threads", "1",
                     "--budget", "0.2", "--variants", "polysched", "--tuned", "0.02", "--keep", "kept", "-q",
                     "--results", "r.jsonl", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (record,) = read(tmp_path / "r.jsonl")
    assert record.values["tuned"]["gain"]["interval"][0] >= 1
    with Database(tmp_path / "kept" / "toy" / "tuned.db", read_only=True) as database:
        (winner,) = database.winners()
        assert winner.name.startswith("kernel_toy")
    assert "database: " in (tmp_path / "kept" / "toy" / "transformation.json").read_text()


def test_ours_with_another_number_of_threads_is_no_peer() -> None:
    seconds = {"gcc": 4.0, "polysched@1": 1.0, "polly@2": 3.0, "polysched@2": 1.5}
    standings = Standings(variants=tuple(VariantTimes(
        name=name, status=Status.VERIFIED, rounds={0: (Sample(
            wall_seconds=value, thread_cpu_seconds=value, process_cpu_seconds=value, involuntary_switches=0),)})
        for name, value in seconds.items()))
    assert over_best_peer(standings, "polysched@2") == 2.0


def test_pragmas_of_pluto_are_respelled() -> None:
    respelled = load_module(EXPERIMENT / "tools.py").respelled
    text = "#pragma ivdep\n#pragma vector always\n  for (;;)\n#pragma GCC ivdep\n"
    assert respelled(text) == "#pragma GCC ivdep\n  for (;;)\n#pragma GCC ivdep\n"


def test_arguments_of_a_python_version_have_their_names_in_c() -> None:
    c_names = load_module(EXPERIMENT / "own.py").c_names
    space: dict[str, Any] = {}
    exec("NAMES = {'image': 'in'}\ndef f(n, image, out): pass", space)
    assert c_names(space["f"]) == ["n", "in", "out"]
    plain: dict[str, Any] = {}
    exec("def g(n, image): pass", plain)
    assert c_names(plain["g"]) == ["n", "image"]


def test_the_initialisation_is_skipped_where_a_snapshot_replaces_it(suite: Path, tmp_path: Path) -> None:
    kernel = load_module(EXPERIMENT / "suite.py").Kernel(
        name="toy", root=suite, file=suite / "kernels" / "toy" / "toy.c", dataset="MINI", folder=tmp_path,
        settings={"snapshot": True}, config={})
    text = kernel.source().read_text()
    assert "if (harness_fresh()) init_array (N, *A, *x);" in text
    assert "static void init_array(int n" in text
    snapshot = kernel.snapshot()
    assert kernel.environment == {"HARNESS_SNAPSHOT": str(snapshot), "HARNESS_EVENTS": specification()}
    assert replace(kernel, dataset="SMALL").snapshot() != snapshot, "a kept folder may hold those of two data sets"


def test_what_was_kept_is_used_again_only_if_it_was_made_from_the_same(tmp_path: Path) -> None:
    made, product, tries = load_module(EXPERIMENT / "kept.py").made, tmp_path / "a.c", []

    def make() -> dict[str, int]:
        tries.append(len(tries))
        product.write_text("a")
        return {"try": len(tries)}
    assert [made(product, {"text": text}, make)["try"] for text in "aab"] == [1, 1, 2]
    product.unlink()
    assert made(product, {"text": "b"}, make) == {"try": 3}


def test_a_failure_is_kept_with_its_reason(tmp_path: Path) -> None:
    made, tries = load_module(EXPERIMENT / "kept.py").made, []

    def fail() -> dict[str, int]:
        tries.append(len(tries))
        raise CompileError("polycc failed", witness="no such loop")
    for _ in range(2):
        with pytest.raises(CompileError, match="polycc failed\n  witness: no such loop"):
            made(tmp_path / "a.c", {"text": "a"}, fail)
    assert tries == [0]


@pytest.mark.parametrize(("script", "words"), [
    ("echo 'Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 7' >&2; exit 1", "KeyError: 7"),
    ("echo 'warning: a cast' >&2; echo 'Error: no scop'; exit 1", "Error: no scop"),
    ("echo 'warning: a cast' >&2; kill -ABRT $$", "crashed with SIGABRT"),
])
def test_a_tool_that_fails_says_why(script: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        load_module(EXPERIMENT / "tools.py").call(["sh", "-c", script], "polycc", tmp_path)
    assert words in first_line(str(caught.value))
