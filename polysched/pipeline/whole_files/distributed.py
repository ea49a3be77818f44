"""A C file with its regions over ranks: C with MPI, in which every other byte stays as it was."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from polysched.distribute import Distributed, Partition, distribute
from polysched.emit_c.alternatives.guard import never_granted
from polysched.emit_c.distributed.region import agreed, distributed_text, parts_for_emission
from polysched.emit_c.distributed.runtime import RUNTIME
from polysched.emit_c.splice import put_back
from polysched.errors import BudgetExceededError, IllegalScheduleError, PolyschedError, UnsupportedScopError, UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.promises import told_promises
from polysched.pipeline.way import optimized_region
from polysched.records import dataclass
from polysched.scop import all_from_c_file
from polysched.scop.c_frontend.detection.left_loops import left_line
from polysched.scop.scop import Scop, SourceRegion

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, kw_only=True)
class DistributedFile:
    """A C file whose regions run over ranks.

    Parameters
    ----------
    path : as the user named it.
    text : the whole file; it is compiled by `mpicc` and started by `mpiexec`.
    regions : those that are distributed, in textual order.
    whole : one line per region that every rank runs as a whole, with the reason.
    """

    path: Path
    text: str
    regions: tuple[Distributed, ...]
    whole: tuple[str, ...]


def distribute_file(path: str | Path, axis: str, *, partition: Partition | None = None,
                    owners: Mapping[str, str] | None = None, time_tile: int = 1, overlap: bool = False,
                    options: PipelineOptions | None = None) -> DistributedFile:
    """Every region of a C file that has the loop, over ranks.

    All ranks run the rest of the file as it is, and have whole arrays again behind each region.  Every number is that
    of the sequential program, bit for bit where the compiler contracts no products into sums.

    Parameters
    ----------
    axis, partition, owners, time_tile, overlap : as for `distribute`.

    Raises
    ------
    PolyschedError : no region can be distributed; the first reason.
    """
    options = options or PipelineOptions()
    _refuse_options(options)
    scops = all_from_c_file(str(path), include_dirs=options.include_dirs, defines=options.defines, cc=options.cc,
                            pure=options.pure)
    _refuse_own_names(scops)
    refusals: list[tuple[SourceRegion, PolyschedError]] = []
    made: list[tuple[SourceRegion, Distributed, str, str]] = []
    for scop in scops:
        assert scop.source is not None
        try:
            found = distribute(scop, axis, partition=partition, owners=owners, time_tile=time_tile, overlap=overlap)
            text, preamble = _region_text(found, options)
            text = agreed(scop, never_granted(text, scop))
        except (UsageError, UnsupportedScopError, IllegalScheduleError, BudgetExceededError) as error:
            refusals.append((scop.source, error))
        else:
            made.append((scop.source, found, text, preamble))
    if not made:
        raise refusals[0][1]
    lines = tuple(left_line(source.location, "every rank runs the region as a whole", error)
                  for source, error in refusals)
    promises = (told_promises(scop, options) for scop in scops)
    for line in [*lines, *filter(None, promises)]:
        logger.warning("%s", line)
    preambles = "".join(dict.fromkeys([RUNTIME, *(preamble for *_, preamble in made)]))
    text = put_back(made[0][0].text, [(source, text) for source, _, text, _ in made], preambles)
    return DistributedFile(path=Path(path), text=text, regions=tuple(found for _, found, _, _ in made), whole=lines)


def _refuse_options(options: PipelineOptions) -> None:
    if options.autodetect:
        raise UsageError("regions over ranks are marked by pragmas", witness="autodetect",
                         hint="put `#pragma scop` and `#pragma endscop` around them")
    if options.guard or options.safe:
        raise UsageError("regions over ranks have no original code beside them",
                         witness="guard" if options.guard else "safe",
                         hint="leave it out; what the extraction assumes has to hold")


def _refuse_own_names(scops: Sequence[Scop]) -> None:
    """Names that the emitted code declares would hide the file's."""
    source = scops[0].source
    assert source is not None
    found = re.search(r"\bpolysched_\w+", source.text)
    if found is not None:
        raise UsageError(f"the file has a name of the code that distributes regions: {found[0]}", where=source.path,
                         hint="names that begin with polysched_ are taken; give it another")


def _region_text(distributed: Distributed, options: PipelineOptions) -> tuple[str, str]:
    """The region as C, and what it needs outside of functions; a rank's parts of a step go all the way of a region."""
    chosen = replace(options.but(math="libm"), tensorize=None, guard=False, safe=False, database=None)
    parts = (replace(part, assumptions=()) for part in parts_for_emission(distributed))   # tested around all of them
    sources = [optimized_region(part, chosen, {}).source for part in parts]
    return distributed_text(distributed, *sources), "".join(dict.fromkeys(s.preamble for s in sources))
