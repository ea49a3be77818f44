"""`polysched draw`: pictures of a region for a page, a paper or a browser."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from polysched.cli.conventions import STANDARD, add_json, add_size, output_beside
from polysched.cli.options import (
    add_any_source,
    add_scheduling,
    add_tiling,
    known_sizes,
    read_regions,
    scheduling_options,
    tiled_options,
)
from polysched.cli.shown.distribution import OWN, add_distribution, chosen_partition
from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.cli.shown.progress import Progress, progress
from polysched.cli.shown.unserved import OF_SCHEDULES, OF_TILES, given, refuse_unserved, spelling
from polysched.cli.values import natural, positive
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.cli.shown.picture_json import AnyPicture
    from polysched.dependence.dependences import Dependences
    from polysched.scheduling.schedule import Schedule
    from polysched.scop.scop import Scop
    from polysched.tiling.tiled_schedule import TiledSchedule

NAME = "draw"
EDGE = 4
VIEWS = ("tiles", "solid", "lines", "order", "dependences", "tree", "messages", "explorer")
COLOURS = ("tile", "thread", "step")
FORMS = {".svg": "svg", ".tex": "tikz", ".html": "page"}
FEWER_FORMS = {"lines": (".svg", ".html"), "tree": (".svg",), "messages": (".svg",), "explorer": (".svg", ".html")}
"""Views that have not all forms, and the endings of those that they have."""
VIEWS_OF = {"axes": ("tiles", "solid", "dependences", "explorer"), "colour": ("tiles", "solid"),
            "statement": ("solid",), "shown_tile": ("lines",), "line_bytes": ("lines",),
            "threads": ("tiles", "solid", "lines")} | dict.fromkeys(OWN, ("messages",))
"""Options that not all views have, and those that do."""
WITH_TILES = ("tiles", "solid", "lines", "order", "tree")
WITH_SCHEDULE = (*WITH_TILES, "explorer")
WITH_COPIES = (*WITH_SCHEDULE, "dependences")
"""Views that draw tiles; those that draw a schedule; those of a program whose temporaries may have copies."""
OF_REGISTERS = ("register_block", "pack", "vector_bits")
"""Options about blocks of registers, which only the tree has marks for."""
HELP = "Draw a region: tiles and when they run, domains in space, cache lines, or an explorer, as SVG, TikZ or a page."
EPILOG = f"""\
examples:
  polysched draw stencil.c -o tiles.svg                      tiles with outlines, numbers, dependences
  polysched draw stencil.c -o tiles.html                     the same, with a slider over the wavefronts
  polysched draw stencil.c --concurrent-start 1 -o diamonds.tex    as TikZ, for a paper
  polysched draw stencil.c --colour thread --threads 2 -o threads.svg
  polysched draw gemm.c --view solid -o space.html           three loops in space, to turn
  polysched draw gemm.c --view lines --tile 4 --size n=12 -o lines.html    elements and cache lines of each tile
  polysched draw stencil.c --view messages --distribute i --ranks 3 -o messages.svg    what ranks send each other
  polysched draw stencil.c --view explorer -o explorer.html  the notebook's explorer as a page
  polysched draw stencil.c --json                            the points and tiles themselves

tiles have edges of {EDGE} where --tile names no others: those of the model are larger than a picture;
.svg, .tex and .html choose the form; no page loads anything"""


class _Drawn(Protocol):
    """What every picture offers."""

    @property
    def svg(self) -> str:
        """As SVG."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_any_source(parser)
    parser.add_argument("-o", "--output", metavar="OUT.svg|.tex|.html",
                        help="the file to write; its name chooses the form (default: SVG on standard output)")
    add_json(parser, "points, arrows, tiles and when they run, or messages,")
    parser.add_argument("--view", choices=VIEWS, default="tiles",
                        help="tiles on the iteration domains; one statement in space; cache lines of each tile; the "
                             "new order of fused statements; dependences; the schedule tree; messages between ranks; "
                             "or the explorer (default: %(default)s)")
    parser.add_argument("--function", metavar="NAME", help="of a file with several regions, the one in this function")
    parser.add_argument("--statement", metavar="NAME", help="with --view solid: which statement")
    parser.add_argument("--axes", metavar="I,J[,K]",
                        help="iterators to the right and upwards (solid: to the right, to the back, upwards); others "
                             "are cut in the middle (default: the innermost)")
    parser.add_argument("--colour", choices=COLOURS,
                        help=f"what the colours of tiles mean (default: {COLOURS[0]})")
    parser.add_argument("--threads", type=positive, default=4, metavar="N",
                        help="that share the tiles of a step (default: %(default)s)")
    parser.add_argument("--shown-tile", type=natural, metavar="NUMBER",
                        help="with --view lines: the tile that is drawn at first (default: the middle one)")
    parser.add_argument("--line-bytes", type=positive, metavar="N",
                        help="with --view lines: bytes of a cache line (default: the target's)")
    add_size(parser, "of the picture; small ones by default")
    add_scheduling(parser)
    add_tiling(parser, collapse=False)
    add_distribution(parser, when="--view messages")


