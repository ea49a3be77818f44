"""Generated code against OpenBLAS, oneDNN, PyTorch, Halide and tuned TVM; see README.md.

    python experiments/blas/run.py --only f32_product_1024 --threads 2
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import assembly
import ours
import peers
import workloads
from searched import searched, seconds_of

from polysched.experiment import Case, Contender, Experiment, Program, Record, Report, Rules, Settings, run_contest
from polysched.experiment.contest import MissingToolError
from polysched.experiment.contest_results import best_peer_bars, contest_table, standings_of, summary_line
from polysched.experiment.contestant import program
from polysched.experiment.listings import peak_values
from polysched.experiment.standings import geometric_mean
from polysched.experiment.tables import markdown_table
from polysched.search import Budget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
MINUTE = 60.0
SEARCHED = "polysched searched"
TOLERANCES = {"float32": 1e-4, "float64": 1e-9}


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--peers", nargs="+", metavar="NAME", choices=[*PEERS, "none"], default=list(PEERS),
                       help=f"measure against these only: {', '.join(PEERS)}, or none")
    group.add_argument("--keep-c", metavar="DIR", help="write the emitted C there")
    group.add_argument("--assembly", action="store_true",
                       help="count the instructions of our loop with the most multiply-adds, and time nothing")
    group.add_argument("--trials", metavar="N", type=int, default=64,
                       help="candidates that TVM measures for every workload before the contest (default: 64)")
    group.add_argument("--search", action="store_true",
                       help="a contestant more: polysched after a search as long as TVM's, or of --trials candidates "
                            "where TVM has none")
    group.add_argument("--tuned", metavar="DIR", type=lambda text: str(Path(text).resolve()),
                       help="keep what TVM's search found in DIR, and use what is there from an earlier search for the "
                            "same with as many trials")


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


def tvm_program(folder: Path, name: str, parameters: Mapping[str, Any], needs: Sequence[str],
                report: Report) -> Program:
    """TVM's variant, after its search; the records lie in the folder of `--tuned`."""
    made = python_program("tvm_peers.py", "entry", folder, name, parameters, needs)
    asked = {n: parameters[n] for n in ("workload", "threads", "trials")}
    asked["tvm"] = importlib.metadata.version("apache-tvm")
    environment = {"TVM_NUM_THREADS": str(parameters["threads"]), "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}
    searched(asked, Path(parameters["records"]), [sys.executable, str(HERE / "tvm_peers.py")], environment, report)
    return replace(made, environment=environment)


def own_program(folder: Path, name: str, parameters: Mapping[str, Any], report: Report) -> Program:
    """Our variant after a search of the same wall-clock as TVM's, whose contestant was made before."""
    taken = seconds_of(Path(parameters["records"]))
    budget = Budget(trials=parameters["trials"]) if taken is None else Budget(minutes=taken / MINUTE)
    given = {**parameters, "database": str(folder / "polysched.db")}
    ours.search(given, budget, report)
    return python_program("ours.py", "searched_entry", folder, name, given, ())


def always(kind: str, dtype: str) -> bool:
    return True


def without_time(kind: str, dtype: str) -> bool:
    """TVM's search knows no loop over time."""
    return kind not in ("jacobi", "heat")


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
    "tvm": ("tvm_peers.py", "entry", ("tvm", "xgboost", "cloudpickle", "psutil", "tornado"), without_time, {}),
}


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """A contest; NumPy is the reference whether it is a peer that was asked for or not."""
    parameters, row = dict(case.parameters), case.parameters["workload"]
    workload = workloads.make(row)
    if settings.options["assembly"]:
        return {"inner_loop": assembly.inner_loop(parameters)}
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
        parameters |= {"trials": settings.options["trials"],
                       "records": str(Path(settings.options["tuned"] or folder / "tuned") / case.name)}
        for peer in asked:
            file, factory, needs, takes, extra = PEERS[peer]
            if takes(row["kind"], row["dtype"]):
                made.append(Contender(name=peer, threads=parameters["threads"], make=partial(
                    tvm_program, folder, peer, parameters, needs, report) if peer == "tvm" else partial(
                    python_program, file, factory, folder, peer, parameters | extra, needs)))
        if settings.options["search"]:
            made.append(Contender(name=SEARCHED, threads=parameters["threads"], make=partial(
                own_program, folder, "polysched_searched", parameters, report)))
        rules = Rules(reference="numpy", budget_seconds=settings.budget_seconds, tolerance=TOLERANCES[row["dtype"]],
                      pin=settings.pin, cold_cache=settings.cold_cache)
        standings = run_contest(made, rules, folder, report)
        listed = json.loads(kept.read_text()) if kept.exists() else {}
    return {"contest": standings.to_json(), "flop_count": workload.flop_count, "bytes_moved": workload.bytes_moved,
            "target": row.get("target"), "threads": parameters["threads"], "reference": "numpy", **listed,
            **peak_values(row["dtype"], parameters["threads"])}


def table(records: Sequence[Record]) -> str:
    """What was timed, and what was only counted."""
    timed = [r for r in records if "contest" in r.values]
    read = [r for r in records if "inner_loop" in r.values]
    return "\n\n".join([*([contest_table(timed, rate=True), summary_line(timed)] if timed else []),
                        *([line] if (line := over_tvm(timed)) else []),
                        *([loop_table(read)] if read else [])])


def over_tvm(records: Sequence[Record]) -> str:
    """What a search found over what TVM's found in as long; empty where none did."""
    found = {r.case: ratio for r in records if (ratio := standings_of(r).speed_up(SEARCHED, over="tvm"))}
    if not found:
        return ""
    every = ", ".join(f"{case} {ratio[0]:.2f}" for case, ratio in found.items())
    mean = geometric_mean([ratio[0] for ratio in found.values()])
    return f"polysched searched over TVM tuned for as long: geometric mean {mean:.2f} of {len(found)} cases ({every})"


def loop_table(records: Sequence[Record]) -> str:
    """The instructions of one trip through the inner loop."""
    loops = [r.values["inner_loop"] for r in records]
    rows = [[r.case, *(str(value) for value in loop.values())] for r, loop in zip(records, loops, strict=True)]
    return markdown_table(["inner loop", *(name.replace("_", " ") for name in loops[0])], rows)


def plot(records: Sequence[Record]) -> Figure:
    return best_peer_bars(records)


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        local_options=("keep_c", "tuned"), times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(HERE), *sys.argv[1:]]))
