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
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from polysched.scop.interpreter import extents_of
from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.tensorize import Match, find_intrinsic, match, operators
from polysched.tensorize.choice import choose, executes_here
from polysched.tensorize.conformance import fill_in
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.exact_arithmetic import PRELUDE
from polysched.tensorize.intrinsic import Intrinsic

BYTES = {"dtype": "uint8", "right_dtype": "int8", "accumulator": "int32"}
BF16 = {"dtype": "bfloat16", "accumulator": "float32"}
F32 = {"dtype": "float32", "accumulator": "float32"}
PLAIN_PRODUCT = """void plain({c} *C, const {a} *A, const {b} *B) {{
    #pragma omp parallel for
    for (long i = 0; i < {m}; i++)
        for (long j = 0; j < {n}; j++) {{
            {c} sum = C[i * {n} + j];
            for (long k = 0; k < {k}; k++) sum += A[i * {k} + k] * B[j * {k} + k];
            C[i * {n} + j] = sum;
        }}
}}
"""
PLAIN_F32 = """void plain(float *C, const float *A, const float *B) {{
    #pragma omp parallel for
    for (long i = 0; i < {m}; i++)
        for (long k = 0; k < {k}; k++)
            for (long j = 0; j < {n}; j++) C[i * {n} + j] += A[i * {k} + k] * B[k * {n} + j];
}}
"""
PLAIN_BF16 = PLAIN_PRODUCT.replace("A[i * {k} + k] * B[j * {k} + k]",
                                   "bf16_to_f32(A[i * {k} + k]) * bf16_to_f32(B[j * {k} + k])")
PLAIN_CONVOLUTION = """void plain(int32_t *Y, const uint8_t *X, const int8_t *W) {{
    #pragma omp parallel for collapse(2)
    for (long k = 0; k < {k}; k++)
        for (long p = 0; p < {size}; p++)
            for (long c = 0; c < {c}; c++)
                for (long r = 0; r < {window}; r++)
                    for (long s = 0; s < {window}; s++)
                        for (long q = 0; q < {size}; q++)
                            Y[(k * {size} + p) * {size} + q] += X[(c * {wide} + p + r) * {wide} + q + s]
                                * W[((k * {c} + c) * {window} + r) * {window} + s];
}}
"""


@dataclass
class Workload:
    """One row of the table."""

    name: str
    scop: Scop
    operations: int
    plain: str
    sizes: dict[str, int] = field(default_factory=dict)
    constant: str = ""                  # array that is packed once
    transposed_plain: bool = False      # the baseline gets B transposed, as a good loop nest would have it


@dataclass
class Row:
    """Results; seconds are all repeats, in the order in which they were measured."""

    workload: str
    intrinsic: str
    match: str
    giga_per_second: float
    giga_per_second_packed_once: float
    share_of_peak: float
    over_plain: float
    over_blas: float | None
    peak_giga_per_second: float
    verified: bool
    seconds: dict[str, list[float]]


def product(name: str, n: int, types: dict[str, str], plain: str) -> Workload:
    names = {"uint8": "uint8_t", "int8": "int8_t", "int32": "int32_t", "float32": "float", "bfloat16": "bf16"}
    c, a = names[types["accumulator"]], names[types["dtype"]]
    text = plain.format(c=c, a=a, b=names[types.get("right_dtype", types["dtype"])], m=n, n=n, k=n)
    return Workload(name, operators.gmm(m=n, n=n, k=n, **types), 2 * n**3, text, constant="B",
                    transposed_plain=plain is not PLAIN_F32)


def convolution(name: str, channels_in: int, channels: int, size: int, window: int) -> Workload:
    scop = operators.c2d(k=channels, c=channels_in, size=size, window=window, **BYTES)
    text = PLAIN_CONVOLUTION.format(k=channels, c=channels_in, size=size, window=window, wide=size + window - 1)
    return Workload(name, scop, 2 * channels * channels_in * size * size * window * window, text, {"batch": 1}, "W")


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "int8 product 1024": lambda: product("int8 product 1024", 1024, BYTES, PLAIN_PRODUCT),
    "bf16 product 1024": lambda: product("bf16 product 1024", 1024, BF16, PLAIN_BF16),
    "f32 product 1024": lambda: product("f32 product 1024", 1024, F32, PLAIN_F32),
    "int8 conv 3x3 64@56": lambda: convolution("int8 conv 3x3 64@56", 64, 64, 56, 3),
    "int8 conv 1x1 64@56": lambda: convolution("int8 conv 1x1 64@56", 64, 64, 56, 1),
}


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bfloat16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(dtype)


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


def peak(intrinsic: Intrinsic, folder: Path, threads: int) -> float:
    """Multiply-adds times two per second of the bare instruction on registers, all threads."""
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
    work = 2 * accumulators * threads
    for dimension in intrinsic.contraction.dimensions:
        work *= int(dimension.extent)
    best = 0.0
    times = 200_000 if numbered else 5_000_000
    for _ in range(5):
        started = time.perf_counter()
        library.peak(ctypes.c_long(times))
        best = max(best, work * times / (time.perf_counter() - started))
    return best / 1e9