def run(arguments: argparse.Namespace) -> int:
    """Draw one region."""
    name = output_beside(arguments, "picture")
    for written in (name, arguments.json):
        refuse_same_file(arguments.source, written)
    form = _form(name or STANDARD, arguments.view)
    _refuse_unused(arguments)
    with prepared(name) as output, prepared(arguments.json) as report, progress(quiet=bool(arguments.quiet)) as shown:
        shown.step(f"reading {arguments.source}")
        scops = read_regions(arguments)
        scop = _chosen(scops, arguments.function)
        known_sizes(arguments.assume, [scop], arguments.source)
        sizes = known_sizes(arguments.size, [scop], arguments.source)
        picture = _picture(arguments, scop, sizes, shown)
        if output is not None:
            text = getattr(picture, form)
            output.write(text if text.endswith("\n") else f"{text}\n")
        if report is not None:
            report.write_json({"function": scop.name, "view": arguments.view, **_data(picture)})
    return 0


def _form(name: str, view: str) -> str:
    """The form that the name of a picture chooses; refused before anything is computed."""
    if name == STANDARD:
        return "svg"
    suffix, forms = Path(name).suffix, FEWER_FORMS.get(view, tuple(FORMS))
    if suffix not in FORMS:
        raise UsageError("the name of the picture does not choose a form", where=name,
                         hint=f"let it end in {', '.join(forms)}")
    if suffix not in forms:
        raise UsageError(f"--view {view} has no such form", where=name, hint=f"let the name end in {', '.join(forms)}")
    return FORMS[suffix]


def _data(picture: _Drawn) -> dict[str, Any]:
    """The picture as JSON values; the explorer has been refused."""
    from polysched.cli.shown.picture_json import picture_to_json
    return picture_to_json(cast("AnyPicture", picture))


def _refuse_unused(arguments: argparse.Namespace) -> None:
    if arguments.view == "explorer" and arguments.json is not None:
        raise UsageError("--view explorer has no --json", hint="its states are drawings; --view tiles has the first")
    for name, views in (VIEWS_OF | _of_schedules_and_tiles()).items():
        if arguments.view not in views and given(arguments, name):
            raise UsageError(f"--view {arguments.view} has no {spelling(arguments, name)}",
                             hint=f"it is for --view {', '.join(views)}")
    refuse_unserved(arguments, (*OF_SCHEDULES, *OF_TILES))


def _of_schedules_and_tiles() -> dict[str, tuple[str, ...]]:
    """The options that decide schedules and tiles, and the views that show what they decide."""
    return dict.fromkeys(_declared(add_tiling), WITH_TILES) | dict.fromkeys(
        _declared(add_scheduling), WITH_SCHEDULE) | {"expand": WITH_COPIES} | dict.fromkeys(OF_REGISTERS, ("tree",))


def _declared(add: Callable[[argparse.ArgumentParser], None]) -> tuple[str, ...]:
    """The options that a function declares."""
    parser = argparse.ArgumentParser(add_help=False)
    add(parser)
    return tuple(vars(parser.parse_args([])))


def _chosen(scops: tuple[Scop, ...], function: str | None) -> Scop:
    names = ", ".join(dict.fromkeys(scop.name for scop in scops))
    if function is not None:
        scops = tuple(scop for scop in scops if scop.name == function)
        if not scops:
            raise UsageError(f"no region in a function {function!r}", witness=names)
    if len(scops) != 1:
        raise UsageError("a picture is of one region", witness=names, hint="name its function with --function")
    return scops[0]


