"""`polysched tile`: which tiles the model chooses, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from polysched.cli.conventions import STANDARD, add_json, add_size
from polysched.cli.options import (
    add_any_source,
    add_instructions,
    add_scheduling,
    add_tiling,
    known_sizes,
    read_regions,
    tensorize_options,
    tiled_options,
)
from polysched.cli.shown.caches import simulated, simulation_lines
from polysched.cli.shown.instructions import instruction_lines
from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.cli.shown.progress import Progress, progress
from polysched.cli.shown.unserved import OF_INSTRUCTIONS, OF_SCHEDULES, OF_TILES, refuse_unserved
from polysched.records import dataclass

if TYPE_CHECKING:
    from polysched.emit_c import CSource
    from polysched.emit_c.packed_buffers import PackedBuffer
    from polysched.emit_c.teams import Team
    from polysched.measure.programs.cache_simulation import CacheCounts
    from polysched.pipeline.options import PipelineOptions
    from polysched.tiling.explain import BandExplanation
    from polysched.tiling.tiled_schedule import TiledSchedule

NAME = "tile"
HELP = "Show how a C file's regions are tiled; --explain says why."
EPILOG = """\
examples:
  polysched tile gemm.c --explain
  polysched tile gemm.c --explain --assume N=4096
  polysched tile gemm.c --tile 64,64,256 --explain    what the model says about tiles given by hand
  polysched tile two.c --tile 64 --tile 1:16,256 --parallel-loop 1:0    other tiles for band 1 alone
  polysched tile gemm.c --outer-tile 512,512,256 --register-block 6x32 --explain    some levels by hand
  polysched tile gemm.c --tile-order 2,1,0 --explain    sizes by the model for an order by hand
  polysched tile gemm.c --pack B --explain    which operands are copied into contiguous buffers
  polysched tile gemm.c --tree    the schedule tree, with these copies as statements
  polysched tile gemm.c --intrinsic auto --size N=1024 --explain    the loops around an instruction
  polysched tile gemm.c --tile 32 --pack none --simulate --size n=256    what caches miss, beside the model
  polysched tile gemm.c --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_any_source(parser)
    parser.add_argument("--explain", action="store_true",
                        help="predicted traffic per cache level, the limit that binds, the I/O lower bound")
    parser.add_argument("--tree", action="store_true",
                        help="the schedule tree with its tiles; copies of operands are statements below extensions")
    parser.add_argument("--simulate", action="store_true",
                        help="run the loops on simulated caches of the target, at the sizes given or the model's: what "
                             "each misses beside what was predicted, and conflicts; operands are not packed")
    add_size(parser, "the model takes it, and the code of an instruction is made for it")
    add_scheduling(parser)
    add_tiling(parser)
    add_instructions(parser, run=False)
    add_json(parser, "the same, with what --explain says,")


@dataclass(frozen=True, eq=False)
class _Region:
    """A region with its tiles and, where that is asked about, why it has them and what its C does with them."""

    tiled: TiledSchedule
    bands: tuple[BandExplanation, ...] = ()
    teams: tuple[Team, ...] = ()
    packed: tuple[PackedBuffer, ...] = ()
    caches: CacheCounts | None = None

    def to_json(self) -> dict[str, object]:
        from polysched.tiling.rewriting.copies import copies_of
        return {"name": self.tiled.schedule.scop.name, "bands": [band.to_json() for band in self.bands],
                "threads": [team.to_json() for team in self.teams],
                "copies": [{"band": mark.band, "loop": mark.member, "role": mark.role.value, "array": copy.array,
                            "in_lanes": copy.in_lanes, "extents": list(copy.extents),
                            "references": list(copy.references)} for mark, copy in copies_of(self.tiled.tree)],
                "packed": [buffer.to_json() for buffer in self.packed],
                **({"simulated": self.caches.to_json()} if self.caches else {})}


def run(arguments: argparse.Namespace) -> int:
    """Tile every region and print what was decided."""
    refuse_same_file(arguments.source, arguments.json)
    refuse_unserved(arguments, (*OF_INSTRUCTIONS, *OF_SCHEDULES, *OF_TILES))
    with prepared(arguments.json) as report, progress(quiet=bool(arguments.quiet)) as shown:
        regions, instructions = _regions(arguments, shown)
        if arguments.simulate:
            shown.step("simulating caches")
            regions = [replace(region, caches=simulated(arguments, region.tiled, region.bands, region.packed))
                       for region in regions]
        values = [region.to_json() for region in regions] if report is not None else []
        if report is not None and instructions:
            report.write_json({"instructions": instructions, "regions": values})
        elif report is not None:
            report.write_json_of_regions(values)
    if arguments.json == STANDARD:
        return 0
    print(*(f"{line}\n" for line in instructions), sep="", end="")
    for region in regions:
        _show(region, arguments)
    if arguments.explain:
        print(*_not_packed(regions, arguments.pack or ()), sep="", end="")
    return 0


def _show(region: _Region, arguments: argparse.Namespace) -> None:
    print(*_summary(region.tiled), sep="\n")
    if arguments.explain:
        print(*_explanation(region, wanted=arguments.parallel), sep="\n")
    if region.caches is not None:
        from polysched.measure.programs.cache_simulation import predicted_bytes
        predicted = predicted_bytes(region.bands, region.tiled.schedule.scop, region.caches.sizes)
        print(*simulation_lines(region.caches, predicted), sep="\n")
    if arguments.tree:
        print(_tree(region.tiled), end="")


