"""`polysched run`: real programs, verified and timed; bad sizes refused before anything runs; failures told apart."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polysched.cli.entry import main, make_parser
from polysched.cli.run import measure_function, show
from polysched.cli.shown.progress import Progress
from polysched.errors import RunFailedError
from polysched.measure import paired
from polysched.measure.paired import MeasureOptions
from polysched.pipeline import files
from polysched.pipeline.files import TransformedFile, optimize
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from tests.cli.command import PRODUCT, REFUSED, RUN_FAILED, SCALING, WRONG_RESULT, is_refusal, polysched
from tests.report import made_results

QUICK = ("--pairs", "3", "--budget", "1", "--threads", "2")
PLAIN = ("--scheduler", "original", "--tile", "off")
"""What is found and compiled in a third of the time."""


def run(folder: Path, text: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    (folder / "in.c").write_text(text)
    plain = () if {"--scheduler", "--target"} & set(arguments) else PLAIN
    return polysched("run", "in.c", *QUICK, *plain, *arguments, folder=folder, **options)


def measured(folder: Path, text: str, *arguments: str) -> dict[str, Any]:
    done = run(folder, text, "--json", "report.json", *arguments)
    assert done.returncode == 0, done.stderr
    value = json.loads((folder / "report.json").read_text())["measurement"]
    assert value["derived"]["verified"]
    assert value["timing"]["original"]
    return value


def function(parameters: str, body: str, before: str = "", result: str = "void", after: str = "") -> str:
    return f"{before}\n{result} f({parameters})\n{{\n#pragma scop\n{body}\n#pragma endscop\n{after}}}\n"


def test_a_product_is_verified_and_timed(tmp_path: Path) -> None:
    done = run(tmp_path, PRODUCT, "--size", "n=70", "--json", "report.json", "-o", "out.c", "--results", "all.jsonl",
               "--scheduler", "pluto")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "product(n=70) in in.c"
    assert lines[1].startswith("verified: largest difference ")
    assert "times as fast as the original (median of 3 alternating pairs" in done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    measurement = report["measurement"]
    assert measurement["sizes"] == {"n": 70}
    assert measurement["work"]["flop_count"] == 2 * 70**3
    assert measurement["work"]["bytes_moved"] == 4 * 70 * 70 * 8
    assert measurement["timing"]["threads"] == 2
    assert measurement["machine"]["cores"] >= 1
    assert measurement["original"]["version"]
    assert measurement["steps"]
    assert report["regions"][0]["seconds"]
    assert "#pragma scop" not in (tmp_path / "out.c").read_text()
    (line,) = (tmp_path / "all.jsonl").read_text().splitlines()
    assert json.loads(line) == measurement
    assert sorted(p.name for p in tmp_path.iterdir()) == ["all.jsonl", "in.c", "out.c", "report.json"]


def test_sizes_are_as_large_as_constant_extents_allow(tmp_path: Path) -> None:
    text = function("int n, int m, double A[50][60], double B[61]",
                    "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) A[i][j] += A[i][j-1] + B[j+1];")
    assert measured(tmp_path, text)["sizes"] == {"n": 50, "m": 60}


def test_a_coupled_limit_is_shared_evenly(tmp_path: Path) -> None:
    text = function("int n, int m, double A[100]",
                    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i+j] += 1;")
    sizes = measured(tmp_path, text)["sizes"]
    assert sizes["n"] + sizes["m"] == 101
    assert abs(sizes["n"] - sizes["m"]) <= 1


def test_a_size_may_come_from_a_macro_a_global_or_a_pointer(tmp_path: Path) -> None:
    before = "int SIZE = 40;\nstatic const double table[2] = {0.5, 2};\ndouble total;\ndouble grid[64][3];"
    body = "for (int i = 0; i < SIZE; i++) { x[i] += table[i % 4 == 0]; total += x[i]; grid[i][0] = x[i]; }"
    text = function("double *x", body, before=before)
    assert measured(tmp_path, text)["sizes"] == {"SIZE": 64}
    assert measured(tmp_path, text, "--size", "SIZE=17")["sizes"] == {"SIZE": 17}


def test_a_result_is_compared(tmp_path: Path) -> None:
    text = function("int n, float *x", "for (int i = 0; i < n; i++) s += x[i];", result="static float",
                    after="  return s;\n").replace("#pragma scop", "  float s = 0;\n#pragma scop")
    arrays = {a["array"] for a in measured(tmp_path, text, "--size", "n=100")["verification"]["arrays"]}
    assert "return value" in arrays


def test_two_regions_of_a_function_are_run_together(tmp_path: Path) -> None:
    text = function("int n, double A[n]", "for (int i = 0; i < n; i++) A[i] *= 2;\n#pragma endscop\n  A[0] = 1;\n"
                    "#pragma scop\nfor (int i = 1; i < n; i++) A[i] += A[i-1];")
    assert measured(tmp_path, text, "--size", "n=50")["work"]["flop_count"] == 50 + 49


def test_one_of_several_functions_is_chosen(tmp_path: Path) -> None:
    text = PRODUCT + PRODUCT.replace("product", "second")
    done = run(tmp_path, text, "--size", "n=20")
    assert is_refusal(done)
    assert "several functions contain a scop: product, second" in done.stderr
    assert "hint: choose one with --function" in done.stderr
    assert run(tmp_path, text, "--size", "n=20", "--function", "second").stdout.startswith("second(n=20)")
    assert "no function third contains a scop" in run(tmp_path, text, "--function", "third").stderr


@pytest.mark.parametrize("scheduler", ["pluto", "isl", "original"])
@pytest.mark.parametrize("tile", ["off", "7"])
def test_every_scheduler_runs(tmp_path: Path, scheduler: str, tile: str) -> None:
    value = measured(tmp_path, PRODUCT, "--size", "n=33", "--scheduler", scheduler, "--tile", tile, "--no-parallel")
    assert value["options"]["scheduler"] == scheduler


def test_a_size_that_leaves_an_array_is_refused_with_the_access(tmp_path: Path) -> None:
    text = function("int n, double A[50]", "for (int i = 0; i < n; i++) A[i + 1] = 0;")
    done = run(tmp_path, text, "--size", "n=50", "--quiet")
    assert is_refusal(done), done.stderr
    assert "in.c:5: with n=50 the access S0_w0 leaves the array A" in done.stderr
    assert "witness: A[50], but the array has 50 elements" in done.stderr
    assert "hint: choose smaller values with --size" in done.stderr


def test_an_access_that_always_leaves_its_array_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, function("int n, double A[n]", "for (int i = 0; i < n; i++) A[i - 1] = 0;"))
    assert is_refusal(done), done.stderr
    assert "leaves the array A" in done.stderr
    assert "A[-1]" in done.stderr


@pytest.mark.parametrize("sizes", [["n=0"], ["n=99999999999"]])
def test_senseless_sizes_are_refused_before_anything_is_computed(
        sizes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("a region was transformed")
    monkeypatch.setattr(files, "optimized_region", never)
    (tmp_path / "in.c").write_text(PRODUCT)
    assert main(["run", str(tmp_path / "in.c"), "--size", *sizes]) == REFUSED
    assert sizes[0].split("=")[0] in capsys.readouterr().err


def test_sizes_are_those_of_the_named_function(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.c").write_text(SCALING)
    assert main(["run", str(tmp_path / "in.c"), "--function", "other", "--size", "n=0"]) == REFUSED
    assert "no function other contains a scop" in capsys.readouterr().err


@pytest.mark.parametrize(("size", "message"), [
    ("n=1000000", "GiB"), ("m=3", "has no integer parameter 'm'"), ("n=0", "n=0"), ("n=-5", "n=-5"),
    ("n=99999999999", "n=99999999999"), ("C=3", "has no integer parameter 'C'")])
def test_senseless_sizes_are_refused(tmp_path: Path, size: str, message: str) -> None:
    done = run(tmp_path, PRODUCT, "--size", size)
    assert is_refusal(done), done.stderr
    assert message in done.stderr


@pytest.mark.parametrize("size", ["n", "n=", "=3", "n=x", "n=1.5"])
def test_what_is_no_size_is_refused(tmp_path: Path, size: str) -> None:
    done = run(tmp_path, PRODUCT, "--size", size)
    assert done.returncode == 2
    assert "is not NAME=VALUE with a whole number" in done.stderr


def test_a_parameter_that_cannot_be_made_up_is_refused(tmp_path: Path) -> None:
    text = function("int n, double **A", "for (int i = 0; i < n; i++) A[i][0] = 0;")
    done = run(tmp_path, text)
    assert is_refusal(done), done.stderr
    assert "A" in done.stderr


CRASH = function("int n, double A[n]", "for (int i = 0; i < n; i++) A[i] = 0;", after="  *(volatile int *)8 = n;\n")
HANG = function("int n, double A[n]", "for (int i = 0; i < n; i++) A[i] = 0;",
                after="  for (volatile int i = 0; ; i++) ;\n")
EATER = function("int n, double A[n]", "for (int i = 0; i < n; i++) A[i] = 0;",
                 before="#include <stdlib.h>\n#include <string.h>",
                 after="  for (;;) memset(malloc(1 << 24), 1, 1 << 24);\n")


@pytest.mark.parametrize(("text", "options", "message"), [
    (CRASH, (), "crashed with SIGSEGV"), (HANG, ("--timeout", "1.5"), "hung: no progress for 1.5 seconds"),
    (EATER, ("--memory", "256"), "ran out of memory: the limit is 256 MiB")])
def test_a_program_that_fails_is_reported_and_leaves_nothing(
        tmp_path: Path, text: str, options: tuple[str, ...], message: str) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = run(tmp_path, text, "--size", "n=10", "--json", "report.json", *options,
               environment={"TMPDIR": str(temporary)})
    assert is_refusal(done, code=RUN_FAILED), done.stderr
    assert message in done.stderr
    assert "while it was running the original code" in done.stderr
    assert not list(temporary.iterdir())
    value = json.loads((tmp_path / "report.json").read_text())["measurement"]
    assert message in value["failure"]
    assert value["timing"] is None


@pytest.mark.parametrize(("failure", "hint"), [("undefined symbol: cblas_dgemm", "--cflags '-O3 -march=native -lNAME'"),
                                               ("crashed with SIGSEGV", "--timeout and --memory")])
def test_a_failure_has_the_hint_that_concerns_it(failure: str, hint: str) -> None:
    failed = replace(made_results.measured("f"), failure=failure, timing=None)
    with pytest.raises(RunFailedError, match=failure) as refusal:
        show(failed)
    assert hint in (refusal.value.hint or "")


def test_a_function_without_visible_effect_is_not_verified(tmp_path: Path) -> None:
    text = function("int n", "for (int i = 0; i < n; i++) A[i] = i;").replace(
        "#pragma scop", "  double A[100];\n#pragma scop")
    done = run(tmp_path, text, "--quiet")
    assert is_refusal(done, code=4), done.stderr
    assert "changes nothing that can be seen from outside" in done.stderr


def test_termination_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(HANG)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    started = subprocess.Popen([sys.executable, "-m", "polysched", "run", "in.c", "--size", "n=10"], cwd=tmp_path,
                               env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (running := measured_processes_of(started.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running
    started.send_signal(signal.SIGTERM)
    assert started.wait(timeout=20) == 143
    assert not list(temporary.iterdir())
    while left := [pid for pid in running if Path(f"/proc/{pid}").exists()]:  # killed, but not buried yet
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def measured_processes_of(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(p) for p in children if b"paired_run" in Path(f"/proc/{p}/cmdline").read_bytes()]
    except FileNotFoundError:
        return []


def test_another_compiler_and_its_flags(tmp_path: Path) -> None:
    value = measured(tmp_path, PRODUCT, "--size", "n=20", "--cc", "gcc", "--cflags=-O1 -funroll-loops")
    assert value["original"]["compiler"] == "gcc"
    assert value["original"]["flags"][:2] == ["-O1", "-funroll-loops"]


def test_sizes_may_stand_anywhere_and_json_may_go_to_the_standard_output(tmp_path: Path) -> None:
    text = function("int n, int m, double A[n][m]",
                    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] += 1;")
    (tmp_path / "in.c").write_text(text)
    done = polysched("run", "--size", "n=9", "m=8", "--json", "-", *QUICK, "--size", "n=7", "in.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["measurement"]["sizes"] == {"n": 7, "m": 8}
    assert "verified: " in done.stderr


@pytest.mark.parametrize(("ratio", "said"), [(0.5, True), (2.0, False)])
def test_a_slower_result_says_what_else_to_try(ratio: float, said: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(made_results.measured("f", ratio=ratio)) == 0
    assert ("--safe keeps the original" in capsys.readouterr().out) is said


@pytest.mark.parametrize(("device", "wanted", "unwanted"), [
    (None, "--no-parallel", "--points"), ("opencl", "--points", "--no-parallel"), ("cuda", "--block", "--safe"),
    ("davinci", "what davinci would", "--no-parallel")])
def test_what_else_to_try_is_what_the_target_takes(device: str | None, wanted: str, unwanted: str,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    show(made_results.measured("f", ratio=0.5), device=device)
    told = capsys.readouterr().out
    assert wanted in told
    assert unwanted not in told


def test_the_flags_of_all_regions_of_a_function_reach_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def flagged(*flags: str) -> Optimized:
        return optimize(from_c_text(PRODUCT), PipelineOptions(flags=flags))

    regions = (flagged("-O2"), flagged("-funroll-loops", "-O2"))
    found: list[MeasureOptions] = []
    monkeypatch.setattr(paired, "compare_and_time", lambda subject, sizes, *, options, **_: found.append(options))
    arguments = make_parser().parse_args(["run", "product.c", "--cflags=-O3"])
    measure_function(TransformedFile(path=Path("product.c"), text="", regions=regions, seconds={}), arguments,
                     Progress(quiet=True), {})
    assert found[0].flags == ("-O3", "-O2", "-funroll-loops")


def test_operands_cut_to_ten_bits_need_a_tolerance(tmp_path: Path) -> None:
    text = PRODUCT.replace("double", "float")
    words = ("--target", "cuda", "--tensor-cores", "tf32", "--size", "n=70", "--scheduler", "original")
    on_cpu = {"POLYSCHED_CUDA_ON_CPU": "1"}
    refused = run(tmp_path, text, *words, environment=on_cpu)
    assert is_refusal(refused, code=WRONG_RESULT), refused.stderr
    assert "--tolerance 1e-2 allows differences of a hundredth" in refused.stderr
    done = run(tmp_path, text, *words, "--tolerance", "1e-2", environment=on_cpu)
    assert done.returncode == 0, done.stderr
    assert "verified: largest difference" in done.stdout


def test_equal_bits_may_be_asked_for(tmp_path: Path) -> None:
    text = function("int n, float A[n], float B[n]", "for (int i = 0; i < n; i++) A[i] = 2 * B[i];")
    done = run(tmp_path, text, "--tolerance", "0", "--size", "n=1000")
    assert done.returncode == 0, done.stderr


def test_effects_that_a_header_declares_are_checked(tmp_path: Path) -> None:
    (tmp_path / "add.h").write_text("void add(int n, double *x);\n#pragma polysched effects add(n, x) writes x[0:1]\n")
    text = ("#include \"add.h\"\n" + function("int n, double A[n][9]", "for (int i = 0; i < n; i++) add(9, A[i]);")
            + "void add(int n, double *x) { for (int i = 0; i < n; i++) x[i] += i; }\n")
    done = run(tmp_path, text, "--size", "n=20", "--quiet")
    assert done.returncode != 0
    assert "the declared effects of add: " in done.stderr
