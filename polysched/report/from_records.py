"""Entries of a report from the records of experiments.

Keys of a record's `values` that a report understands, all of them optional:

`contest` : `Standings.to_json`, the programs that were timed in alternation; `reference` names the one that the others
    are compared with (otherwise the first that is not ours).
`flop_count`, `bytes_moved`, `threads`, `peak_flop_per_second` : of the workload and the machine.
`sizes`, `dtype` : in the values, the case's parameters, or a table within these.
`peaks` : `dataclasses.asdict` of `measure.timing.peak.Peaks`, for the roofline.
`listings` : the regions, by `experiment.listings.pack`.
`steps` : how the schedules came about, as text.
`candidates` : tiles of one kernel, a list of `edges` (numbers, or "auto" for the model's pick, whose edges per band are
    `tiles`), `measured_seconds` (every repeat) and `predicted_seconds`.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from polysched.experiment.listings import unpack
from polysched.experiment.record import Record
from polysched.experiment.standings import Standings, VariantTimes
from polysched.measure.measurement import Work
from polysched.measure.timing.machine import Machine
from polysched.measure.timing.peak import Peaks
from polysched.report.entry import OURS, Entry, Provenance, TileTime, Variant
from polysched.report.from_measurements import make_variant

UNDERSTOOD = frozenset({"contest", "reference", "flop_count", "bytes_moved", "threads", "peak_flop_per_second", "sizes",
                        "dtype", "peaks", "listings", "steps", "candidates"})


def entry_of_record(record: Record) -> Entry:
    """What a report shows of one case."""
    values = record.values
    standings = Standings.from_json(values["contest"]) if "contest" in values else Standings(variants=())
    reference = str(values.get("reference") or _reference(standings))
    work = None if values.get("flop_count") is None or values.get("bytes_moved") is None else Work(
        flop_count=int(values["flop_count"]), bytes_moved=int(values["bytes_moved"]))
    return Entry(
        kernel=record.case, label=_how(record), group=record.experiment, sizes=_stated(record, "sizes") or {},
        threads=_threads(record), provenance=_provenance(record, standings),
        reference=reference, variants=tuple(_variant(v, standings, reference) for v in standings.variants),
        problem="" if record.done else f"{record.status}: {record.problem}", dtype=str(_stated(record, "dtype") or ""),
        known_peak=values.get("peak_flop_per_second"), work=work,
        peaks=_peaks(values["peaks"]) if values.get("peaks") else None,
        listings=unpack(values["listings"]) if values.get("listings") else (), steps=tuple(values.get("steps", ())),
        tiles=_tiles(values.get("candidates", ())),
        values={k: v for k, v in values.items() if k not in UNDERSTOOD})


def _how(record: Record) -> str:
    """How its calls were timed, where that is not the rule."""
    ways = {"pin": "pinned", "cold_cache": "cold cache"}
    return ", ".join(words for name, words in ways.items() if record.options.get(name))


def _reference(standings: Standings) -> str:
    """The first variant with a time that is not ours; a name may end in `@` and its threads."""
    return next((v.name for v in standings.variants if v.timed and v.name.partition("@")[0] != OURS), OURS)


def _threads(record: Record) -> int:
    stated = _stated(record, "threads") or record.threads or 1
    return int(max(stated) if isinstance(stated, list | tuple) else stated)


def _stated(record: Record, name: str) -> Any:
    """What the values, the parameters or a table within the parameters say; None when they do not."""
    tables = [v for v in record.parameters.values() if isinstance(v, Mapping)]
    return next((table[name] for table in (record.values, record.parameters, *tables) if name in table), None)


def _provenance(record: Record, standings: Standings) -> Provenance:
    """Where and with what; compiler and flags of our code, by the experiment or by the contest."""
    machine = record.machine
    build = next((v.build for v in standings.variants if v.build is not None and v.name.startswith(OURS)), None)
    return Provenance(
        machine=Machine(**{**machine, "isa": tuple(machine["isa"])}),
        governor=str(record.conditions.get("governor", "")), load=float(record.conditions.get("load", 0.0)),
        compiler=str(record.values.get("compiler", build.version if build else "")),
        flags=str(record.values.get("flags", " ".join(build.flags) if build else "")),
        libraries=record.libraries, git_revision=record.git_revision, started=record.started,
        command=f"polysched bench {record.experiment}")


def _variant(times: VariantTimes, standings: Standings, reference: str) -> Variant:
    if not times.timed:
        return Variant(name=times.name, problem=f"{times.status.value}: {times.problem}" if times.problem
                       else times.status.value, note=times.note)
    samples = [s for calls in times.rounds.values() for s in calls]
    found = standings.speed_up(times.name, reference) if times.name != reference else None
    return make_variant(times.name, samples, seconds=times.seconds, note=times.note,
                        largest_relative=times.largest_relative,
                        speed_up=None if found is None else found[0], interval=None if found is None else found[1])


def _peaks(value: Mapping[str, Any]) -> Peaks:
    return Peaks(**{**value, "bandwidth": {int(level): rate for level, rate in value["bandwidth"].items()}})


def _tiles(candidates: Sequence[Mapping[str, Any]]) -> tuple[TileTime, ...]:
    """The tiles that were measured; the model's pick by its edges.  Candidates of other kinds have no edges."""
    found = []
    for candidate in candidates:
        if "edges" not in candidate:
            continue
        edges = max(candidate.get("tiles", ((),)), key=len) if candidate["edges"] == "auto" else candidate["edges"]
        if edges and candidate.get("measured_seconds"):
            found.append(TileTime(edges=tuple(int(edge) for edge in edges),
                                  seconds=statistics.median(candidate["measured_seconds"]),
                                  predicted_seconds=candidate.get("predicted_seconds"),
                                  is_pick=candidate["edges"] == "auto"))
    return tuple(found)
