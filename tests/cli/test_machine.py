"""`polysched machine`: figures, calibrated costs, and refusals."""

import json
import os
import subprocess
import sys
from pathlib import Path

from polysched.pipeline.options import PipelineOptions
from polysched.target import Target
from polysched.target.calibrated import read_calibrated
from polysched.target.targets import target_from_json, target_to_json
from polysched.tiling import TilingOptions
from tests.cli.command import polysched


def test_machine_prints_cached_figures(tmp_path: Path) -> None:
    program = ("import sys\nfrom polysched.measure.timing import peak\n"
               "figures = peak.Peaks(one_core={'float32': 4e9}, all_cores={'float32': 8e9},\n"
               "                     bandwidth={1: 2e9, 0: 1e9}, memory_all_cores=3e9, threads=2, compiler='gcc')\n"
               "peak.measure_peaks = lambda compiler, on_report=None: figures\npeak.busy_cores = lambda: 0.0\n"
               "from polysched.cli import main\nsys.exit(main(['machine', *sys.argv[1:]]))")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["float32", "4", "8", "GFLOP/s"] in rows
    assert ["memory", "1", "3", "GB/s", "read"] in rows
    again = polysched("machine", "--json", folder=tmp_path, environment={"XDG_CACHE_HOME": str(tmp_path)})
    assert '"float32": 4000000000.0' in again.stdout


CALIBRATE = """import sys
from polysched.measure.timing import calibration
from polysched.target.calibrated import Calibrated, Figure
figure = Figure(name='row_cycles', value=12.5, least=11, most=14, unit='cycles', shipped=20)
def calibrate(compiler, *, even_if_busy, on_report):
    if {stops}:
        raise KeyboardInterrupt
    return Calibrated(machine='m', compiler='gcc', disturbed=even_if_busy, figures=(figure,), bandwidth=((0, 1e10),))
calibration.calibrate = calibrate
from polysched.cli import main
sys.exit(main(sys.argv[1:]))"""


def calibrate(*arguments: str, stops: bool = False) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CALIBRATE.replace("{stops}", str(stops)), "machine", *arguments],
                          capture_output=True, text=True, check=False)


def test_calibrated_costs_are_shown_beside_shipped_ones_and_applied(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    done = calibrate("--calibrate", str(file))
    assert done.returncode == 0, done.stderr
    assert ["row_cycles", "12.5", "11", "14", "20", "cycles"] in [line.split() for line in done.stdout.splitlines()]
    target = read_calibrated(file).of_target(Target())
    assert target.costs.row_cycles == 12.5
    assert PipelineOptions(tiling=TilingOptions(target=target)).target().costs.row_cycles == 12.5
    assert target_from_json(target_to_json(target), where="") == target
    assert json.loads(calibrate("--calibrate", "-").stdout) == json.loads(file.read_text())


def test_an_interrupted_calibration_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text("before")
    assert calibrate("--calibrate", str(file), stops=True).returncode != 0
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_without_costs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text("{}")
    (tmp_path / "f.c").write_text("void f(int n, double *a) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 0;\n"
                                  "#pragma endscop\n}\n")
    done = polysched("c2c", "f.c", "--machine", "costs.json", folder=tmp_path)
    assert done.returncode == 2
    assert "costs.json: the file holds no costs of a machine" in done.stderr
    assert "hint: polysched machine --calibrate FILE writes one" in done.stderr


def test_machine_refuses_to_measure_under_load(tmp_path: Path) -> None:
    program = ("import sys\nfrom polysched.measure.timing import peak\npeak.busy_cores = lambda: 1.5\n"
               "peak.available_cores = lambda: 2\nfrom polysched.cli import main\nsys.exit(main(['machine']))")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 3
    assert "other programs use this machine" in done.stderr
    assert "witness: 1.5 of 2 cores are in use" in done.stderr
    assert not list(tmp_path.iterdir())