def _messages(arguments: argparse.Namespace, scop: Scop, sizes: Mapping[str, int], shown: Progress) -> _Drawn:
    from polysched.distribute import distribute
    from polysched.distribute.picture import RANKS, draw_messages
    if arguments.distribute is None:
        raise UsageError("--view messages needs the loop to distribute", hint="--distribute LOOP, by its variable")
    ranks = arguments.ranks or RANKS
    shown.step(f"distributing {scop.name} along {arguments.distribute}")
    made = distribute(scop, arguments.distribute, partition=chosen_partition(arguments, ranks),
                      owners=dict(arguments.owner), time_tile=arguments.time_tile or 1, overlap=arguments.overlap)
    return draw_messages(made, ranks=ranks, parameters=sizes)


def _picture(arguments: argparse.Namespace, scop: Scop, sizes: Mapping[str, int], shown: Progress) -> _Drawn:
    from polysched.pipeline import analysed, scheduled
    from polysched.scop.picture import nothing_runs, small_parameters
    from polysched.scop.points import fix_parameters
    from polysched.search.lookup import searching
    if arguments.view == "messages":
        return _messages(arguments, scop, sizes, shown)
    options = scheduling_options(arguments)
    shown.step(f"finding the dependences of {scop.name}")
    dependences = analysed(scop, expand=options.expand).dependences
    values = small_parameters(dependences.scop, given=sizes)
    if arguments.view != "tree" and all(fix_parameters(own.domain, values).is_empty()
                                        for own in dependences.scop.statements):
        raise nothing_runs(dependences.scop, values)
    if arguments.view == "dependences":
        from polysched.dependence.picture import draw_dependences
        return draw_dependences(dependences, parameters=values, axes=_two(arguments.axes))
    shown.step(f"scheduling {scop.name}")
    with searching(options):
        schedule = scheduled(dependences, options)
    if arguments.view == "explorer":
        from polysched.notebook.exploration import begin
        from polysched.notebook.explorer_page import ExplorerPage
        return ExplorerPage(begin=begin(schedule, parameters=values, axes=_two(arguments.axes)), said=shown.step)
    shown.step(f"tiling {scop.name}")
    return _of_tiles(arguments, dependences, schedule, _tiled(arguments, schedule), values)


def _tiled(arguments: argparse.Namespace, schedule: Schedule) -> TiledSchedule:
    """With tiles that fit a picture where none are given."""
    from dataclasses import replace

    from polysched.tiling import tile
    chosen = tiled_options(arguments)
    options = chosen.tiling_options()
    if chosen.tile == "auto" and not arguments.bands:
        options = replace(options, sizes=EDGE)
    return tile(schedule, replace(options, register=options.register if arguments.register_block else False))


def _of_tiles(arguments: argparse.Namespace, dependences: Dependences, schedule: Schedule, tiled: TiledSchedule,
              values: Mapping[str, int]) -> _Drawn:
    from polysched.scheduling.cache_lines import draw_cache_lines
    from polysched.scheduling.picture import draw_schedule, draw_tiles, draw_tree
    from polysched.scheduling.solids import draw_solid
    threads = arguments.threads
    match arguments.view:
        case "tree":
            return draw_tree(tiled.tree)
        case "order":
            return draw_schedule(dependences, schedule.tree, tiles=tiled.tree, parameters=values)
        case "lines":
            asked = arguments.line_bytes
            line = tiled_options(arguments).target().line_bytes if asked is None else asked
            return draw_cache_lines(dependences, tiled.tree, parameters=values, threads=threads,
                                    tile=arguments.shown_tile, line_bytes=line)
        case "solid":
            return draw_solid(dependences, tiled.tree, parameters=values, statement=arguments.statement,
                              axes=_three(arguments.axes), threads=threads).coloured(arguments.colour or COLOURS[0])
    return draw_tiles(dependences, tiled.tree, parameters=values, axes=_two(arguments.axes),
                      threads=threads).coloured(arguments.colour or COLOURS[0])


def _two(axes: str | None) -> tuple[str, str] | None:
    names = _names(axes, 2)
    return (names[0], names[1]) if names else None


def _three(axes: str | None) -> tuple[str, str, str] | None:
    names = _names(axes, 3)
    return (names[0], names[1], names[2]) if names else None


def _names(axes: str | None, count: int) -> list[str]:
    if axes is None:
        return []
    names = [name.strip() for name in axes.split(",")]
    if len(names) != count:
        raise UsageError(f"this picture has {count} axes, not {len(names)}", witness=axes, hint="--axes i,j"
                         + (",k" if count > 2 else ""))
    if len(set(names)) < count:
        raise UsageError("an iterator cannot be two axes", witness=axes)
    return names
