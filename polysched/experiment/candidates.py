"""Many versions of one C function, predicted by a model and raced against each other; how well the model ranks them.

A candidate in a record is a mapping with `predicted_seconds`, `measured_seconds` (every repeat) and `verified`.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from polysched.emit_c import EmitOptions, emit, splice
from polysched.experiment.c_function import command
from polysched.experiment.contest import Contender, Program, Rules, run_contest
from polysched.experiment.definition import Report, Settings
from polysched.experiment.standings import Standings
from polysched.measure.paired import build_of
from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.call_interface import Slot, wrapper
from polysched.measure.programs.problem_size import choose_size
from polysched.measure.programs.slots import make_slots
from polysched.pipeline import scanned_with_fallbacks
from polysched.records import dataclass
from polysched.scop.scop import Scop, SourceRegion
from polysched.target import find_compiler, host
from polysched.tiling import TiledSchedule


@dataclass(frozen=True, eq=False, kw_only=True)
class VersionedFunction:
    """The function around one region of a C file, to be compiled in many versions.

    Parameters
    ----------
    sizes : the parameters by C spelling.
    folder : a private one, for sources and libraries.
    openmp : whether the emitted code may use threads.
    """

    scop: Scop
    sizes: Mapping[str, int]
    folder: Path
    openmp: bool = False

    @property
    def source(self) -> SourceRegion:
        source = self.scop.source
        assert source is not None
        return source

    def as_written(self) -> Program:
        """The file as it was read."""
        return self._compiled("original", self.source.text)

    def transformed(self, name: str, tiled: TiledSchedule) -> Program:
        """The file with the region emitted anew."""
        tiled, scanned = scanned_with_fallbacks(tiled)
        emitted = emit(tiled, scanned=scanned, options=EmitOptions(openmp=self.openmp, vector_bits=host().vector_bits))
        return self._compiled(name, splice(self.source.text, [emitted]))

    def _compiled(self, name: str, text: str) -> Program:
        assert self.source.signature is not None
        file, slots = self.folder / f"{name}_text.c", self._slots()
        file.write_text(text)
        binary = compile_shared(wrapper(file, self.source.signature.name, slots), name=name, folder=self.folder,
                                compiler=find_compiler(None), what=name)
        return Program(command=command(binary.path, slots, self.folder, name), build=build_of(binary, text))

    def _slots(self) -> tuple[Slot, ...]:
        assert self.source.signature is not None
        return make_slots((self.scop,), self.source.signature, choose_size((self.scop,), self.sizes), given=self.sizes,
                          is_global=lambda name: False)


WRITTEN = "the C file"
"""The contender that all others have to agree with."""


def raced(kernel: VersionedFunction, tiled: Mapping[str, TiledSchedule], settings: Settings, report: Report, *,
          threads: int) -> dict[str, Any]:
    """Median seconds of the C file and of schedules whose results agree with its own; of the others what is wrong.

    Parameters
    ----------
    settings : its configuration has the number of `rounds`.
    threads : of the schedules; the C file has one.
    """
    made = [Contender(name=WRITTEN, make=kernel.as_written)]
    made += [Contender(name=name, make=partial(kernel.transformed, f"way_{k}", own), threads=threads)
             for k, (name, own) in enumerate(tiled.items())]
    rules = Rules(reference=WRITTEN, ours=tuple(c.name for c in made), budget_seconds=settings.budget_seconds,
                  most_rounds=settings.config["rounds"], pin=settings.pin, cold_cache=settings.cold_cache)
    return outcome(run_contest(made, rules, kernel.folder, report))


def outcome(standings: Standings) -> dict[str, Any]:
    """Median seconds of each variant, and what is wrong with those that have none."""
    return {"seconds": {v.name: v.seconds for v in standings.variants if v.timed},
            "problems": {v.name: v.problem for v in standings.variants if not v.timed}}


def seconds(candidate: Mapping[str, Any]) -> float:
    """The median of the repeats."""
    return float(statistics.median(candidate["measured_seconds"]))


def rank_correlation(candidates: Sequence[Mapping[str, Any]]) -> float | None:
    """Spearman's rho of predicted and measured seconds; None where one of them is the same for all."""
    return spearman([c["predicted_seconds"] for c in candidates], [seconds(c) for c in candidates])


def spearman(predicted: Sequence[float], measured: Sequence[float]) -> float | None:
    """The correlation of ranks, ties sharing the mean of theirs; None where one side is the same for all."""
    one, other = _ranks(predicted), _ranks(measured)
    if len(set(one)) < 2 or len(set(other)) < 2:
        return None
    return statistics.correlation(one, other)


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    return [statistics.mean(i for i, other in enumerate(order) if other == value) for value in values]


def loss(pick: Mapping[str, Any] | None, candidates: Sequence[Mapping[str, Any]]) -> float | None:
    """How much slower the model's pick is than the best of the measured candidates; None when it was not measured."""
    return None if pick is None else seconds(pick) / min(map(seconds, candidates)) - 1
