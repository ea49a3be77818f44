"""Entries of a report from measurements: original against transformed code."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polysched.measure.measurement import Measurement
from polysched.measure.paired import result_type
from polysched.measure.summary import verification_line
from polysched.measure.timing.statistics import Sample, median_counters
from polysched.report.entry import ORIGINAL, OURS, Entry, Provenance, TileTime, Variant

_BAND = re.compile(r"band \d+: tiles (\d+(?:x\d+)*)")
"""A band with tiles in the steps of a measurement, as `pipeline.Optimized.steps` tells it."""


def entries_of_measurements(measurements: Sequence[Measurement]) -> tuple[Entry, ...]:
    """One entry per measurement; the labels say in what results of one kernel differ."""
    by_kernel: dict[tuple[str, str], list[Measurement]] = {}
    for measurement in measurements:
        by_kernel.setdefault((measurement.source, measurement.function), []).append(measurement)
    labels = {id(m): label for group in by_kernel.values() for m, label in zip(group, _labels(group), strict=True)}
    return tuple(_entry(m, labels[id(m)], _tiles(m, by_kernel[m.source, m.function])) for m in measurements)


def _entry(measurement: Measurement, label: str, tiles: tuple[TileTime, ...]) -> Entry:
    return Entry(
        kernel=measurement.function, label=label, sizes=measurement.sizes, threads=measurement.threads,
        provenance=_provenance(measurement), variants=_variants(measurement),
        problem="" if measurement.timing is not None else verification_line(measurement),
        dtype=result_type(measurement.verification), work=measurement.work, peaks=measurement.peaks,
        known_peak=measurement.peak_flop_per_second,
        listings=measurement.listings, steps=measurement.steps, tiles=tiles)


def _provenance(measurement: Measurement) -> Provenance:
    build = measurement.transformed
    return Provenance(
        machine=measurement.machine, governor=measurement.conditions.governor, load=measurement.conditions.load,
        compiler=build.version, flags=" ".join(build.flags), libraries=measurement.libraries,
        git_revision=measurement.git_revision, started=measurement.started,
        command=f"polysched run {Path(measurement.source).name}")


def _variants(measurement: Measurement) -> tuple[Variant, ...]:
    timing, verification = measurement.timing, measurement.verification
    if timing is None:
        return ()
    difference = verification.largest_relative if verification is not None else None
    return (make_variant(ORIGINAL, timing.original),
            make_variant(OURS, timing.transformed, speed_up=timing.ratio, interval=timing.ratio_interval,
                         largest_relative=difference))


def make_variant(name: str, samples: Sequence[Sample], **known: Any) -> Variant:
    """A variant from its samples."""
    walls = [s.wall_seconds for s in samples]
    found: dict[str, Any] = {"name": name, "seconds": statistics.median(walls), "least": min(walls),
                             "largest": max(walls),
                             "repeats": len(walls), "disturbed": sum(s.is_disturbed for s in samples),
                             "counters": median_counters(samples)}
    return Variant(**(found | known))


def _labels(group: Sequence[Measurement]) -> list[str]:
    """What distinguishes the measurements of one kernel."""
    facts = [{"size": ", ".join(f"{k}={v}" for k, v in m.sizes.items()),
              "threads": f"{m.threads} thread{'s' if m.threads != 1 else ''}",
              "cold": "cold cache" if m.cold_cache else "warm cache",
              "compiler": f"{m.transformed.compiler} {' '.join(m.transformed.flags)}",
              **{name: f"{name} {_short(value)}" for name, value in m.options.items()}} for m in group]
    differing = [name for name in dict.fromkeys(name for f in facts for name in f)
                 if len({f.get(name) for f in facts}) > 1]
    return ["; ".join(part for name in differing if (part := f.get(name, ""))) for f in facts]


def _short(value: object) -> str:
    return "x".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _tiles(measurement: Measurement, group: Sequence[Measurement]) -> tuple[TileTime, ...]:
    """The times of the tiles given by hand for the same kernel, size and threads, and of those of the model."""
    alike = [m for m in group if m.timing is not None and _but_tile(m) == _but_tile(measurement)]
    by_hand = [m for m in alike if isinstance(m.options.get("tile"), list)]
    if len(by_hand) < 2 or by_hand[0] is not measurement:
        return ()
    picks = {_picked(m): m for m in alike if _picked(m)}
    every = {**{_edges(m.options): m for m in by_hand}, **picks}
    return tuple(TileTime(edges=edges, seconds=m.timing.transformed_seconds, is_pick=edges in picks)
                 for edges, m in every.items() if m.timing is not None)


def _edges(options: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(int(edge) for edge in options["tile"])


def _picked(measurement: Measurement) -> tuple[int, ...]:
    """The edges that the model chose for the only band with tiles; none where they are by hand or of several bands."""
    if measurement.options.get("tile") != "auto":
        return ()
    found = [match for step in measurement.steps if (match := _BAND.match(step))]
    return tuple(int(edge) for edge in found[0][1].split("x")) if len(found) == 1 else ()


def _but_tile(measurement: Measurement) -> tuple[Any, ...]:
    others = {name: value for name, value in measurement.options.items() if name != "tile"}
    return (json.dumps(dict(measurement.sizes), sort_keys=True), measurement.threads, measurement.cold_cache,
            json.dumps(others, sort_keys=True, default=str), measurement.machine.identity)
