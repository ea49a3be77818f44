"""Three more questions of searches: plans of instructions, trials to the best of many, code for a range of sizes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Any

from polysched.experiment.tables import markdown_table
from polysched.measure.field import Ran
from polysched.measure.paired import MeasureOptions
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_file
from polysched.scop.scop import Scop
from polysched.search import Budget, source_to_source, tune, tune_range
from polysched.search.building import Candidate, LocalBuilder, Wanted, local_runner
from polysched.search.chooser import Chooser
from polysched.search.database import trial_to_json
from polysched.search.space import Proposal
from polysched.tensorize import operators

if TYPE_CHECKING:
    from polysched.dependence.dependences import Dependences
    from polysched.experiment import Record, Report
    from polysched.search.tuned import Tuned

CLOSE = 0.95
"""Of the best that is known: how near a search has to come."""
MODELS = ("projected", "residual")
FEW = 64
"""Trials of the searches that are compared with the best of many."""
PAIRS = 25
VARIANTS, SAMPLES = 4, 5


def operator(parameters: Mapping[str, Any]) -> Scop:
    """A workload of `tensorize.operators` by its name and sizes."""
    sizes = {name: value for name, value in parameters.items() if name != "operator"}
    made: Scop = getattr(operators, parameters["operator"])(**sizes)
    return made


def plans(choose: Chooser, dependences: Dependences) -> Recipe:
    """An instruction, its mapping and its plan for each statement; all else as the models choose."""
    made = choose.instructions()
    if not made:
        choose.reject("no statement has an instruction of its own choice")
    return Recipe(instructions=made)


def over_the_first_plan(scop: Scop, options: PipelineOptions, minutes: float, seed: int,
                        report: Report) -> dict[str, Any]:
    """What choosing among all plans of instructions gains over the one that the models take."""
    found = tune(scop, space=plans, threads=options.tiling.target.cores, options=options, seed=seed,
                 budget=Budget(minutes=minutes), on_trial=lambda trial, count: report(f"plan {count}"))
    return {"plans": found.to_json(), "records": records_of(found)}


def records_of(found: Tuned) -> list[Any]:
    """Every trial with all its samples."""
    return [trial_to_json(t) for t in (found.first, *found.trials, *found.fresh)]


def plan_table(records: Sequence[Record]) -> str:
    """Gains of plans; a kept first plan counts as 1."""
    rows, gains = [], []
    for record in records:
        value = record.values["plans"]
        low, high = value["gain"]["interval"]
        gains.append(value["gain"]["median"])
        rows.append([record.case, f"{gains[-1]:.2f}", f"{low:.2f} to {high:.2f}", str(value["trials"])])
    told = f"Over the first plan, in geometric mean of {len(gains)} workloads: {geometric_mean(gains):.2f}."
    return f"{markdown_table(['workload', 'gain', '95% interval', 'plans'], rows)}\n\n{told}\n"


def to_the_best(file: Path, sizes: dict[str, int], options: PipelineOptions, count: int, seed: int,
                report: Report) -> dict[str, Any]:
    """How many trials a search with each model needs to come near the best of many random recipes and of its own."""
    how: dict[str, Any] = {"sizes": sizes, "threads": options.tiling.target.cores, "options": options}
    many = tune(file, **how, strategy="random", seed=seed, budget=Budget(trials=count),
                on_trial=lambda trial, number: report(f"{number} of {count}"))
    curves = {"random": list(many.curve)}
    for model in MODELS:
        curves[model] = list(tune(file, **how, model=model, seed=seed + 1, budget=Budget(trials=FEW)).curve)
        report(f"searched with {model}")
    best = max((curve[-1] for curve in curves.values() if curve), default=1.0)
    return {"best": {"of": count, "ratio": best, "curves": curves, "trials": {
        model: trials_to(curve, CLOSE * best) for model, curve in curves.items()}}}


def trials_to(curve: Sequence[float], ratio: float) -> int | None:
    """Trials until a ratio is reached; 0 where the model's pick has it, None where it never is."""
    if ratio <= 1:
        return 0
    return next((number + 1 for number, value in enumerate(curve) if value >= ratio), None)