def measure(workload: Workload, chosen: Match, pairs: int, threads: int, folder: Path) -> Row:
    emitted = emit_match(chosen, "ours")
    keep = next((n for n, e in chosen.assignment.operands if workload.constant in str(chosen.to_json()["operands"][n])),
                "")
    once = emit_match(chosen, "once", EmissionOptions(keep=(keep,) if keep else ()))
    tag = f"{abs(hash((workload.name, chosen.intrinsic.name)))}"
    library = build(emitted.unit + once.text, emitted.flags, folder, f"ours_{tag}")
    plain = build(f"#include <stdlib.h>\n{PRELUDE}{workload.plain}", (), folder, f"plain_{tag}")
    chooser = np.random.default_rng(0)
    arrays = {}
    for a in workload.scop.arrays:
        shape = tuple(extents_of(a, workload.sizes))
        arrays[a.name] = stored(chooser.integers(0, 8, shape) - (0 if a.dtype.name == "uint8" else 4), a.dtype.name)
    result = chosen.fragment.statement.access(chosen.fragment.target).array

    def subject(call: Callable[..., object], names: tuple[str, ...],
                source: dict[str, np.ndarray]) -> Callable[[], None]:
        pointers = [ctypes.c_void_p(source[n].ctypes.data) for n in names]
        return lambda: (call(*pointers), None)[1]

    values = {k: v.copy() for k, v in arrays.items()}
    others = {k: v.copy() for k, v in arrays.items()}
    if workload.transposed_plain:
        others["B"] = np.ascontiguousarray(others["B"].T)
    order = tuple(a.name for a in workload.scop.arrays)
    plain_order = ("Y", "X", "W") if "Y" in order else ("C", "A", "B")
    subjects = {"ours": subject(library.ours, emitted.arrays, values),
                "plain": subject(plain.plain, plain_order, others)}
    kept_place = next((p for p in once.plan.places if p.operand == keep), None)
    if kept_place is not None and kept_place.packed:
        library.__getattr__(f"once_prepare_{keep}")(ctypes.c_void_p(values[workload.constant].ctypes.data))
    subjects["packed once"] = subject(library.once, once.arrays, values)
    subjects["ours"]()
    subjects["plain"]()
    verified = bool(np.array_equal(values[result], others[result]))
    if chosen.fragment.update.dtype.name == "float32" and values["A"].dtype == np.float32:
        subjects["blas"] = lambda: np.matmul(arrays["A"], arrays["B"], out=arrays["C"]) is None or None
    seconds: dict[str, list[float]] = {n: [] for n in subjects}
    for _ in range(pairs):
        for n, call in subjects.items():
            started = time.perf_counter()
            call()
            seconds[n].append(time.perf_counter() - started)
    ratio = {n: statistics.median(a / b for a, b in zip(seconds[n], seconds["packed once"], strict=True))
             for n in seconds}
    rate = {n: workload.operations / statistics.median(s) / 1e9 for n, s in seconds.items()}
    top = peak(chosen.intrinsic, folder, threads)
    return Row(workload.name, chosen.intrinsic.name, str(chosen), rate["ours"], rate["packed once"],
               rate["packed once"] / top, ratio["plain"], ratio.get("blas"), top, verified, seconds)


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
    print(f"{'workload':<22}{'instruction':<16}{'G/s':>8}{'packed once':>12}{'peak':>9}{'share':>7}"
          f"{'x plain':>9}{'x BLAS':>8}  verified")
    with tempfile.TemporaryDirectory(prefix="polysched-tensorize-") as folder:
        for name in arguments.only:
            workload = WORKLOADS[name]()
            chosen = choose(workload.scop, sizes=workload.sizes)
            candidates = [chosen] if chosen is not None else []
            for other in arguments.intrinsics:
                if executes_here(other) and (chosen is None or other != chosen.intrinsic.name):
                    candidates += match(workload.scop, find_intrinsic(other), sizes=workload.sizes).matches[:1]
            for candidate in candidates:
                row = measure(workload, candidate, arguments.pairs, arguments.threads, Path(folder))
                rows.append(row)
                blas = f"{row.over_blas:.2f}" if row.over_blas else "-"
                print(f"{row.workload:<22}{row.intrinsic:<16}{row.giga_per_second:>8.0f}"
                      f"{row.giga_per_second_packed_once:>12.0f}{row.peak_giga_per_second:>9.0f}"
                      f"{row.share_of_peak:>7.2f}{row.over_plain:>9.2f}{blas:>8}  {row.verified}")
    if arguments.json:
        machine = {"machine": platform.processor() or platform.machine(), "compiler": find_compiler().version,
                   "threads": arguments.threads, "pairs": arguments.pairs}
        Path(arguments.json).write_text(json.dumps({"setting": machine, "rows": [asdict(r) for r in rows]}, indent=2))
    if arguments.plot:
        plot(rows, arguments.plot)
    return 0 if all(r.verified for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
