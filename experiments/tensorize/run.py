"""Speed of tensorized operators against the plain loop nest, OpenBLAS and the measured peak of the instruction.

    python experiments/tensorize/run.py [--threads 2] [--plot FILE.svg] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import peers
from workloads import WORKLOADS, Workload, stored

from polysched.errors import CompileError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import grouped_bars
from polysched.experiment.tables import markdown_table
from polysched.measure.cold_cache import FlushMemory, flush_for
from polysched.measure.threads import usable_processors
from polysched.scop.interpreter import extents_of
from polysched.target import find_compiler, host
from polysched.tensorize import Match, find_intrinsic, match
from polysched.tensorize.choice import best_few, choose, executes_here
from polysched.tensorize.conformance import fill_in
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.exact_arithmetic import PRELUDE
from polysched.tensorize.intrinsic import Intrinsic
from polysched.tensorize.measured import kept_operands, measured_plans
from polysched.tensorize.program import tensorize

RIVALS = 2   # further matches whose best plan is measured too

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(kw_only=True)
class Row:
    """Results; seconds are all rounds, in the order in which they were measured; ratios are against packed once."""

    workload: str
    intrinsic: str
    match: str
    plan: str
    plans: int
    giga_per_second: dict[str, float]
    share_of_peak: float
    over_plain: float
    over_onednn: float | None
    over_onednn_narrow: float | None
    over_blas: float | None
    verified: bool
    seconds: dict[str, list[float]]


def build(text: str, flags: tuple[str, ...], folder: Path, name: str) -> ctypes.CDLL:
    compiler = find_compiler()
    source = folder / f"{name}.c"
    source.write_text(text)
    own = ("-mprefer-vector-width=512",) if compiler.kind == "gcc" else ()
    done = compiler.run(["-O3", "-march=native", *own, *flags, "-w", "-fPIC", "-shared", *compiler.openmp_compile,
                         str(source), "-o", str(folder / f"{name}.so"), *compiler.openmp_link, "-lm"])
    if done.returncode:
        raise CompileError(f"{compiler} refused {name}", witness=done.stderr)
    return ctypes.CDLL(str(folder / f"{name}.so"))


def peak(intrinsic: Intrinsic, folder: Path, threads: int) -> tuple[Callable[[], object], int]:
    """A call that executes the bare instruction on registers on all threads, and its operations."""
    output = intrinsic.output.name
    inputs = [o for o in intrinsic.operands if o.name != output]
    accumulators = min(12, intrinsic.operand(output).register.count - len(inputs))
    numbered = not intrinsic.operand(output).register.c_type
    lines = [fill_in(intrinsic.isa.prepare, refuse="abort()"), "#pragma omp parallel", "{", intrinsic.configure,
             "char memory[4096] __attribute__((aligned(64))) = {0};"]
    names = {o.name: str(i) if numbered else f"r{o.name}" for i, o in enumerate(inputs)}
    for o in inputs:
        lines += [f"{o.register.c_type} {names[o.name]};"] if not numbered else []
        lines.append(fill_in(o.register.load, register=names[o.name], pointer="memory", stride="64"))
    results = [str(len(inputs) + i) if numbered else f"c{i}" for i in range(accumulators)]
    register = intrinsic.operand(output).register
    for r in results:
        lines += [f"{register.c_type} {r};"] if not numbered else []
        lines.append(fill_in(register.zero, register=r))
    lines.append("for (long n = 0; n < times; n++) {")
    for r in results:
        lines.append(fill_in(intrinsic.template, **{**names, output: r}))
    if not numbered:
        lines += [f'asm volatile("" : "+v"({r}));' for r in results]
    lines.append("}")
    lines += [fill_in(register.store, register=r, pointer="memory", stride="64") for r in results]
    lines += ['asm volatile("" :: "r"(memory) : "memory");', "}"]
    headers = "".join(f"#include <{h}>\n" for h in intrinsic.isa.headers)
    text = f"{headers}#include <stdlib.h>\n{PRELUDE}void peak(long times) {{\n" + "\n".join(lines) + "\n}\n"
    library = build(text, intrinsic.isa.flags, folder, f"peak_{intrinsic.name}")
    operations = 2 * accumulators * threads
    for dimension in intrinsic.contraction.dimensions:
        operations *= int(dimension.extent)
    times = ctypes.c_long(20_000 if numbered else 500_000)
    return (lambda: library.peak(times)), operations * times.value


def race(workload: Workload, candidate: Match, settings: Settings, folder: Path,
         cold: FlushMemory | None) -> Row:
    """Choose the plan by measurement, the constant operand packed once, and let it run against the others."""
    program = tensorize(candidate)
    assert program.before is None
    assert program.after is None
    rivals = [m for m in match(workload.scop, candidate.intrinsic, sizes=workload.sizes).with_mirrors
              if m.signature != candidate.signature]
    ranked = measured_plans([candidate, *best_few(rivals, host(), count=RIVALS)], target=host(), zero=program.zero,
                            constant=(workload.constant,))
    chosen, choice = ranked[0].match, ranked[0].choice
    emitted = emit_match(chosen, "ours", EmissionOptions(zero=program.zero, choice=choice))
    keep = next(iter(kept_operands(chosen, (workload.constant,))), "")
    once = emit_match(chosen, "once", EmissionOptions(keep=(keep,) if keep else (), zero=program.zero, choice=choice))
    tag = f"{abs(hash((workload.name, chosen.intrinsic.name)))}"
    library = build(emitted.unit + once.text, emitted.flags, folder, f"ours_{tag}")
    plain = build(f"#include <stdlib.h>\n{PRELUDE}{workload.plain}", (), folder, f"plain_{tag}")
    arrays = inputs(workload)
    result = chosen.fragment.statement.access(chosen.fragment.target).array

    def subject(call: Callable[..., object], names: tuple[str, ...],
                source: dict[str, np.ndarray]) -> Callable[[], None]:
        pointers = [ctypes.c_void_p(source[n].ctypes.data) for n in names]
        return lambda: (call(*pointers), None)[1]

    values = {k: aligned(v) for k, v in arrays.items()}
    others = {k: aligned(v) for k, v in arrays.items()}
    if workload.transposed_plain:
        others["B"] = np.ascontiguousarray(others["B"].T)
    if workload.channels_last:
        others["W"] = np.ascontiguousarray(others["W"].transpose(0, 2, 3, 1))
    plain_order = ("Y", "X", "W") if "Y" in others else ("C", "A", "B")
    subjects = {"ours": subject(library.ours, emitted.arrays, values),
                "plain": subject(plain.plain, plain_order, others)}
    kept_place = next((p for p in once.plan.places if p.operand == keep), None)
    if kept_place is not None and kept_place.packed:
        library.__getattr__(f"once_prepare_{keep}")(ctypes.c_void_p(values[workload.constant].ctypes.data))
    subjects["packed once"] = subject(library.once, once.arrays, values)
    subjects["plain"]()
    verified = True
    for mine in ("ours", "packed once"):
        values[result][...] = 7
        subjects[mine]()
        verified &= bool(np.array_equal(values[result], others[result]))
    subjects |= {f"oneDNN {n}": call for n, call in peers.onednn(workload, arrays).items()}
    subjects |= peers.blas(workload, arrays)
    subjects["peak"], peak_operations = peak(chosen.intrinsic, folder, max(settings.threads))
    seconds = alternate(subjects, settings.config["rounds"], cold)
    middle = {n: statistics.median(s) for n, s in seconds.items()}

    def ratio(names: Iterable[str]) -> float | None:
        """Median of the paired ratios of the best of some subjects over ours with the constant packed once."""
        known = [n for n in names if n in seconds]
        if not known:
            return None
        best = min(known, key=lambda n: middle[n])
        return statistics.median(a / b for a, b in zip(seconds[best], seconds["packed once"], strict=True))

    same = [n for n in seconds if n.startswith("oneDNN") and "narrow" not in n]
    return Row(workload=workload.name, intrinsic=chosen.intrinsic.name, match=str(chosen), plan=str(ranked[0].plan),
               plans=len(ranked), verified=verified,
               giga_per_second={n: (peak_operations if n == "peak" else workload.operations) / s / 1e9
                                for n, s in middle.items()},
               share_of_peak=(ratio(["peak"]) or 0.0) * workload.operations / peak_operations,
               over_plain=ratio(["plain"]) or 0.0, over_onednn=ratio(same),
               over_onednn_narrow=ratio(n for n in seconds if "narrow" in n), over_blas=ratio(["OpenBLAS", "MKL"]),
               seconds=seconds)


def inputs(workload: Workload) -> dict[str, np.ndarray]:
    """Small integers, so that sums of floats are exact in any order."""
    chooser = np.random.default_rng(0)
    return {a.name: stored(chooser.integers(0, 8, extents_of(a, workload.sizes)) - 4 * (a.dtype.name != "uint8"),
                           a.dtype.name) for a in workload.scop.arrays}


def aligned(values: np.ndarray) -> np.ndarray:
    """A copy on a 64-byte boundary."""
    memory = np.empty(values.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start: start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def alternate(subjects: dict[str, Callable[[], object]], rounds: int,
              cold: FlushMemory | None) -> dict[str, list[float]]:
    """Seconds of every subject per round; each is called once more before, so that its own data is in the caches.

    Parameters
    ----------
    cold : what empties the caches before every timed call; None leaves them warm.
    """
    seconds: dict[str, list[float]] = {n: [] for n in subjects}
    for _ in range(rounds):
        for n, call in subjects.items():
            call()
            samples = []
            for _ in range(1 if n == "plain" else 3):
                if cold is not None:
                    cold.walk()
                started = time.perf_counter()
                call()
                samples.append(time.perf_counter() - started)
            seconds[n].append(statistics.median(samples))
            if n == "OpenBLAS":
                time.sleep(0.05)   # its threads go on looking for work for a while
    return seconds


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name.replace(" ", "_"), parameters={"workload": name}) for name in WORKLOADS]


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--intrinsics", nargs="+", metavar="NAME", default=[],
                       help="measure these too, beside the program's own choice")


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """The program's own choice for a workload, and the instructions that were asked for."""
    workload, processors = WORKLOADS[case.parameters["workload"]](), usable_processors()
    cold = FlushMemory(flush_for(processors)) if settings.cold_cache else None
    chosen = choose(workload.scop, sizes=workload.sizes)
    candidates = [chosen] if chosen is not None else []
    for other in settings.options["intrinsics"]:
        if executes_here(find_intrinsic(other)) and (chosen is None or other != chosen.intrinsic.name):
            also = choose(workload.scop, sizes=workload.sizes, intrinsics=[find_intrinsic(other)])
            candidates += [also] if also is not None else []
    rows = []
    with tempfile.TemporaryDirectory(prefix="polysched-tensorize-") as folder:
        for candidate in candidates:
            report(f"racing {candidate.intrinsic.name}")
            rows.append(asdict(race(workload, candidate, settings, Path(folder), cold)))
    return {"rows": rows, "compiler": find_compiler().version}