def _not_packed(regions: list[_Region], wanted: tuple[str, ...]) -> Iterator[str]:
    """The arrays to pack of which no copy was made, a line each."""
    copied = {array for region in regions for buffer in region.packed for array in buffer.arrays}
    yield from (f"not packed: {array}, of which no loop reads the same often enough in whole register blocks\n"
                for array in wanted if array not in copied)


def _regions(arguments: argparse.Namespace, shown: Progress) -> tuple[list[_Region], list[str]]:
    """The regions of a file, tiled, and what is said about the instructions that take their place."""
    from functools import partial

    from polysched.pipeline import analysed, check_packed, emit_blocks, scheduled
    from polysched.search.lookup import searching
    from polysched.tensorize.decision import decide
    from polysched.tiling import tile
    from polysched.tiling.planning.by_hand import refuse_unused
    shown.step(f"reading {arguments.source}")
    scops = read_regions(arguments)
    sizes = known_sizes([*arguments.assume, *arguments.size], scops, arguments.source)
    options = replace(tiled_options(arguments), tensorize=tensorize_options(arguments) if arguments.intrinsic else None)
    check_packed(options, scops)
    tiling = replace(options.tiling_options(), parameters=sizes)
    instructions: list[str] = []
    if (wanted := options.tensorize) is not None:
        shown.step("choosing instructions")
        scops = tuple(analysed(scop, expand=options.expand, for_instructions=True).dependences.scop   # as c2c does
                      for scop in scops)
        decided = [decide(scop, wanted, tiling.target) for scop in scops]
        instructions = [line for d in decided for line in instruction_lines(d, explain=arguments.explain)]
        scops = tuple(part for scop, d in zip(scops, decided, strict=True) for part in d.rest(scop))
    regions = []
    for scop in scops:
        shown.step(f"scheduling {scop.name}")
        dependences = analysed(scop, expand=options.expand,
                               vector_bytes=options.collapses_for(), row_loss=options.row_loss).dependences
        with searching(options):
            schedule = scheduled(dependences, options, parameters=sizes)
        shown.step(f"tiling {scop.name}, and writing C")
        source = emit_blocks(partial(tile, schedule, alone=False), tiling, options.emit_options())
        told = arguments.explain or arguments.simulate or bool(arguments.json)
        regions.append(_region(source, options, explain=told))
    refuse_unused([region.tiled.unused for region in regions])
    return regions, instructions


def _region(source: CSource, options: PipelineOptions, *, explain: bool) -> _Region:
    from polysched.emit_c.teams import teams
    from polysched.tiling.explain import explanations
    tiled = source.tiled
    if not explain:
        return _Region(tiled=tiled)
    return _Region(tiled=tiled, bands=explanations(tiled, options.target()), packed=source.packed,
                   teams=teams(source, threads=options.parallel))


def _summary(tiled: TiledSchedule) -> Iterator[str]:
    """A line per band, and what was given up."""
    count = len(tiled.bands)
    yield (f"function {tiled.schedule.scop.name}: {count} band{'' if count == 1 else 's'}, "
           f"{sum(bool(b.sizes) for b in tiled.bands)} tiled")
    for band in tiled.bands:
        yield (f"band {band.band}: " + (f"tiles {' x '.join(map(str, band.sizes))}" if band.sizes else "no tiles")
               + (f", in strips of {band.strip} shared with its neighbours" if band.strip else "")
               + (f", register block {' x '.join(map(str, band.register))}" if band.register else "")
               + (", wavefront" if band.wavefront else "")
               + (f", split into {band.pieces} pieces and the gaps between them" if band.pieces else ""))
    for line in tiled.fallbacks:
        yield f"note: {line}"


def _tree(tiled: TiledSchedule) -> str:
    from polysched.scheduling.tree.tree_text import tree_text
    from polysched.tiling.copy_statements import with_copy_statements
    return tree_text(with_copy_statements(tiled))


def _explanation(region: _Region, *, wanted: bool) -> Iterator[str]:
    """Why each band has its tiles, where its loops run, and what is packed for it."""
    from polysched.emit_c.packed_buffers import buffer_text
    from polysched.emit_c.teams import team_lines
    from polysched.tiling.explain import explain_text
    marked = {band.band for band in region.tiled.bands if band.parallel_member is not None}
    for explained in region.bands:
        yield explain_text(explained)
        yield from team_lines(explained.band, region.teams, wanted=wanted, marked=explained.band in marked)
        for buffer in region.packed:
            if buffer.band == explained.band:
                yield f"  packed: {buffer_text(buffer)}"
        yield from _left_out(region, explained)


def _left_out(region: _Region, explained: BandExplanation) -> Iterator[str]:
    """The copies of the tree that the loops have no place for."""
    from polysched.tiling.rewriting.copies import copies_of
    made = {(array, buffer.in_lanes) for buffer in region.packed for array in buffer.arrays}
    for mark, copy in copies_of(region.tiled.tree):
        if mark.band == explained.band and explained.plan is not None and (copy.array, copy.in_lanes) not in made:
            loop = explained.plan.nest.loops[mark.member]
            yield (f"  not packed: {copy.array} around the loop of {loop}: the bounds do not show that it is a box "
                   "inside its array that nothing in the loop writes")
