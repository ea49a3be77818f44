"""Programs on accelerators whose buffers a program fills: simulated, verified on the CPU.  See README.md.

    python experiments/scratchpad/run.py
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from polysched.errors import WrongResultError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.gpu.scratchpad import ScratchpadMapping, ScratchpadOptions
from polysched.gpu.scratchpad.search import exhaustive
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.pipeline.files import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.target.scratchpads import SCRATCHPADS

HERE = Path(__file__).parent


def beside(name: str) -> ModuleType:
    """A file of this folder as a module."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAMS = beside("programs")


def cases(settings: Settings) -> list[Case]:
    """Every program on every accelerator."""
    return [Case(name=f"{target}_{program}", parameters={"target": target, "program": program})
            for target in SCRATCHPADS for program in PROGRAMS.PROGRAMS]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Figures of one shape with and without double buffering, and the model's tiles beside the best of a small one."""
    program, target = case.parameters["program"], case.parameters["target"]
    shape, small = settings.config["shape"][program], settings.config["small"][program]
    report("mapping")
    figures = mapped(program, target, shape, settings, verify=True).to_json()
    single = mapped(program, target, shape, settings, double_buffering=False)
    report("every tile")
    pick = mapped(program, target, small, settings)
    best = [exhaustive(pick, own, step=settings.config["step"][program]) for own in pick.groups.values()]
    return {"shape": dict(shape), "figures": figures, "single_buffered_cycles": single.timeline.cycles,
            "small": dict(small), "groups": [
                {"pick": list(own.plan.edges), "pick_cycles": own.cycles, "best": list(b.plan.edges),
                 "best_cycles": b.cycles} for own, b in zip(pick.groups.values(), best, strict=True)]}


def mapped(program: str, target: str, shape: Mapping[str, int], settings: Settings, *, double_buffering: bool = True,
           verify: bool = False) -> ScratchpadMapping:
    """The mapping of a program; its C is run beside the original where that is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{program}.c"
        path.write_text(PROGRAMS.text(program, target, shape))
        made = transform_file(path, PipelineOptions(
            device=target, scratchpad=ScratchpadOptions(double_buffering=double_buffering)))
        if verify:
            _verify(made, settings)
    mapping = made.regions[0].accelerator
    assert mapping is not None, "a region of an accelerator has a mapping"
    return mapping


def _verify(made: Any, settings: Settings) -> None:
    subject = Subject(scops=tuple(r.scop for r in made.regions), transformed_text=made.text)
    measurement = compare_and_time(subject, {}, options=MeasureOptions(
        flags=tuple(settings.config["flags"]), pairs=0, warmups=0))
    arrays = measurement.verification.arrays if measurement.verification is not None else ()
    if not measurement.verified or any(array.largest_absolute for array in arrays):
        raise WrongResultError(f"other results: {measurement.failure}", where=str(made.path))


def table(records: Sequence[Record]) -> str:
    """A row per program and accelerator, then the tiles."""
    done = [(r.parameters, r.values) for r in records if r.done]
    rows = [[p["target"], p["program"], "x".join(map(str, v["shape"].values())), str(v["figures"]["cycles"]),
             f"{v['figures']['cube_utilisation']:.1%}", busiest(v["figures"]),
             f"{v['single_buffered_cycles'] / v['figures']['cycles']:.2f}", str(v["figures"]["moved_bytes"]),
             str(v["figures"]["io_bytes"]), f"{v['figures']['moved_bytes'] / v['figures']['io_bytes']:.2f}"]
            for p, v in done]
    tiles = [[p["target"], p["program"], "x".join(map(str, v["small"].values())), "x".join(map(str, g["pick"])),
              "x".join(map(str, g["best"])), str(g["best_cycles"]), f"{ratio(g):.3f}"]
             for p, v in done for g in v["groups"]]
    return "\n\n".join([
        markdown_table(["target", "program", "shape", "cycles", "cube used", "busiest", "single/double", "bytes moved",
                        "least bytes", "moved/least"], rows),
        markdown_table(["target", "program", "shape", "the model's tile", "best tile", "best cycles", "model/best"],
                       tiles)])


def busiest(figures: Mapping[str, Any]) -> str:
    """The engine that works longest, and its share."""
    engine, cycles = max(figures["busy_cycles"].items(), key=lambda own: own[1])
    return f"{engine} {cycles / figures['cycles']:.0%}"


def ratio(group: Mapping[str, Any]) -> float:
    """Cycles of the model's tile over those of the best."""
    return float(group["pick_cycles"] / group["best_cycles"])


def verdict(records: Sequence[Record]) -> str:
    """Which of the model's tiles are more than 5% slower than the best."""
    bad = [f"{r.case} {ratio(g):.3f}" for r in records if r.done for g in r.values["groups"] if ratio(g) > 1.05]
    return f"tiles more than 5% off the best: {', '.join(bad)}" if bad else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(HERE), *sys.argv[1:]]))
