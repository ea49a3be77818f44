"""The `repr` of every public value is one line of at most 300 characters."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

import polysched
from polysched import errors, records
from polysched.pipeline import PipelineOptions, optimize, transform_file
from polysched.records import LONGEST
from polysched.scop.shown import Shown
from polysched.target import host
from polysched.target.gpus import GPUS
from polysched.tensorize.intrinsics.shipped import shipped
from polysched.tiling import TilingOptions
from polysched.tiling.explain import explanations
from tests.measure.test_results import MEASUREMENT
from tests.smooth import STENCIL, smooth

OWN = {
    "polysched.graph.values.graph.Graph": "the beginning of its name, and counts",
    "polysched.graph.values.sizes.Size": "a sum of products, as it is printed in types",
    "polysched.kernel.block_program.BlockProgram": "shortened",
    "polysched.kernel.c_function.CFileFunction": "shortened",
    "polysched.kernel.decorated.Kernel": "shortened",
    "polysched.kernel.scop_function.ScopFunction": "shortened",
    "polysched.model.compiled_model.CompiledModel": "the beginning of its name, and counts",
    "polysched.model.segmented_model.SegmentedModel": "the beginning of its name, and counts",
    "polysched.pipeline.options.PipelineOptions": "shortened",
    "polysched.pipeline.recipe.Recipe": "shortened",
    "polysched.runtime.dataflow.cluster.Cluster": "counts",
    "polysched.runtime.dataflow.nodes.Future": "shortened",
    "polysched.runtime.dataflow.program.Program": "shortened",
}
"""Classes with a `repr` of their own, and what keeps it short."""


def public_classes() -> Iterator[type]:
    packages = ["polysched", *(m.name for m in pkgutil.walk_packages(polysched.__path__, "polysched.") if m.ispkg)]
    for package in packages:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            if inspect.isclass(found) and found.__module__.startswith("polysched.") and not issubclass(
                    found, BaseException | Enum):
                yield found


def bounded(kind: type) -> bool:
    """Whether the `repr` is one of those that cut a line, or that of plain objects."""
    return kind.__repr__ in (Shown.__repr__, records._one_line, object.__repr__)


def test_every_public_value_has_a_short_repr() -> None:
    classes = set(public_classes())
    assert len([kind for kind in classes if is_dataclass(kind)]) > 100
    assert {f"{kind.__module__}.{kind.__qualname__}" for kind in classes if not bounded(kind)} == set(OWN)


def test_those_that_shorten_their_own_do() -> None:
    for name, how in OWN.items():
        module, _, kind = name.rpartition(".")
        text = inspect.getsource(getattr(importlib.import_module(module), kind).__repr__)
        assert ("shortened(" in text) is (how == "shortened"), name


def test_a_value_of_every_stage(tmp_path: Path) -> None:
    optimized = optimize(smooth().scop, PipelineOptions(tile=3, parallel=False))
    (tmp_path / "smooth.c").write_text(STENCIL)
    transformed = transform_file(tmp_path / "smooth.c", PipelineOptions(tile=3, parallel=False))
    for value in (optimized, optimized.scop, optimized.dependences, optimized.dependences.pairs[0], optimized.schedule,
                  optimized.tiled, optimized.tiled.bands[0], optimized.source, PipelineOptions(), TilingOptions(),
                  host(), host().costs, *shipped(), MEASUREMENT, transformed):
        assert len(repr(value)) <= LONGEST
        assert "\n" not in repr(value)
        assert len(repr([value] * 2)) <= 2 * LONGEST + 4
    found = held((optimized, transformed, explanations(optimized.tiled, host()), *GPUS.values(), *shipped()))
    assert {type(value) for value in found if len(repr(value)) > LONGEST} == set()


def test_every_refusal_has_a_short_repr() -> None:
    long = "a long one\n" * 200
    for kind in vars(errors).values():
        if inspect.isclass(kind) and issubclass(kind, errors.PolyschedError):
            line = repr(kind(long, where=long, witness=long, hint=long))
            assert len(line) <= LONGEST
            assert "\n" not in line
            assert line.startswith(f"{kind.__name__}(")


def held(value: object, seen: set[int] | None = None) -> Iterator[object]:
    """A value and all records in it."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        inside: tuple[object, ...] = (*value.keys(), *value.values())
    elif isinstance(value, tuple | list | set | frozenset):
        inside = tuple(value)
    elif is_dataclass(value) and not isinstance(value, type):
        yield value
        inside = tuple(getattr(value, field.name) for field in fields(value))
    else:
        return
    for each in inside:
        yield from held(each, seen)
