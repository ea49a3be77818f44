"""Which constants of the machine model and of the rooms change the emitted C?  See README.md.

    python experiments/ablation/run.py [--only KERNEL ...] [--limits] [--time]

A kernel is scheduled once.  Then a process is forked for every constant at half and at twice its value, which tiles and
emits; what comes out is compared with the C of the shipped values.  With `--time`, versions whose C differs race.
Programs in `programs/` have what no kernel of the tests has: known sizes that blocks do not divide, `--safe`, and
products for instructions, which go the whole way every time.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import TYPE_CHECKING, Any

import polysched
from polysched.emit_c import CSource
from polysched.emit_c.alternatives.crossover import crossover
from polysched.emit_c.limits import LIMITS as EMIT_C
from polysched.errors import PolyschedError
from polysched.experiment import Case, Contender, Experiment, Record, Report, Rules, Settings, run_contest
from polysched.experiment.candidates import VersionedFunction
from polysched.experiment.plots import COLOURS, new_figure
from polysched.experiment.tables import markdown_table
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.pipeline.way import emit_blocks, optimized_region
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_file
from polysched.scop.scop import Scop
from polysched.target.constant import constants
from polysched.target.target import Target
from polysched.tensorize.limits import LIMITS as TENSORIZE
from polysched.tiling import TilingOptions, tile
from polysched.tiling.limits import LIMITS as TILING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
PROGRAMS = Path(__file__).parent / "programs"
PACKAGE = Path(polysched.__file__).parent
FACTORS = (0.5, 2.0)
BUDGETS = ("isl operations", "s", "SAT conflicts", "assignments", "trials", "inputs", "steps")
ROOMS = {"tiling": TILING, "emit_c": EMIT_C, "tensorize": TENSORIZE}
SHIPPED = "shipped"


@dataclass(frozen=True)
class Variant:
    """A constant at another value.

    Parameters
    ----------
    record : `costs`, `ports`, or the room of the limit.
    """

    record: str
    name: str
    factor: float
    value: float

    @property
    def constant(self) -> str:
        return f"{self.record}.{self.name}"

    @property
    def label(self) -> str:
        return f"{self.constant} x {self.factor:g}"


@dataclass(frozen=True, eq=False)
class Program:
    """A program on its way to C.

    Parameters
    ----------
    schedule : None where instructions may compute it, so that every version goes the whole way.
    """

    scop: Scop
    options: PipelineOptions
    schedule: Schedule | None = None

    def text(self, target: Target) -> str:
        """Its C for a machine, and with `safe` the conditions under which it runs."""
        options = replace(self.options, tiling=replace(self.options.tiling, target=target))
        if self.schedule is None:
            source = optimized_region(self.scop, options, {}).source
            return f"{source.preamble}\n{source.text}"
        source = emitted(self.schedule, options)
        return "\n".join([source.text, *(crossover(source, target).conditions if options.safe else ())])


def cases(settings: Settings) -> list[Case]:
    """The small programs first, then the kernels of the tests."""
    files = (*sorted(PROGRAMS.glob("*.c")), *sorted(KERNELS.glob("*.c")))
    return [Case(name=path.stem, parameters={}) for path in files]


def file_of(case: str) -> Path:
    return next(path for folder in (PROGRAMS, KERNELS) if (path := folder / f"{case}.c").exists())


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--limits", action="store_true",
                       help="the limits of tiling, tensorize and emit_c, too, but for budgets")
    group.add_argument("--time", action="store_true", help="run what differs, at the sizes of the configuration")


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """The constants that the way from the schedule to C reads, and for each factor whether the C differs."""
    program = made(case.name, settings.config, report)
    options, schedule = program.options, program.schedule
    read, shipped = in_child(lambda: _traced(program))
    varied = list(variants(options.target(), set(read), limits=bool(settings.options.get("limits"))))
    found: list[dict[str, Any]] = []
    sources: dict[str, Variant] = {}
    outcomes = in_children([partial(_varied, program, variant) for variant in varied])
    for number, (variant, (digest, problem)) in enumerate(zip(varied, outcomes, strict=True), start=1):
        report(f"{variant.label}, {number} of {len(varied)}")
        if digest not in (shipped, ""):
            sources.setdefault(digest, variant)
        found.append({"constant": variant.constant, "factor": variant.factor, "value": variant.value,
                      "changes": digest != shipped, **({"version": sources[digest].label} if digest in sources else {}),
                      **({"problem": problem} if problem else {})})
    values: dict[str, Any] = {"vector_bits": options.target().vector_bits, "read": sorted(read), "variants": found}
    if schedule is not None and settings.options.get("time") and case.name in settings.config["sizes"]:
        values["times"] = raced(schedule, options, list(sources.values()), settings,
                                settings.config["sizes"][case.name], report)
    return values


def made(name: str, config: Mapping[str, Any], report: Report) -> Program:
    """The program of a case, scheduled where no instruction is looked for."""
    scop = from_c_file(file_of(name))
    if name in config["instructed"]:
        return Program(scop, PipelineOptions(verify_instructions="never"))
    options = PipelineOptions(tensorize=None, safe=name in config["safe"])
    report("scheduling")
    dependences = analysed(scop, vector_bytes=options.collapses_for(), row_loss=options.row_loss).dependences
    return Program(scop, options, scheduled(dependences, options))


def variants(target: Target, read: set[str], *, limits: bool) -> Iterator[Variant]:
    """Every constant that was read, at each factor that gives another value; whole numbers stay whole."""
    records = {"costs": target.costs, "ports": target.ports} | (ROOMS if limits else {})
    for record, value in records.items():
        for found in constants(value):
            if record in ROOMS and (found.unit in BUDGETS or isinstance(found.value, tuple)):
                continue
            if record in ("costs", "ports") and f"{record}.{found.name}" not in read:
                continue
            for factor in FACTORS:
                changed = int(found.value * factor) if isinstance(found.value, int) else found.value * factor
                if changed != found.value and changed > 0:
                    yield Variant(record=record, name=found.name, factor=factor, value=changed)


def _traced(program: Program) -> tuple[list[str], str]:
    """The costs and ports that are read on the way to C, and the digest of that C."""
    read: set[str] = set()
    target = program.options.target()
    target = replace(target, costs=_watched(target.costs, "costs", read), ports=_watched(target.ports, "ports", read))
    read.clear()   # of what making the records read
    text = program.text(target)
    return sorted(read), _digest(text)


def _watched(record: Any, name: str, read: set[str]) -> Any:
    """An equal record that notes which of its constants are read."""
    names = {found.name for found in constants(record)}

    def noted(self: Any, attribute: str) -> Any:
        if attribute in names:
            read.add(f"{name}.{attribute}")
        return object.__getattribute__(self, attribute)

    kind = type(type(record).__name__, (type(record),), {"__getattribute__": noted})
    return kind(**{found.name: found.value for found in constants(record)})


def _varied(program: Program, variant: Variant) -> tuple[str, str]:
    """The digest of the C with one constant at another value; empty with the reason where there is none."""
    try:
        return _digest(_with(program, variant)), ""
    except PolyschedError as error:
        return "", str(error)


def _with(program: Program, variant: Variant) -> str:
    """The C with one constant at another value; a limit is changed for the whole process."""
    target = program.options.target()
    if variant.record not in ROOMS:
        return program.text(_target_with(target, variant))
    object.__setattr__(ROOMS[variant.record], variant.name, variant.value)
    for module, name in places(variant.record, variant.name):
        setattr(module, name, variant.value)
    return program.text(target)


def emitted(schedule: Schedule, options: PipelineOptions) -> CSource:
    """From the schedule to C, as the pipeline goes, but for instructions."""
    def tiled_by(how: TilingOptions) -> Any:
        return tile(schedule, how, alone=False)
    return emit_blocks(tiled_by, options.tiling_options(), options.emit_options())


@cache
def _assigned() -> Mapping[tuple[str, str], tuple[str, str]]:
    """By room and limit: the module and the name that hold it (`NAME = LIMITS.limit`)."""
    found = {}
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            for statement in ast.parse(path.read_text()).body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)],
                                    value=ast.Attribute(value=ast.Name(id="LIMITS"), attr=limit)):
                        parts = path.relative_to(PACKAGE).with_suffix("").parts
                        found[room, limit] = ".".join(("polysched", *parts)), name
    return found


def places(room: str, limit: str) -> list[tuple[ModuleType, str]]:
    """The modules with a global variable for a limit: the one that asks for it, and those that import its name.

    None where only the record itself has it.
    """
    if (room, limit) not in _assigned():
        return []
    home, name = _assigned()[room, limit]
    found = []
    for module in [m for key, m in sys.modules.items() if key.startswith("polysched.") and name in vars(m)]:
        source = ast.parse(Path(str(module.__file__)).read_text())
        if module.__name__ == home or any(
                isinstance(s, ast.ImportFrom) and s.module == home and name in [a.name for a in s.names]
                for s in source.body):
            found.append((module, name))
    return found


def in_child(compute: Callable[[], Any]) -> Any:
    """What a forked process computes, as JSON; what it changes is gone with it.

    Raises
    ------
    ChildProcessError : it ended otherwise.
    """
    return next(in_children([compute]))


def in_children(computations: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    """What each computes in a forked process of its own, in order; as many at once as this process may use cores.

    Raises
    ------
    ChildProcessError : one ended otherwise.
    """
    running: deque[tuple[int, int]] = deque()
    for number, compute in enumerate(computations):
        running.append(_forked(compute))
        if number + 1 >= len(os.sched_getaffinity(0)):
            yield _joined(*running.popleft())
    while running:
        yield _joined(*running.popleft())


def _forked(compute: Callable[[], Any]) -> tuple[int, int]:
    """A forked process, and the pipe that its result comes out of."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "w") as pipe:
                json.dump(compute(), pipe)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    return child, reading


