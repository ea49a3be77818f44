"""The options that say how a file is read are those of every reader, under the same names."""

import inspect
from dataclasses import fields

import pytest

from polysched.pipeline import PipelineOptions
from polysched.pipeline.source_options import SourceOptions
from polysched.scop import all_from_c_file, from_c_file


@pytest.mark.parametrize("reader", [from_c_file, all_from_c_file], ids=lambda f: f.__name__)
def test_readers_take_each_of_them_with_the_same_default(reader: object) -> None:
    parameters = inspect.signature(reader).parameters
    for option in fields(SourceOptions):
        assert tuple(parameters[option.name].default or ()) == tuple(option.default or ()), option.name


def test_short_options_of_the_pipeline_are_its_own() -> None:
    options = PipelineOptions(autodetect=True, pure=("f",), defines=("N=3",), include_dirs=("d",), cc="gcc")
    assert options.source == SourceOptions(autodetect=True, pure=("f",), defines=("N=3",), include_dirs=("d",),
                                           cc="gcc")
    assert all(getattr(options, f.name) == getattr(options.source, f.name) for f in fields(SourceOptions))