def rows_of(records: Sequence[Record]) -> list[Row]:
    return [Row(**row) for record in records for row in record.values["rows"]]


def table(records: Sequence[Record]) -> str:
    """G operations per second, and our speed (the constant packed once) over the others'."""
    rows = [[r.workload, r.intrinsic, *(f"{r.giga_per_second[n]:.0f}" for n in ("ours", "packed once", "peak")),
             f"{r.share_of_peak:.2f}", r.over_plain, r.over_onednn, r.over_onednn_narrow, r.over_blas,
             "yes" if r.verified else "no"] for r in rows_of(records)]
    text = markdown_table(["workload", "instruction", "ours G/s", "packed once G/s", "peak G/s", "share", "x plain",
                           "x oneDNN", "x narrow", "x BLAS", "verified"], rows)
    nothing = [f"- {r.case}: no instruction that runs here" for r in records if not r.values["rows"]]
    return "\n".join([text, *(["", *nothing] if nothing else [])])


def verdict(records: Sequence[Record]) -> str:
    wrong = [f"{r.workload} by {r.intrinsic}" for r in rows_of([r for r in records if r.done]) if not r.verified]
    return f"other results than the plain loop nest's: {', '.join(wrong)}" if wrong else ""


def plot(records: Sequence[Record]) -> Figure:
    """Share of the instruction's measured peak."""
    rows = rows_of(records)
    return grouped_bars([f"{r.workload}, {r.intrinsic}" for r in rows],
                        {"share of the instruction's peak": [r.share_of_peak for r in rows]}, ylabel="share of peak",
                        line_at=1.0)


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        verdict=verdict, times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
