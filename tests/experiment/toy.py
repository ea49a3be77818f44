"""A toy experiment that the tests run: it counts, and does what its cases' names say."""

from pathlib import Path

CONFIG = """\
question = "Does the driver do what it says?"
expected_time = "a second"
threads = [1]
budget_seconds = 0.2
"""

RUN = '''
import os
import signal
import sys
import time
from pathlib import Path

from polysched.errors import UsageError
from polysched.experiment import Case, Experiment
from polysched.experiment.tables import markdown_table


def add_arguments(group):
    group.add_argument("--cases", nargs="+", default=["one", "two", "three"])
    group.add_argument("--log", default="")


def cases(settings):
    names = settings.options["cases"]
    if names[0].startswith("@"):
        names = Path(names[0][1:]).read_text().split()
    return [Case(name=name, parameters={"length": len(name)}) for name in names]


def measure(case, settings, report):
    report("counting")
    if settings.options["log"]:
        with open(settings.options["log"], "a") as file:
            file.write(f"{case.name} {os.getpid()}\\n")
    if case.name == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if case.name == "hang":
        time.sleep(60)
    if case.name == "memory":
        bytearray(1 << 40)
    if case.name == "refuse":
        raise UsageError("this case is refused", hint="choose another")
    if case.name == "bug":
        raise ValueError("an unexpected error")
    return {"count": case.parameters["length"], "threads": os.environ["OMP_NUM_THREADS"],
            "core_type": os.environ.get("OPENBLAS_CORETYPE"), "process": os.getpid(),
            "cores": len(os.sched_getaffinity(0)), "cold": settings.cold_cache}


def table(records):
    return markdown_table(["case", "count"], [[r.case, r.values["count"]] for r in records])


def verdict(records):
    return "thirteen is not liked" if any(r.done and r.values["count"] == 13 for r in records) else ""


def plot(records):
    from polysched.experiment.plots import grouped_bars
    return grouped_bars([r.case for r in records], {"count": [r.values["count"] for r in records]}, ylabel="letters")


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, verdict=verdict,
                        add_arguments=add_arguments, local_options=("log",), times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
'''


def write_toy(folder: Path) -> Path:
    """The toy experiment in `folder/experiments/toy`."""
    toy = folder / "experiments" / "toy"
    toy.mkdir(parents=True)
    (toy / "experiment.toml").write_text(CONFIG)
    (toy / "run.py").write_text(RUN)
    return toy
