"""A product of tensor cores beside its original, with another text in a place."""

from __future__ import annotations

from pathlib import Path

from polysched.measure.measurement import Measurement
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.pipeline.files import compiler_flags, transform_file
from polysched.pipeline.options import PipelineOptions

SIZES = {"n": 37, "m": 71, "q": 101}


def compared(path: Path, options: PipelineOptions, *mutation: str) -> Measurement:
    """The program beside the original; a mutation is a text and what stands in its place."""
    made = transform_file(path, options)
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
