"""`polysched tile`: which tiles the model chooses, and why."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from polysched.cli.instructions import instruction_lines
from polysched.cli.options import (
    add_instructions,
    add_scheduling,
    add_source,
    add_tiling,
    known_sizes,
    read_regions,
    size,
    tensorize_options,
    tiled_options,
)
from polysched.cli.progress import progress

if TYPE_CHECKING:
    from polysched.emit_c import CSource

NAME = "tile"
HELP = "Show how a C file's regions are tiled; --explain says why."
EPILOG = """\
examples:
  polysched tile gemm.c --explain
  polysched tile gemm.c --explain --size N=4096
  polysched tile gemm.c --tile 64,64,256 --explain    what the model says about tiles given by hand
  polysched tile gemm.c --outer-tile 512,512,256 --register-block 6x32 --explain    some levels by hand
  polysched tile gemm.c --tile-order 2,1,0 --explain    sizes by the model for an order by hand
  polysched tile gemm.c --pack B --explain    which operands are copied into contiguous buffers
  polysched tile gemm.c --intrinsic auto --size N=1024 --explain    the loops around an instruction
  polysched tile gemm.c --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_source(parser)
    parser.add_argument("--explain", action="store_true",
                        help="predicted traffic per cache level, the limit that binds, the I/O lower bound")
    parser.add_argument("--size", type=size, action="append", default=[], metavar="NAME=VALUE",
                        help="the value that the model assumes for a parameter, may be repeated")
    add_scheduling(parser)
    add_tiling(parser)
    add_instructions(parser)
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Tile every region and print what was decided."""
    from dataclasses import replace

    from polysched.emit_c import emit
    from polysched.emit_c.packed_buffers import buffer_text
    from polysched.emit_c.teams import team_lines, teams
    from polysched.pipeline import analysed, check_packed, scheduled
    from polysched.tensorize.decision import decide
    from polysched.tiling import tile
    from polysched.tiling.by_hand import refuse_unused
    from polysched.tiling.explain import explain_text, explanations
    with progress(quiet=bool(arguments.quiet)) as shown:
        shown.step(f"reading {arguments.source}")
        scops = read_regions(arguments)
        sizes = known_sizes(arguments.size, scops, arguments.source)
        options = replace(tiled_options(arguments), tensorize=tensorize_options(arguments))
        check_packed(options, scops)
        tiling = replace(options.tiling_options(), parameters=sizes)
        every = []
        sources: list[CSource | None] = []
        instructions: list[str] = []
        if (wanted := options.tensorize) is not None:
            shown.step("choosing instructions")
            scops = tuple(analysed(scop, expand=options.expand, for_instructions=True).dependences.scop   # as c2c does
                          for scop in scops)
            decided = [decide(scop, wanted, tiling.target) for scop in scops]
            instructions = [line for d in decided for line in instruction_lines(d, explain=arguments.explain)]
            scops = tuple(part for scop, d in zip(scops, decided, strict=True) for part in d.rest(scop))
        for scop in scops:
            shown.step(f"scheduling {scop.name}")
            dependences = analysed(scop, expand=options.expand,
                                   vector_bytes=options.collapses_for(), row_loss=options.row_loss).dependences
            schedule = scheduled(dependences, options, parameters=sizes)
            shown.step(f"tiling {scop.name}")
            every.append(tile(schedule, tiling, alone=False))
            if arguments.explain or arguments.json:
                shown.step(f"writing C for {scop.name}")
                sources.append(emit(every[-1], options=options.emit_options()))
            else:
                sources.append(None)
        refuse_unused([tiled.unused for tiled in every])
    if not arguments.json and instructions:
        print(*instructions, sep="\n")
    values: list[dict[str, object]] = []
    for scop, tiled, source in zip(scops, every, sources, strict=True):
        found = explanations(tiled, tiling.target)
        packed = () if source is None else source.packed
        found_teams = () if source is None else teams(source, threads=options.parallel)
        values.append({"name": scop.name, "bands": [band.to_json() for band in found],
                       "threads": [team.to_json() for team in found_teams],
                       "packed": [buffer.to_json() for buffer in packed]})
        if arguments.json:
            continue
        count = len(tiled.bands)
        print(f"function {scop.name}: {count} band{'' if count == 1 else 's'}, "
              f"{sum(bool(b.sizes) for b in tiled.bands)} tiled")
        for band in tiled.bands:
            print(f"band {band.band}: " + (f"tiles {' x '.join(map(str, band.sizes))}" if band.sizes else "no tiles")
                  + (f", in strips of {band.strip} shared with its neighbours" if band.strip else "")
                  + (f", register block {' x '.join(map(str, band.register))}" if band.register else "")
                  + (", wavefront" if band.wavefront else "")
                  + (f", split into {band.pieces} pieces and the gaps between them" if band.pieces else ""))
        print(*(f"note: {line}\n" for line in tiled.fallbacks), sep="", end="")
        if arguments.explain:
            marked = {band.band for band in tiled.bands if band.parallel_member is not None}
            for explained in found:
                print(explain_text(explained))
                print(*team_lines(explained.band, found_teams, wanted=options.parallel,
                                  marked=explained.band in marked), sep="\n")
                print(*(f"  packed: {buffer_text(b)}\n" for b in packed if b.band == explained.band), sep="", end="")
    if arguments.explain and not arguments.json:
        copied = {array for source in sources if source for buffer in source.packed for array in buffer.arrays}
        print(*(f"not packed: {array}, of which no loop reads the same often enough in whole register blocks\n"
                for array in arguments.pack or () if array not in copied), sep="", end="")
    if arguments.json:
        shown_values = values[0] if len(values) == 1 and not instructions else values
        print(json.dumps({"instructions": instructions, "regions": values} if instructions else shown_values, indent=2))
    return 0
