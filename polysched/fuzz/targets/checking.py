"""A random program on a target beside its sequential original, bit for bit."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from polysched.distribute import Partition
from polysched.errors import CompileError, PolyschedError, RunFailedError
from polysched.fuzz.graph_campaign import OUR_FAULTS, REFUSED, RIGHT, WRONG, GraphRecord
from polysched.fuzz.targets.programs import TargetProgram, target_program
from polysched.gpu import GpuOptions
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.measure.processes.isolation import Limits
from polysched.measure.ranks import NO_CONTRACTION, run_on_ranks
from polysched.pipeline.files import compiler_flags, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.whole_files.distributed import DistributedFile, distribute_file

SECONDS = 100.0
"""Of one run: a rank that waits for a message that nobody sends ends with it."""
POISON = ("-DPOLYSCHED_POISON", "-O1")
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
        except (*OUR_FAULTS, RunFailedError, CompileError) as error:
            return GraphRecord(seed, WRONG, f"{error.problem} {error.witness or ''}".strip())
        except PolyschedError as error:
            return GraphRecord(seed, REFUSED, error.problem)


def _over_ranks(seed: int, program: TargetProgram, path: Path) -> GraphRecord:
    """Over one to four ranks, with everything poisoned that a rank does not own."""
    source = random.Random(~seed)
    made, ranks, how = _distributed(source, program, path)
    subject = Subject(scops=tuple(r.scop for r in made.regions), transformed_text=made.text)
    options = MeasureOptions(threads=1, seed=seed + 1, limits=Limits(seconds=SECONDS))
    for sizes in program.sizes:
        found = run_on_ranks(subject, ranks, sizes, options=options, repeats=1, defines=POISON)
        if found.wrong:
            return GraphRecord(seed, WRONG, f"{how} at {sizes}: {found.wrong[0]}")
    return GraphRecord(seed, RIGHT, made.regions[0].partition.kind)


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
    source = random.Random(~seed)
    gpu = GpuOptions(block=source.choice(((), (), (5, 3), (7,), (1, 4, 2))),
                     points=source.choice(((), (), (2, 2), (3,))),
                     time_tile=source.choice((0, 0, 2, 3)), shares=source.choice((0, 0, 3)))
    more = {"POLYSCHED_CUDA_REVERSED": source.choice("01")}
    with _environment(EXACT | more):
        made = transform_file(path, PipelineOptions(device=device, gpu=gpu))
        subject = Subject(scops=tuple(r.scop for r in made.regions), transformed_text=made.text)
        options = MeasureOptions(flags=("-O1", NO_CONTRACTION, *compiler_flags(made.regions)), pairs=0, warmups=0,
                                 seed=seed + 1, tolerance=0.0, limits=Limits(seconds=SECONDS))
        for sizes in program.sizes:
            found = compare_and_time(subject, sizes, options=options)
            if not found.verified:
                return GraphRecord(seed, WRONG, f"{gpu} at {sizes}: {found.failure}")
    return GraphRecord(seed, RIGHT)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Some variables of the environment for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


CHECKS: dict[str, Callable[[int, TargetProgram, Path], GraphRecord]] = {
    "mpi": _over_ranks, "opencl": partial(_on_device, device="opencl"), "cuda": partial(_on_device, device="cuda")}
"""By the name of `--target`."""
