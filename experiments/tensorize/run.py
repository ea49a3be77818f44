"""Speed of tensorized operators against the plain loop nest, OpenBLAS and the measured peak of the instruction.

    python experiments/tensorize/run.py [--pairs 20] [--threads 2] [--json FILE] [--plot FILE.svg] [--only NAME ...]
"""

import argparse
import ctypes
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import peers
from workloads import WORKLOADS, Workload, stored

from polysched.scop.interpreter import extents_of
from polysched.target import find_compiler
from polysched.tensorize import Match, find_intrinsic
from polysched.tensorize.choice import choose, executes_here
from polysched.tensorize.conformance import fill_in
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.exact_arithmetic import PRELUDE
from polysched.tensorize.intrinsic import Intrinsic
from polysched.tensorize.program import tensorize


@dataclass(kw_only=True)
class Row:
    """Results; seconds are all rounds, in the order in which they were measured; ratios are against packed once."""

    workload: str
    intrinsic: str
    match: str
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
    own = ("-mprefer-vector-width=512", "-fno-tree-coalesce-vars") if compiler.kind == "gcc" else ()
    done = compiler.run(["-O3", "-march=native", *own, *flags, "-w", "-fPIC", "-shared", *compiler.openmp_compile,
                         str(source), "-o", str(folder / f"{name}.so"), *compiler.openmp_link, "-lm"])
    if done.returncode:
        raise SystemExit(done.stderr)
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


def measure(workload: Workload, chosen: Match, pairs: int, threads: int, folder: Path) -> Row:
    program = tensorize(chosen)
    assert program.before is None
    assert program.after is None
    emitted = emit_match(chosen, "ours", EmissionOptions(zero=program.zero))
    keep = next((n for n, e in chosen.assignment.operands if workload.constant in str(chosen.to_json()["operands"][n])),
                "")
    once = emit_match(chosen, "once", EmissionOptions(keep=(keep,) if keep else (), zero=program.zero))
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
    subjects["peak"], peak_operations = peak(chosen.intrinsic, folder, threads)
    seconds = alternate(subjects, pairs)
    middle = {n: statistics.median(s) for n, s in seconds.items()}

    def ratio(names: Iterable[str]) -> float | None:
        """Median of the paired ratios of the best of some subjects over ours with the constant packed once."""
        known = [n for n in names if n in seconds]
        if not known:
            return None
        best = min(known, key=lambda n: middle[n])
        return statistics.median(a / b for a, b in zip(seconds[best], seconds["packed once"], strict=True))

    same = [n for n in seconds if n.startswith("oneDNN") and "narrow" not in n]
    return Row(workload=workload.name, intrinsic=chosen.intrinsic.name, match=str(chosen), verified=verified,
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


def alternate(subjects: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every subject per round; each is called once more before, so that its own data is in the caches."""
    seconds: dict[str, list[float]] = {n: [] for n in subjects}
    for _ in range(rounds):
        for n, call in subjects.items():
            call()
            samples = []
            for _ in range(1 if n == "plain" else 3):
                started = time.perf_counter()
                call()
                samples.append(time.perf_counter() - started)
            seconds[n].append(statistics.median(samples))
            if n == "OpenBLAS":
                time.sleep(0.05)   # its threads go on looking for work for a while
    return seconds


HEADING = (f"{'workload':<22}{'instruction':<16}{'G/s':>7}{'packed once':>12}{'peak':>8}{'share':>7}{'x plain':>9}"
           f"{'x oneDNN':>10}{'x narrow':>10}{'x BLAS':>8}  verified")


def line(row: Row) -> str:
    """One line of the table."""
    ratios = [f"{r:.2f}" if r is not None else "-" for r in (row.over_onednn, row.over_onednn_narrow, row.over_blas)]
    rate = row.giga_per_second
    return (f"{row.workload:<22}{row.intrinsic:<16}{rate['ours']:>7.0f}{rate['packed once']:>12.0f}"
            f"{rate['peak']:>8.0f}{row.share_of_peak:>7.2f}{row.over_plain:>9.2f}"
            f"{ratios[0]:>10}{ratios[1]:>10}{ratios[2]:>8}  {row.verified}")


def plot(rows: list[Row], path: str) -> None:
    """A bar per row: share of the instruction's measured peak."""
    height = 28 * len(rows) + 30
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" font-family="sans-serif" '
             'font-size="13">']
    for i, row in enumerate(rows):
        y = 20 + 28 * i
        width = 400 * row.share_of_peak
        parts.append(f'<text x="250" y="{y + 14}" text-anchor="end">{row.workload}, {row.intrinsic}</text>'
                     f'<rect x="260" y="{y}" width="{width:.0f}" height="20" fill="#4477aa"/>'
                     f'<text x="{266 + width:.0f}" y="{y + 14}">{row.share_of_peak:.0%} of peak</text>')
    Path(path).write_text("\n".join([*parts, "</svg>\n"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE.svg")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=list(WORKLOADS))
    parser.add_argument("--intrinsics", nargs="+", metavar="NAME", default=[],
                        help="measure these too, beside the program's own choice")
    arguments = parser.parse_args()
    wanted = {"OMP_NUM_THREADS": str(arguments.threads), "OMP_PROC_BIND": "true",
              "OPENBLAS_NUM_THREADS": str(arguments.threads)}
    unwanted = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"} & set(os.environ)
    if unwanted or any(os.environ.get(k) != v for k, v in wanted.items()):   # read once, when the libraries load
        clean = {k: v for k, v in os.environ.items() if k not in unwanted} | wanted
        return subprocess.run([sys.executable, *sys.argv], env=clean, check=False).returncode
    rows: list[Row] = []
    print(HEADING)
    with tempfile.TemporaryDirectory(prefix="polysched-tensorize-") as folder:
        for name in arguments.only:
            workload = WORKLOADS[name]()
            chosen = choose(workload.scop, sizes=workload.sizes)
            candidates = [chosen] if chosen is not None else []
            for other in arguments.intrinsics:
                if executes_here(find_intrinsic(other)) and (chosen is None or other != chosen.intrinsic.name):
                    also = choose(workload.scop, sizes=workload.sizes, intrinsics=[find_intrinsic(other)])
                    candidates += [also] if also is not None else []
            for candidate in candidates:
                rows.append(measure(workload, candidate, arguments.pairs, arguments.threads, Path(folder)))
                print(line(rows[-1]), flush=True)
    if arguments.json:
        machine = {"machine": platform.processor() or platform.machine(), "compiler": find_compiler().version,
                   "threads": arguments.threads, "pairs": arguments.pairs}
        Path(arguments.json).write_text(json.dumps({"setting": machine, "rows": [asdict(r) for r in rows]}, indent=2))
    if arguments.plot:
        plot(rows, arguments.plot)
    return 0 if all(r.verified for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