def _joined(child: int, reading: int) -> Any:
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    if os.waitpid(child, 0)[1] != 0:
        raise ChildProcessError("a forked process failed")
    return json.loads(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def raced(schedule: Schedule, options: PipelineOptions, differing: Sequence[Variant], settings: Settings,
          sizes: Mapping[str, int], report: Report) -> list[dict[str, Any]]:
    """The median of the seconds of every version whose C differs, on one thread, over those of the shipped one."""
    def tiled(variant: Variant | None) -> Any:
        target = options.target() if variant is None else _target_with(options.target(), variant)
        return tile(schedule, replace(options.tiling_options(), target=target, parallel=False), alone=False)

    racing = [v for v in differing if v.record in ("costs", "ports")]
    with tempfile.TemporaryDirectory(prefix="polysched-ablation-") as name:
        kernel = VersionedFunction(scop=schedule.scop, sizes=sizes, folder=Path(name))
        made = [Contender(name=SHIPPED, make=lambda: kernel.transformed("shipped", tiled(None)))]
        made += [Contender(name=v.label, make=partial(
            lambda number, v: kernel.transformed(f"variant_{number}", tiled(v)), number, v))
            for number, v in enumerate(racing)]
        rules = Rules(reference=SHIPPED, ours=tuple(c.name for c in made), budget_seconds=settings.budget_seconds,
                      most_rounds=settings.config["rounds"], pin=settings.pin, cold_cache=settings.cold_cache)
        standings = run_contest(made, rules, Path(name), report)
    return [{"version": v.name, "seconds": [s.thread_cpu_seconds for taken in v.rounds.values() for s in taken]}
            for v in standings.variants if v.timed]


def _target_with(target: Target, variant: Variant) -> Target:
    record = replace(getattr(target, variant.record), **{variant.name: variant.value})
    return replace(target, **{variant.record: record})


def changes(records: Sequence[Record]) -> dict[str, dict[float, list[str]]]:
    """By constant and factor, the kernels whose C differs."""
    found: dict[str, dict[float, list[str]]] = {}
    for record in records:
        for variant in record.values["variants"]:
            kernels = found.setdefault(variant["constant"], {factor: [] for factor in FACTORS})
            if variant["changes"]:
                kernels[variant["factor"]].append(record.case)
    return found


def worth(records: Sequence[Record]) -> dict[str, dict[float, list[float]]]:
    """By constant and factor: seconds over those of the shipped values, per kernel that ran with C that differs."""
    found: dict[str, dict[float, list[float]]] = {}
    for record in records:
        seconds = {taken["version"]: median(taken["seconds"]) for taken in record.values.get("times", ())}
        for variant in record.values["variants"]:
            if variant.get("version") in seconds and SHIPPED in seconds:
                by_factor = found.setdefault(variant["constant"], {factor: [] for factor in FACTORS})
                by_factor[variant["factor"]].append(seconds[variant["version"]] / seconds[SHIPPED])
    return found


def table(records: Sequence[Record]) -> str:
    rows, times = [], worth(records)
    for constant, by_factor in sorted(changes(records).items(), key=lambda item: (
            -len(set().union(*item[1].values())), item[0])):
        tried = sum(any(v["constant"] == constant for v in record.values["variants"]) for record in records)
        rows.append([f"`{constant}`", tried, *(len(by_factor[factor]) for factor in FACTORS),
                     *(_range(times.get(constant, {}).get(factor, [])) for factor in FACTORS),
                     ", ".join(sorted(set().union(*by_factor.values()))) or "-"])
    return markdown_table(["constant", "kernels that read it", "C differs at half", "at twice", "time at half",
                           "time at twice", "kernels"], rows)


def _range(ratios: Sequence[float]) -> str:
    """The least and the largest of ratios; one number where they are told as the same."""
    shown = dict.fromkeys(f"{ratio:.2f}" for ratio in ((min(ratios), max(ratios)) if ratios else ()))
    return " to ".join(shown) or "-"


def plot(records: Sequence[Record]) -> Figure:
    """Per constant the kernels whose C differs, at half and at twice its value."""
    found = sorted(changes(records).items(), key=lambda item: len(set().union(*item[1].values())))
    figure, axes = new_figure(width=6.5, height=1.0 + 0.22 * len(found))
    for number, factor in enumerate(FACTORS):
        axes.barh([at + (number - 0.5) * 0.4 for at in range(len(found))], [len(f[factor]) for _, f in found],
                  height=0.4, color=COLOURS[number], label=f"times {factor:g}")
    axes.set_yticks(range(len(found)), [name for name, _ in found], fontsize="small")
    axes.set_xlabel(f"kernels whose C differs, of {len(records)}")
    axes.legend(fontsize="small")
    return figure


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