def best_table(records: Sequence[Record]) -> str:
    """Trials to the best of many, with each model."""
    rows, needed = [], {model: [] for model in MODELS}
    for record in records:
        value = record.values["best"]
        rows.append([record.case, str(value["of"]), f"{value['ratio']:.2f}",
                     *(_count(value["trials"][model]) for model in ("random", *MODELS))])
        for model in MODELS:
            needed[model].append(FEW + 1 if value["trials"][model] is None else value["trials"][model])
    told = "; ".join(f"{model}: median {median(n):g}, worst {_count(max(n) if max(n) <= FEW else None)}"
                     for model, n in needed.items())
    head = ["kernel", "of", f"best ratio; trials to {CLOSE:.0%} of it:", "random", *MODELS]
    return f"{markdown_table(head, rows)}\n\n{told}.\n"


def _count(trials: int | None) -> str:
    return f"more than {FEW}" if trials is None else str(trials)


def at_any_size(file: Path, sizes: dict[str, int | str], others: Sequence[int], options: PipelineOptions,
                minutes: float, seed: int, report: Report) -> dict[str, Any]:
    """Code of few variants for a range, raced at sizes that it never saw with what is tuned for each."""
    (name,) = (n for n, value in sizes.items() if isinstance(value, str))
    threads = options.tiling.target.cores
    how: dict[str, Any] = {"threads": threads, "options": options, "seed": seed}
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "range.db"
        tuned = tune_range(file, sizes=sizes, database=database, budget=Budget(minutes=minutes), most=VARIANTS,
                           samples=SAMPLES, **how)
        text = source_to_source(file, replace(options, database=str(database)))
    shares = {}
    for size in others:
        here = {**sizes, name: size}
        own = tune(file, sizes=here, budget=Budget(minutes=minutes), **how)
        shares[str(size)] = raced(file, here, options, own, Recipe(flags=tuned.variants.recipes[0].flags), text)
        report(f"{name} = {size}: {median(shares[str(size)]):.2f} of tuned")
    return {"sizes": {"parameter": name, "variants": len(tuned.variants.recipes), "regret": tuned.variants.regret,
                      "ratios": shares}}


def raced(file: Path, sizes: Mapping[str, Any], options: PipelineOptions, own: Tuned, ranged_by: Recipe,
          text: str) -> list[float]:
    """The code of the range in pairs with what is tuned for one size: seconds of this over seconds of that.

    Parameters
    ----------
    ranged_by : with the compiler flags that all variants have.
    text : the file with the code of the range.
    """
    scop = from_c_file(str(file))
    (tuned,) = LocalBuilder(scop, options).build([Wanted(number=1, proposal=Proposal(recipe=own.recipe))])
    if not isinstance(tuned, Candidate):
        raise tuned
    ranged = Candidate(name="ranged", proposal=Proposal(recipe=ranged_by), text=text, code="ranged")
    told: dict[str, Ran] = {}
    threads = options.tiling.target.cores
    with local_runner(scop, dict(sizes), MeasureOptions(threads=threads)) as runner:
        runner.race([tuned], against=None, pairs=2, slow_ratio=float("inf"),
                    told=lambda candidate, ran: told.update({candidate.name: ran}))
        runner.race([ranged], against=tuned, pairs=PAIRS, slow_ratio=float("inf"),
                    told=lambda candidate, ran: told.update({candidate.name: ran}))
    if not told["ranged"].pairs:
        raise RuntimeError(f"the code of the range has no times at {dict(sizes)}: {told['ranged'].reason}")
    return [first / taken for first, taken in told["ranged"].pairs]


def size_table(records: Sequence[Record]) -> str:
    """Shares of the speed of what is tuned for each size."""
    rows, every = [], []
    for record in records:
        value = record.values["sizes"]
        shares = {size: median(ratios) for size, ratios in value["ratios"].items()}
        every += shares.values()
        rows.append([record.case, value["parameter"], str(value["variants"]),
                     ", ".join(f"{size}: {share:.2f}" for size, share in shares.items()),
                     f"{min(shares.values()):.2f}"])
    told = f"Of what is tuned for each size, in geometric mean of {len(every)} sizes: {geometric_mean(every):.2f}."
    return f"{markdown_table(['kernel', 'size', 'variants', 'share at', 'least'], rows)}\n\n{told}\n"


@contextmanager
def load(count: int) -> Iterator[None]:
    """Processes that compute all the time."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
