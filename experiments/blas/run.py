"""Generated code against OpenBLAS, oneDNN, PyTorch and Halide; see README.md.

    python experiments/blas/run.py --only f32_product_1024 --threads 2
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import peers
import workloads

from polysched.experiment import Case, Contender, Experiment, Program, Record, Report, Rules, Settings, run_contest
from polysched.experiment.contest import MissingToolError
from polysched.experiment.contest_results import best_peer_bars, contest_table, summary_line
from polysched.experiment.contestant import program
from polysched.experiment.listings import peak_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
TOLERANCES = {"float32": 1e-4, "float64": 1e-9}


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--peers", nargs="+", metavar="NAME", choices=[*PEERS, "none"], default=list(PEERS),
                       help=f"measure against these only: {', '.join(PEERS)}, or none")
    group.add_argument("--keep-c", metavar="DIR", help="write the emitted C there")


def cases(settings: Settings) -> list[Case]:
    """One per workload and number of threads."""
    several = len(settings.threads) > 1
    return [Case(name=row["name"] + (f"_threads_{threads}" if several else ""),
                 parameters={"workload": row, "threads": threads, "flags": settings.config["flags"],
                             "polysched": settings.config["polysched"]})
            for row in settings.config["workload"] for threads in settings.threads]


def python_program(file: str, factory: str, folder: Path, name: str, parameters: Mapping[str, Any],
                   needs: Sequence[str]) -> Program:
    for package in needs:
        if importlib.util.find_spec(package) is None:
            raise MissingToolError(f"the package {package} is not installed")
    return Program(command=program(HERE / file, factory, parameters, folder, name))


def always(kind: str, dtype: str) -> bool:
    return True


def halide_takes(kind: str, dtype: str) -> bool:
    return kind not in ("gelu", "lstm")


PEERS: dict[str, tuple[str, str, tuple[str, ...], Callable[[str, str], bool], dict[str, Any]]] = {
    "numpy": ("peers.py", "numpy_entry", ("numpy",), always, {}),
    "onednn": ("peers.py", "onednn_entry", ("torch",), peers.onednn_takes, {}),
    "torch": ("peers.py", "torch_entry", ("torch",), always, {"compiled": False}),
    "torch.compile": ("peers.py", "torch_entry", ("torch",), always, {"compiled": True}),
    "openmp": ("ours.py", "openmp_entry", (), lambda kind, dtype: kind in ("jacobi", "heat"), {}),
    "halide": ("halide_peers.py", "entry", ("halide",), halide_takes, {"autoscheduler": "Mullapudi2016"}),
    "halide_adams": ("halide_peers.py", "entry", ("halide",), halide_takes, {"autoscheduler": "Adams2019"}),
}


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """A contest; NumPy is the reference whether it is a peer that was asked for or not."""
    parameters, row = dict(case.parameters), case.parameters["workload"]
    workload = workloads.make(row)
    asked = [n for n in PEERS if n == "numpy" or n in settings.options["peers"]]
    if settings.options["keep_c"]:
        Path(settings.options["keep_c"]).mkdir(parents=True, exist_ok=True)
        parameters["keep"] = str(Path(settings.options["keep_c"]) / f"{case.name}.c")
    with tempfile.TemporaryDirectory(prefix="polysched-blas-") as name:
        folder = Path(name)
        kept = folder / "values.json"
        parameters["kept_values"] = str(kept)
        made = [Contender(name="polysched", threads=parameters["threads"], make=partial(
            python_program, "ours.py", "entry", folder, "polysched", parameters, ()))]
        for peer in asked:
            file, factory, needs, takes, extra = PEERS[peer]
            if takes(row["kind"], row["dtype"]):
                made.append(Contender(name=peer, threads=parameters["threads"], make=partial(
                    python_program, file, factory, folder, peer, parameters | extra, needs)))
        rules = Rules(reference="numpy", budget_seconds=settings.budget_seconds, tolerance=TOLERANCES[row["dtype"]],
                      pin=settings.pin, cold_cache=settings.cold_cache)
        standings = run_contest(made, rules, folder, report)
        listed = json.loads(kept.read_text()) if kept.exists() else {}
    return {"contest": standings.to_json(), "flop_count": workload.flop_count, "bytes_moved": workload.bytes_moved,
            "target": row.get("target"), "threads": parameters["threads"], "reference": "numpy", **listed,
            **peak_values(row["dtype"], parameters["threads"])}


def table(records: Sequence[Record]) -> str:
    return contest_table(records, rate=True) + "\n\n" + summary_line(records)


def plot(records: Sequence[Record]) -> Figure:
    return best_peer_bars(records)


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        local_options=("keep_c",), times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(HERE), *sys.argv[1:]]))
