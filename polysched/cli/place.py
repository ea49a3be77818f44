"""`polysched place`: put the operators of a graph or a model onto a mesh of cores."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from polysched.cli.conventions import STANDARD, Input, add_json, add_size
from polysched.cli.shown.output import prepared
from polysched.cli.shown.unserved import OF_PLACEMENTS, refuse_unserved
from polysched.cli.values import natural, positive
from polysched.errors import PlacementError, UsageError

if TYPE_CHECKING:
    from polysched.mesh import MeshTarget, OperatorGraph, Placement

NAME = "place"
HELP = "Place the operators of a graph or an ONNX model on a mesh of cores, with routes, link loads and bounds."
EPILOG = """\
examples:
  polysched place graph.json --mesh 8x8 --picture placement.svg
  polysched place model.onnx --mesh 16x16 --size batch=1 --json placement.json --verify
  polysched place graph.json --mesh 4x4 --dead 1,2 --core-memory 262144 --method greedy

graph.json has operators (name, work, extents, weights, result) and messages (source, sink, bytes, cut);
polysched/mesh/README.md says what each means. FILE.kgraph is a kernel graph of the ISPD 2020 contest.
A mesh is ROWSxCOLUMNS or a JSON file with the fields of MeshTarget.
Every figure is a prediction of a model, beside a lower bound; --verify walks every message again"""

METHODS = ("anneal", "exact", "greedy", "row-major")
ROUTINGS = ("adaptive", "xy")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Input, metavar="FILE.json|FILE.kgraph|MODEL.onnx",
                        help="what is placed; '-': a graph as JSON from standard input")
    parser.add_argument("--mesh", type=Input, required=True, metavar="RxC|FILE",
                        help="the mesh: rows x columns, or a JSON file; - reads standard input")
    parser.add_argument("--core-memory", type=positive, metavar="BYTES", help="memory of a core")
    parser.add_argument("--core-speed", type=float, metavar="OPS", help="operations per second of a core")
    parser.add_argument("--link", type=float, metavar="BYTES", help="bytes per second of a link in one direction")
    parser.add_argument("--hop", type=float, metavar="SECONDS", help="latency of a link with its router")
    parser.add_argument("--dead", type=core, action="append", default=[], metavar="ROW,COLUMN",
                        help="a core that is not there, may be repeated")
    parser.add_argument("--method", choices=METHODS, default="anneal",
                        help="how positions are found; exact: CP-SAT, to 64 cores (default: %(default)s)")
    parser.add_argument("--routing", choices=ROUTINGS, default="adaptive",
                        help="each message along its row or its column first, or all along rows (default: %(default)s)")
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="of the annealing (default: %(default)s)")
    parser.add_argument("--picture", metavar="FILE.svg", help="draw cores by operator and links by load")
    parser.add_argument("--verify", action="store_true", help="walk every message again and compare the loads")
    parser.add_argument("--compare", action="store_true",
                        help="the times of a row-major pipeline and of a compute-shift order beside it")
    add_size(parser, "of a model's shapes")
    add_json(parser, "the placement")


def run(arguments: argparse.Namespace) -> int:
    """Place, verify, write."""
    from polysched.mesh import PlaceOptions, place, verify
    from polysched.mesh.picture import svg_of
    refuse_unserved(arguments, OF_PLACEMENTS)
    target = _target(arguments)
    graph = _graph(arguments)
    with prepared(arguments.json) as report, prepared(arguments.picture) as picture:
        placement = place(graph, target, PlaceOptions(method=arguments.method, routing=arguments.routing,
                                                      seed=arguments.seed))
        if arguments.verify:
            verify(placement)
        beside = _compared(placement) if arguments.compare else None
        if report is not None:
            report.write_json({**placement.to_json(), "verified": arguments.verify,
                               **({"compared": beside} if beside else {})})
        if picture is not None:
            picture.write(svg_of(placement))
    if STANDARD not in (arguments.json, arguments.picture):
        print(placement)
        if arguments.verify:
            print(f"verified: {len(graph.messages)} messages walked, every load is what it says")
        for name, its in (beside or {}).items():
            print(f"{name}: {its}" if isinstance(its, str) else
                  f"{name}: interval {its['interval']:.6g} s, latency {its['latency']:.6g} s")
    return 0


def _compared(placement: Placement) -> dict[str, dict[str, float] | str]:
    """Seconds between two items and of one item, of this placement and of two simpler orders; or why there is none."""
    from polysched.mesh import PlaceOptions, compute_shift, place
    graph, target = placement.graph, placement.target

    def of_pipeline(placed: Placement) -> dict[str, float]:
        return {name: placed.figures[name].value for name in ("interval", "latency")}

    def row_major() -> dict[str, float]:
        return of_pipeline(place(graph, target, PlaceOptions(method="row-major")))

    def shifted() -> dict[str, float]:
        return dict.fromkeys(("interval", "latency"), compute_shift(graph, target).latency.value)

    found: dict[str, dict[str, float] | str] = {"this placement": of_pipeline(placement)}
    for name, order in (("row-major pipeline", row_major), ("compute-shift order", shifted)):
        try:
            found[name] = order()
        except PlacementError as error:
            found[name] = str(error)
    return found


def core(text: str) -> tuple[int, int]:
    """The value of `--dead`."""
    row, comma, column = text.partition(",")
    if not comma or not row.strip().isdecimal() or not column.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not ROW,COLUMN")
    return int(row), int(column)


def _target(arguments: argparse.Namespace) -> MeshTarget:
    from polysched.mesh import read_target
    target = read_target(arguments.mesh)
    given = {"memory": arguments.core_memory, "compute": arguments.core_speed, "link": arguments.link,
             "hop": arguments.hop}
    return replace(target, **{name: value for name, value in given.items() if value is not None},
                   dead=(*target.dead, *arguments.dead))


def _graph(arguments: argparse.Namespace) -> OperatorGraph:
    """The operators of a JSON file, or of a model's plan."""
    from polysched.mesh import read_graph, read_kernel_graph
    if arguments.file.endswith(".onnx"):
        from polysched.graph import load
        from polysched.graph.passes.simple import bind
        from polysched.mesh.from_plan import of_plan
        from polysched.model.planned import planned
        return of_plan(planned(bind(load(arguments.file), dict(arguments.size), None)))
    if arguments.size:
        raise UsageError("--size is of a model's shapes", witness=str(arguments.file))
    try:
        text = sys.stdin.read() if arguments.file == STANDARD else Path(arguments.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("the file cannot be read as text", where=str(arguments.file), witness=str(error)) from None
    if arguments.file.endswith(".kgraph"):
        return read_kernel_graph(text, where=str(arguments.file)).operators(Path(arguments.file).stem)
    return read_graph(text, where=str(arguments.file))
