"""All that waits for a GPU, from a checkout and a folder of wheels, without a network.

    python experiments/on_a_gpu.py --wheels DIR [--dry-run] [--results DIR]
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXPERIMENTS = {
    "block_programs": ["block_programs", "--only", "gpu_*", "triton_*"],
    "opencl": ["opencl", "--devices", "cuda"]}
STENCIL = ["tests/kernels/jacobi_2d.c", "--size", "steps=200", "--size", "m=4096", "--size", "n=4096", "--pairs", "2"]
PRODUCT = ["--size", "n=2048", "--pairs", "2", "--scheduler", "original"]
RUNS = {
    "jacobi_launch_per_step": STENCIL, "jacobi_diamonds_8": [*STENCIL, "--time-tile", "8"],
    "jacobi_diamonds_16": [*STENCIL, "--time-tile", "16"], "jacobi_diamonds_32": [*STENCIL, "--time-tile", "32"],
    "product_int8": ["{int8}", *PRODUCT, "--tensor-cores", "int8"],
    "product_float16": ["{float16}", *PRODUCT, "--tensor-cores", "float16"], "product_float": ["{float32}", *PRODUCT],
    "product_int8_wmma": ["{int8}", *PRODUCT, "--tensor-cores", "int8", "--tensor-instruction", "wmma"],
    "product_float16_wmma": ["{float16}", *PRODUCT, "--tensor-cores", "float16", "--tensor-instruction", "wmma"],
    "product_int8_wgmma": ["{int8}", *PRODUCT, "--tensor-cores", "int8", "--tensor-instruction", "wgmma"],
    "product_float16_wgmma": ["{float16}", *PRODUCT, "--tensor-cores", "float16", "--tensor-instruction", "wgmma"],
    "product_tf32": ["{float32}", *PRODUCT, "--tensor-cores", "tf32", "--tolerance", "1e-2"]}
"""Programs that `polysched run --target cuda` verifies against the original and times, copies to the device included.
How many times faster diamonds are than a launch per step follows from two of the records."""
SCRIPTS = {"arrays": "arrays_on_a_gpu.py", "aims": "aims_on_a_gpu.py"}
"""Kernels on torch's arrays in the GPU's memory: beside NumPy's, and beside the peers that are to be reached."""
TYPES = {"int8": ("int", "signed char"), "float16": ("float", "_Float16"), "float32": ("float", "float")}
"""Results and operands of the products."""

ONLY_THESE = {**os.environ, "PIP_CONFIG_FILE": os.devnull}
"""The environment of pip: it finds no wheels elsewhere."""
ON_THE_GPU = {**os.environ, "POLYSCHED_CUDA_ON_CPU": "0"}
"""The environment of what runs; CUDA's headers are the toolkit's that `CUDA_HOME` names, else those of wheels."""


def main(words: Sequence[str] | None = None) -> int:
    """Install, run, and say what did not run; 0 where everything ran."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True, metavar="DIR", help="wheels of polysched's dependencies, "
                        "of triton and of torch for CUDA: pip download -d DIR '.[triton,cuda]' setuptools wheel")
    parser.add_argument("--results", type=Path, default=Path("gpu_results"), metavar="DIR",
                        help="where records go (default: %(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="check the wheels, name the commands, run nothing")
    given = parser.parse_args(words)
    if not given.wheels.is_dir():
        print(f"on_a_gpu: {given.wheels} is no folder", file=sys.stderr)
        return 2
    install = ["install", "--no-index", "--find-links", str(given.wheels.resolve()), f"{ROOT}[triton,cuda]"]
    if given.dry_run:
        return dry_run(install, given.results)
    if (missing := no_gpu()) is not None:
        print(f"on_a_gpu: nothing ran: {missing}", file=sys.stderr)
        return 3
    given.results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = str(Path(folder) / "bin" / "python")
        subprocess.run([python, "-m", "pip", *install], check=True, env=ONLY_THESE)
        write_products(given.results)
        failed = [name for name in runnable() if subprocess.run(command(python, name, given.results), cwd=ROOT,
                                                                 check=False, env=ON_THE_GPU).returncode]
    print(f"on_a_gpu: failed: {', '.join(failed)}" if failed else f"on_a_gpu: the records are in {given.results}")
    return 1 if failed else 0


def dry_run(install: Sequence[str], results: Path) -> int:
    """Whether the wheels suffice, which commands would run, and that nothing ran."""
    done = subprocess.run([sys.executable, "-m", "pip", install[0], "--dry-run", "--ignore-installed", "--quiet",
                           *install[1:]], capture_output=True, text=True, check=False, env=ONLY_THESE)
    enough = done.returncode == 0
    print("the wheels suffice" if enough else f"the wheels do not suffice:\n{done.stderr.strip()}")
    for name in runnable():
        print(f"would run: {shlex.join(command('python', name, results))}")
    print(f"products: {', '.join(sorted(TYPES))}, in files beside the records")
    print(f"dry run: nothing ran; {no_gpu() or 'there is a GPU'}")
    return 0 if enough else 1


def runnable() -> list[str]:
    """All that runs."""
    return [*EXPERIMENTS, *RUNS, *SCRIPTS]


def no_gpu() -> str | None:
    """Why nothing can run on a GPU here; None where it can."""
    if shutil.which("nvidia-smi") is None:
        return "there is no nvidia-smi, so no driver of a GPU"
    done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 and "GPU" in done.stdout else f"nvidia-smi finds no GPU: {done.stdout.strip()}"


def command(python: str, name: str, results: Path) -> list[str]:
    """The command of one experiment."""
    where = str(results.resolve() / f"{name}.jsonl")
    if name in SCRIPTS:
        return [python, str(ROOT / "experiments" / SCRIPTS[name]), "--results", where]
    if name in RUNS:
        words = [word.format(**{kind: product_file(results, kind) for kind in TYPES}) for word in RUNS[name]]
        return [python, "-m", "polysched", "run", *words, "--target", "cuda", "--results", where]
    return [python, "-m", "polysched", "bench", *EXPERIMENTS[name], "--results", where]


def product_file(results: Path, kind: str) -> str:
    """Where the product of a type is."""
    return str(results.resolve() / f"product_{kind}.c")


def product_text(kind: str) -> str:
    """C of a product of matrices."""
    result, operand = TYPES[kind]
    value = "A[i][k] * B[k][j]" if kind == "int8" else f"({result})A[i][k] * ({result})B[k][j]"
    return (f"void product(int n, {result} C[n][n], {operand} A[n][n], {operand} B[n][n]) {{\n#pragma scop\n"
            "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      for (int k = 0; k < n; k++)\n"
            f"        C[i][j] += {value};\n#pragma endscop\n}}\n")


def write_products(results: Path) -> None:
    """The files of the products."""
    for kind in TYPES:
        Path(product_file(results, kind)).write_text(product_text(kind), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
