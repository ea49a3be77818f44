"""A product of tensor cores beside its original, with another text in a place."""

from __future__ import annotations

from pathlib import Path

from polysched.emit_gpu import DeviceSource, emit_cuda
from polysched.gpu import GpuOptions, map_to_device
from polysched.measure.measurement import Measurement
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.pipeline.files import compiler_flags
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from tests.emit_gpu.emitted import transformed

SIZES = {"n": 37, "m": 71, "q": 101}


def products_by(instruction: str, *kinds: str, block: tuple[int, ...] = (), points: tuple[int, ...] = ()
                ) -> PipelineOptions:
    """Options that have an instruction of tensor cores compute products of some types, in blocks of the usual items."""
    return PipelineOptions(device="cuda", scheduler="original", gpu=GpuOptions(
        tensor_cores=kinds, tensor_instruction=instruction, block=block or (32, 8), points=points))


def cuda_by(instruction: str, text: str, *kinds: str) -> DeviceSource:
    """A program as CUDA whose products an instruction computes."""
    schedule = scheduled(analysed(from_c_text(text)).dependences, PipelineOptions(scheduler="original"))
    return emit_cuda(map_to_device(schedule, options=products_by(instruction, *kinds).gpu))


def compared(path: Path, options: PipelineOptions, *mutation: str) -> Measurement:
    """The program beside the original; a mutation is a text and what stands in its place."""
    made = transformed(path, options)
    text = made.text
    if mutation:
        assert mutation[0] in text
        text = text.replace(*mutation)
    subject = Subject(scops=tuple(r.scop for r in made.regions), transformed_text=text)
    flags = ("-O2", *compiler_flags(made.regions))
    return compare_and_time(subject, SIZES, options=MeasureOptions(flags=flags, pairs=0, warmups=0))


def relative(measured: Measurement) -> float:
    """The largest relative difference of an array."""
    assert measured.verification is not None
    return max(array.largest_relative for array in measured.verification.arrays)
