"""A random program on a target beside its sequential original, bit for bit."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from polysched.distribute import Partition
from polysched.emit_gpu.interface import CUDA_ON_CPU
from polysched.errors import CompileError, DeviceError, PolyschedError
from polysched.fuzz.graph_campaign import OUR_FAULTS, REFUSED, RIGHT, TIMEOUT, WRONG, GraphRecord
from polysched.fuzz.targets.harness import harness
from polysched.fuzz.targets.programs import TargetProgram, target_program
from polysched.gpu import GpuOptions
from polysched.measure.processes.opencl_device import opencl_device
from polysched.measure.ranks import NO_CONTRACTION, mpi_command
from polysched.pipeline.files import compiler_flags, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.whole_files.distributed import DistributedFile, distribute_file
from polysched.target import Compiler, find_compiler

SECONDS = 100.0
"""Of one run: a rank that waits for a message that nobody sends ends with it."""
FLAGS = ("-w", "-O1", NO_CONTRACTION, "-fno-strict-aliasing")
MOST_RANKS = 4
EXACT = {"POLYSCHED_OPENCL_BUILD": "-DPOLYSCHED_NO_CONTRACTION -cl-fp32-correctly-rounded-divide-sqrt",
         "POLYSCHED_CUDA_ON_CPU": "1"}
"""With these a device's floats are those of the original, bit for bit."""


def check_on_target(seed: int, target: str) -> GraphRecord:
    """One program on `mpi`, `opencl` or `cuda`, at two sizes."""
    program, check = target_program(seed), CHECKS[target]
    with TemporaryDirectory(prefix="polysched-fuzz-") as folder:
        path = Path(folder) / "f.c"
        path.write_text(program.text)
        try:
            return check(seed, program, path)
        except (*OUR_FAULTS, CompileError) as error:
            return GraphRecord(seed, WRONG, f"{error.problem} {error.witness or ''}".strip())
        except PolyschedError as error:
            return GraphRecord(seed, REFUSED, error.problem)


def _over_ranks(seed: int, program: TargetProgram, path: Path) -> GraphRecord:
    """Over one to four ranks, with everything poisoned that a rank does not own."""
    made, ranks, how = _distributed(random.Random(~seed), program, path)
    source, compiled = path.with_name("g.c"), path.with_name("g")
    source.write_text(harness(program, made.text, seed))
    arguments = [*FLAGS, "-DPOLYSCHED_POISON", str(source), "-o", str(compiled)]
    _compile(find_compiler(mpi_command("mpicc")), arguments, path)
    command = [mpi_command("mpiexec"), "-n", str(ranks), str(compiled), *_sizes(program)]
    return _ran(seed, command, f"{how} {made.regions[0].partition.kind}", {"POLYSCHED_ALL_PRINT": "1"})


def _distributed(source: random.Random, program: TargetProgram, path: Path) -> tuple[DistributedFile, int, str]:
    """The file over ranks along the first loop that may be dealt out, their number, and all this in words."""
    ranks = source.randint(1, MOST_RANKS)
    partition = source.choice((Partition(), Partition(), Partition(kind="cyclic", ranks=ranks),
                               Partition(kind="block-cyclic", ranks=ranks, block=source.randint(2, 3))))
    time_tile = source.choice((1, 1, 2, 3)) if partition.kind == "block" else 1
    overlap, refusal = source.random() < 0.3, None
    for tile, beside in dict.fromkeys(((time_tile, overlap), (1, overlap), (1, False))):
        for axis in program.axes:
            try:
                made = distribute_file(path, axis, partition=partition, time_tile=tile, overlap=beside)
            except PolyschedError as error:
                refusal = refusal or error
            else:
                return made, ranks, (f"{ranks} ranks, {axis} in {partition.kind} {partition.block}, tiles of {tile}"
                                     f"{', overlap' if beside else ''}")
    assert refusal is not None, "there is a loop"
    raise refusal


def _on_device(seed: int, program: TargetProgram, path: Path, device: str) -> GraphRecord:
    """On a device, with blocks and tiles by chance."""
    if device == "opencl" and opencl_device() is None:
        raise DeviceError("there is no OpenCL device", hint="python -m pip install 'polysched[opencl]'")
    source = random.Random(~seed)
    gpu = GpuOptions(block=source.choice(((), (), (5, 3), (7,), (1, 4, 2))),
                     points=source.choice(((), (), (2, 2), (3,))),
                     time_tile=source.choice((0, 0, 2, 3)), shares=source.choice((0, 0, 3)))
    environment = {**EXACT, "POLYSCHED_CUDA_REVERSED": source.choice("01")}
    made = transform_file(path, PipelineOptions(device=device, gpu=gpu))
    flags = (f"-I{CUDA_ON_CPU}", "-ldl") if device == "cuda" else compiler_flags(made.regions)
    text, compiled = path.with_name("g.c"), path.with_name("g")
    text.write_text(harness(program, made.text, seed))
    _compile(find_compiler(None), [*FLAGS, str(text), "-o", str(compiled), *flags, "-lm"], path)
    return _ran(seed, [str(compiled), *_sizes(program)], f"{gpu}", environment)


def _sizes(program: TargetProgram) -> list[str]:
    return [str(size.get(name, 0)) for size in program.sizes for name in ("n", "t", "q")]


def _compile(compiler: Compiler, arguments: list[str], path: Path) -> None:
    done = compiler.run(arguments, folder=path.parent)
    if done.returncode:
        raise CompileError("the emitted code does not compile", witness=done.stderr[:500])


def _ran(seed: int, command: list[str], how: str, environment: Mapping[str, str]) -> GraphRecord:
    """What a program said that compares."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False,
                             env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return GraphRecord(seed, TIMEOUT, how)
    if ran.returncode == 0:
        return GraphRecord(seed, RIGHT)
    said = (ran.stdout or ran.stderr).strip().splitlines() or [f"exit status {ran.returncode}"]
    return GraphRecord(seed, WRONG, f"{said[0]}: {how}")


CHECKS: dict[str, Callable[[int, TargetProgram, Path], GraphRecord]] = {
    "mpi": _over_ranks, "opencl": partial(_on_device, device="opencl"), "cuda": partial(_on_device, device="cuda")}
"""By the name of `--target`."""
