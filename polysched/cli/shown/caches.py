"""What `polysched tile --simulate` shows: simulated caches beside the predicted traffic."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.emit_c.packed_buffers import PackedBuffer
    from polysched.measure.programs.cache_simulation import CacheCounts, LevelCounts
    from polysched.tiling.explain import BandExplanation
    from polysched.tiling.tiled_schedule import TiledSchedule


def simulated(arguments: argparse.Namespace, tiled: TiledSchedule, bands: Sequence[BandExplanation],
              packed: Sequence[PackedBuffer]) -> CacheCounts:
    """Run a region's loops on simulated caches, at the sizes given, else at those that the model took.

    Raises
    ------
    UsageError : operands are packed, or as `simulate`.
    """
    from polysched.cli.conventions import chosen_target
    from polysched.measure.programs.cache_simulation import simulate
    name = tiled.schedule.scop.name
    if packed:
        raise UsageError("packed copies of operands are not simulated", where=name,
                         witness=f"{packed[0].name} of {', '.join(packed[0].arrays)}",
                         hint="--pack none simulates the loops with their operands in place")
    sizes = {n: v for band in bands if band.plan is not None for n, v in band.plan.nest.parameters.items()}
    sizes |= {**dict(arguments.assume), **dict(arguments.size)}
    known = {p.name for p in tiled.schedule.scop.parameters}
    return simulate(tiled, {n: v for n, v in sizes.items() if n in known}, chosen_target(arguments).caches)


def simulation_lines(counts: CacheCounts, predicted: Mapping[int, int]) -> Iterator[str]:
    """A line per cache, and a warning where sets cause many misses.

    Parameters
    ----------
    predicted : bytes by level, as far as the models looked at the whole region at these sizes.
    """
    from polysched.tiling.explain import byte_text
    sizes = ", ".join(f"{n} = {v}" for n, v in counts.sizes.items())
    yield f"  simulated{' with ' + sizes if sizes else ''}: {counts.accesses} accesses, one thread, operands in place"
    yield f"  {'level':6}{'predicted':>12}{'simulated':>12}{'misses':>12}{'conflicts':>12}{'write-backs':>13}"
    for level in counts.levels:
        said = predicted.get(level.level)
        yield (f"  {'L' + str(level.level):6}{'-' if said is None else byte_text(said):>12}"
               f"{byte_text(level.bytes_moved):>12}{level.misses:>12}{level.conflict_misses:>12}"
               f"{level.write_backs:>13}")
    for level in counts.levels:
        if level.many_conflicts:
            yield f"  warning: {_conflicts(level)}"


def _conflicts(level: LevelCounts) -> str:
    array, misses = max(level.by_array.items(), key=lambda item: item[1])
    return (f"{100 * level.conflict_misses / level.misses:.0f}% of the misses of L{level.level} are conflicts of "
            f"lines that share a set ({array} misses most, {misses} times): pack it, or give its rows another length")
