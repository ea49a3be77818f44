"""The values of all stages for one region, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from polysched.dependence.collapsing import CollapsedLoops
from polysched.dependence.dependences import Dependences
from polysched.dependence.expansion import ExpandedArray
from polysched.dependence.last_values import LastValue, kept_storage
from polysched.emit_c import Crossover, CSource, splice
from polysched.emit_c.alternatives.wide_vectors import wide_functions
from polysched.emit_c.teams import Team, teams
from polysched.errors import UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop.display import source_text
from polysched.scop.html import beside, c_code, card, folded, paragraph, preformatted
from polysched.scop.scop import Scop
from polysched.scop.shown import Shown
from polysched.tiling.tiled_schedule import BandTiling, TiledSchedule

if TYPE_CHECKING:
    from polysched.emit_gpu import DeviceSource
    from polysched.gpu.scratchpad import ScratchpadMapping
    from polysched.measure.measurement import Listing
    from polysched.measure.paired import Subject


@dataclass(frozen=True, eq=False, kw_only=True)
class Optimized(Shown):
    """The values of all stages for one region.

    Parameters
    ----------
    options : what was asked for.
    seconds : wall time per stage; a Scop that was passed in has no time.
    expanded : temporaries with a copy per iteration; `dependences` and what follows are of the program with them.
    last_values : arrays of the caller in whose place iterations work in such a temporary.
    instructions : which instruction computes which statement, or why none does; empty when none was asked for.
    unexpanded : temporaries whose copies would have needed more memory than the caller's arrays.
    moved : scalars that live in the element that their result goes to, and its array.
    pays : the sizes for which the transformed code runs; the original code runs for others. None where it is not kept.
    collapsed : pairs of loops over whole rows that became one.
    as_written : why the region keeps the code as it was written; empty where it is transformed.
    looked_up : what a database had for the region; empty where none was asked.
    mapped : the kernels of a device and what is copied, one line each; empty for the CPU.
    on_device : these kernels and the mapping behind them; None for the CPU.
    accelerator : tiles, buffers and simulated cycles of an accelerator; None for others.
    """

    scop: Scop
    dependences: Dependences
    schedule: Schedule
    tiled: TiledSchedule
    source: CSource
    options: PipelineOptions
    seconds: Mapping[str, float] = field(default_factory=dict)
    expanded: tuple[ExpandedArray, ...] = ()
    last_values: tuple[LastValue, ...] = ()
    unexpanded: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    pays: Crossover | None = None
    instructions: tuple[str, ...] = ()
    collapsed: tuple[CollapsedLoops, ...] = ()
    as_written: str = ""
    looked_up: str = ""
    mapped: tuple[str, ...] = ()
    on_device: DeviceSource | None = None
    accelerator: ScratchpadMapping | None = None

    @property
    def text(self) -> str:
        """The emitted C of the region."""
        return self.source.text

    def steps(self) -> tuple[str, ...]:
        """How the schedule came about, one line per step."""
        on_threads = teams(self.source, threads=self.options.parallel)
        bands = [f"band {b.band}: tiles {'x'.join(map(str, b.sizes)) or 'off'}"
                 f"{f', in strips of {b.strip}' if b.strip else ''}"
                 f"{', wavefront' if b.wavefront else ''}"
                 f"{f', split into {b.pieces} pieces' if b.pieces else ''}"
                 f"{_threads_of(b, on_threads)}"
                 for b in self.tiled.bands]
        return (*self._alternatives(), f"schedule: {self.schedule.algorithm}",
                *(f"candidate: {c}" for c in self.schedule.report.candidates),
                *(f"rung: {r}" for r in self.schedule.report.rungs), *bands,
                *(f"device: {line}" for line in self.mapped), *(f"tiling: {r}" for r in self.tiled.fallbacks),
                *(f"loops: {r}" for r in self.source.fallbacks), *(f"instruction: {r}" for r in self.instructions))

    def _alternatives(self) -> Iterator[str]:
        """What became of the temporaries, and when the original code runs, one line each."""
        if self.looked_up:
            yield f"database: {self.looked_up}"
        if self.as_written:
            yield f"as written: {self.as_written}"
        for loops in self.collapsed:
            yield f"loops {loops}"
        for name, home in self.moved:
            yield f"temporary {name}: in {home}, where its result goes"
        for copied in self.last_values:
            yield str(copied)
        for array in self.expanded:
            place = "on the heap" if array.name in self.source.allocated else "declared in the loops"
            yield f"temporary {array.name}: a copy per iteration of {', '.join(array.loops)}, {place}"
        if self.pays is not None and self.pays.conditions:
            yield f"safe: the original code runs unless {self.pays}"
        yield from kept_storage(self.dependences)
        for name in self.unexpanded:
            yield f"temporary {name}: one for all iterations, since copies would need more memory than all arrays"

    def listing(self) -> Listing:
        """The region before and after as text, for results files."""
        from polysched.measure.measurement import Listing
        return Listing(line=self.scop.statements[0].line if self.scop.statements else 0,
                       original=source_text(self.scop), schedule=tree_text(self.tiled.tree), transformed=self.text)

    def subject(self) -> Subject:
        """The function around the region before and after, for `measure.compare_and_time`.

        Other regions of the file stay as they were.

        Raises
        ------
        UsageError : the region did not come from C.
        """
        from polysched.measure.paired import Subject
        if self.scop.source is None:
            raise UsageError("the program did not come from C, so there is no original to compare with",
                             where=self.scop.name, hint="polysched.kernel.compile makes a function of it")
        return Subject(scops=(self.scop,), transformed_text=spliced(self.scop.source.text, [self.source], self.options),
                       options=self.options.chosen(), steps=self.steps(), listings=(self.listing(),))

    def headline(self) -> str:
        """For instance `gemm: pluto, tiles 32x32x32 in band 0, 42 lines of C`."""
        tiles = self.tiled.headline().partition(": ")[2]
        return f"{self.scop.name}: {self.schedule.algorithm}, {tiles}, {self.text.count(chr(10))} lines of C"

    def __str__(self) -> str:
        return "\n".join((self.scop.name, *self.steps(), "", self.text))

    def _repr_html_(self) -> str:
        before = c_code(source_text(self.scop)) if self.scop.source is not None else preformatted(str(self.scop))
        times = paragraph(", ".join(f"{stage} {seconds:.3f} s" for stage, seconds in self.seconds.items()))
        return card(f"{self.scop.name}, optimized", *map(paragraph, self.steps()), beside(before, c_code(self.text)),
                    times, folded("dependences", self.dependences._repr_html_()),
                    folded("tiles", self.tiled._repr_html_()))


def spliced(text: str, sources: Sequence[CSource], options: PipelineOptions) -> str:
    """A C file with what was emitted for some of its regions."""
    return splice(text, sources, wide_functions(text, sources) if options.is_portable else ())


def _threads_of(band: BandTiling, found: tuple[Team, ...]) -> str:
    """Which member of a band the emitted C runs on threads; a mark alone is only a permission."""
    own = [team for team in found if team.band == band.band]
    if any(team.in_parts for team in own):
        return ", in parts on threads"
    if own:
        return f", member {own[0].member} parallel"
    if band.parallel_member is None or any(band.band in team.inside for team in found):
        return ""
    return ", on one thread"
