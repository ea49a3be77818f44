"""Programs for a device, and whether one is here."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from polysched.emit_gpu import DeviceSource, emit_opencl
from polysched.emit_gpu.opencl_runtime import RUNTIME
from polysched.measure.measurement import Measurement
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.pipeline.files import TransformedFile, compiler_flags, transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.target import find_compiler
from tests.gpu.mapped import mapped

OPTIMISED = "-DPOLYSCHED_NO_CONTRACTION -cl-fp32-correctly-rounded-divide-sqrt"
"""Options of the device's compiler with which floats are equal bit for bit."""
EXACT = f"{OPTIMISED} -cl-opt-disable"
"""The same without optimisation, which takes the compiler of PoCL six times as long; `test_emission.py` has it."""


def emitted(text: str, scheduler: str = "original") -> DeviceSource:
    return emit_opencl(mapped(text, scheduler))


@cache
def missing() -> str:
    """Why nothing can run on a device here; empty where it can."""
    with tempfile.TemporaryDirectory(prefix="polysched-device-") as name:
        folder = Path(name)
        source, program = folder / "probe.c", folder / "probe"
        source.write_text(RUNTIME + "int main(void) { polysched_device_start(); return 0; }\n")
        done = find_compiler(None).run(["-w", str(source), "-o", str(program), "-lOpenCL"], folder=folder)
        if done.returncode:
            return "no OpenCL headers or library: install ocl-icd-opencl-dev and opencl-c-headers"
        ran = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
        return ran.stderr.strip() if ran.returncode else ""


def needs_device() -> None:
    """Skip where there is no device."""
    if reason := missing():
        pytest.skip(reason)


def transformed(path: Path, options: PipelineOptions) -> TransformedFile:
    """A file behind all stages; once a process for the same text and options."""
    kept = _TRANSFORMED.setdefault(path.read_text(), [])
    for own, made in kept:
        if own == options:
            return made
    kept.append((options, transform_file(path, options)))
    return kept[-1][1]


_TRANSFORMED: dict[str, list[tuple[PipelineOptions, TransformedFile]]] = {}


def verified(path: Path, sizes: dict[str, int], options: PipelineOptions | None = None) -> Measurement:
    """A file's region on the device beside the original, without times."""
    made = transformed(path, options or PipelineOptions(device="opencl"))
    subject = Subject(scops=tuple(r.scop for r in made.regions), transformed_text=made.text)
    flags = ("-O2", "-ffp-contract=off", *compiler_flags(made.regions))
    return compare_and_time(subject, sizes, options=MeasureOptions(flags=flags, pairs=0, warmups=0))


def largest_difference(measurement: Measurement) -> float:
    """Over all arrays; what was not verified has none."""
    assert measurement.verified, measurement.failure
    assert measurement.verification is not None
    return max(array.largest_absolute for array in measurement.verification.arrays)
