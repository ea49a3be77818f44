"""`polysched tile`: which tiles the model chooses, and why."""

from __future__ import annotations

import argparse
import json

from polysched.cli.options import FUSIONS, SCHEDULERS, add_source, read_regions, size, tile_sizes
from polysched.cli.progress import progress

NAME = "tile"
HELP = "Show how a C file's regions are tiled; --explain says why."
EPILOG = """\
examples:
  polysched tile gemm.c --explain
  polysched tile gemm.c --explain --size N=4096
  polysched tile gemm.c --tile 64,64,256 --explain    what the model says about tiles given by hand
  polysched tile gemm.c --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_source(parser)
    parser.add_argument("--explain", action="store_true",
                        help="predicted traffic per cache level, the limit that binds, the I/O lower bound")
    parser.add_argument("--size", type=size, action="append", default=[], metavar="NAME=VALUE",
                        help="the value that the model assumes for a parameter, may be repeated")
    parser.add_argument("--tile", type=tile_sizes, default="auto", metavar="32|32,32,64|auto|off",
                        help="tile edges (default: auto, the model chooses)")
    parser.add_argument("--scheduler", choices=[s for s in SCHEDULERS if s != "best"], default="pluto",
                        help="default: %(default)s")
    parser.add_argument("--fusion", choices=FUSIONS, default="smart", help="default: %(default)s")
    parser.add_argument("--parallel", action=argparse.BooleanOptionalAction, default=True,
                        help="share tiles among threads (default: --parallel)")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Tile every region and print what was decided."""
    from polysched.dependence import analyse
    from polysched.errors import UsageError
    from polysched.scheduling import ALGORITHMS, SchedulerOptions
    from polysched.tiling import TilingOptions, tile
    from polysched.tiling.explain import explain_text, explanations
    with progress(quiet=bool(arguments.quiet)) as shown:
        shown.step(f"reading {arguments.source}")
        scops = read_regions(arguments)
        sizes = dict(arguments.size)
        known = {parameter.name for scop in scops for parameter in scop.parameters}
        if unknown := sorted(set(sizes) - known):
            raise UsageError(f"no parameter {unknown[0]}", where=arguments.source,
                             hint=f"parameters are {', '.join(sorted(known)) or 'none'}")
        options = TilingOptions(sizes=arguments.tile, parallel=arguments.parallel, parameters=sizes)
        every = []
        for scop in scops:
            shown.step(f"scheduling {scop.name}")
            schedule = ALGORITHMS[arguments.scheduler](analyse(scop), options=SchedulerOptions(fusion=arguments.fusion))
            shown.step(f"tiling {scop.name}")
            every.append(tile(schedule, options))
    values = []
    for scop, tiled in zip(scops, every, strict=True):
        found = explanations(tiled, options.target)
        values.append({"name": scop.name, "bands": [band.to_json() for band in found]})
        if arguments.json:
            continue
        print(f"function {scop.name}: {len(tiled.bands)} bands, {sum(bool(b.sizes) for b in tiled.bands)} tiled")
        for band in tiled.bands:
            print(f"band {band.band}: " + (f"tiles {' x '.join(map(str, band.sizes))}" if band.sizes else "no tiles")
                  + (f", register block {' x '.join(map(str, band.register))}" if band.register else "")
                  + (", wavefront" if band.wavefront else ""))
        if arguments.explain:
            print(*(explain_text(band) for band in found), sep="\n")
    if arguments.json:
        print(json.dumps(values[0] if len(values) == 1 else values, indent=2))
    return 0
