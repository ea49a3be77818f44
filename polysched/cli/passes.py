"""`polysched passes`: the passes over the loop IR or over operator graphs, and what each makes of a file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from polysched.cli.conventions import STANDARD, add_json, add_size, meant, refuse_device
from polysched.cli.options import add_choices, add_source, known_sizes, pipeline_options, read_text
from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.cli.shown.unserved import NO_TEXT, OF_CHOICES, refuse_unserved
from polysched.errors import UnsupportedGraphError, UsageError

if TYPE_CHECKING:
    from polysched.emit_c.pass_history import PassRecord
    from polysched.graph import Graph
    from polysched.graph.passes.registry import GraphPass
    from polysched.pipeline import Optimized

NAME = "passes"
HELP = "List the passes over the loop IR or over operator graphs, or show what each of them makes of a file."
EPILOG = """\
examples:
  polysched passes                                     every pass, in order, with what it needs
  polysched passes gemm.c                              which of them change the loops of gemm.c
  polysched passes gemm.c --print-after vectorise      the loops after one pass, as text
  polysched passes gemm.c --diff array_contraction     what one pass changes
  polysched passes --graph                             every pass over operator graphs
  polysched passes --graph model.onnx                  what each of them makes of a model, by itself
  polysched passes --graph graph.txt --print-after simplify_expression

a graph is an ONNX file or a file with the text form of polysched.graph

the text form is Python's syntax; polysched.emit_c.loop_ir.parser.parse_loops reads it back"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_source(parser, optional=True)
    add_choices(parser)
    add_size(parser, "the code of an instruction is made for it")
    add_json(parser, "the passes, or what each changed,")
    parser.add_argument("--graph", action="store_true", help="passes over operator graphs; the file is a graph")
    parser.add_argument("--print-after", metavar="NAME", help="print the loops after this pass")
    parser.add_argument("--diff", metavar="NAME", help="print what this pass changes, as a unified diff")


def run(arguments: argparse.Namespace) -> int:
    """List the passes, or run them and show what they did."""
    from polysched.emit_c.passes import all_passes
    from polysched.graph.passes.registry import PASSES
    refuse_unserved(arguments, (NO_TEXT, *OF_CHOICES))
    names = list(PASSES) if arguments.graph else [each.name for each in all_passes()]
    for wanted in (arguments.print_after, arguments.diff):
        if wanted is not None and wanted not in names:
            raise UsageError(f"no pass {wanted}{meant(wanted, names)}", hint=f"one of {', '.join(names)}")
    if arguments.graph and arguments.source is not None:
        return _run_on_graph(arguments)
    if arguments.source is not None:
        return _run_on_file(arguments, names)
    if arguments.print_after or arguments.diff:
        raise UsageError("a pass needs a file to run on", hint="polysched passes FILE.c --print-after NAME")
    return _list_graph_passes(arguments) if arguments.graph else _list(arguments)


def _list_graph_passes(arguments: argparse.Namespace) -> int:
    """A line per pass over graphs, or its JSON."""
    from polysched.graph.passes.registry import PASSES
    with prepared(arguments.json) as report:
        if report is not None:
            report.write_json([{"name": each.name, "summary": each.summary, "exact": each.exact,
                                "standard": each.is_standard} for each in PASSES.values()])
    if arguments.json != STANDARD:
        width = max(map(len, PASSES))
        for each in PASSES.values():
            marks = ["standard"] * each.is_standard + ["rounds otherwise"] * (not each.exact)
            print(f"{each.name:{width}}  {each.summary}" + (f" ({', '.join(marks)})" if marks else ""))
    return 0


def _run_on_graph(arguments: argparse.Namespace) -> int:
    """What every pass makes of a graph by itself: the names of operators that come and go, or the text."""
    import difflib

    from polysched.graph.passes.registry import PASSES
    from polysched.graph.passes.simple import bind
    refuse_same_file(arguments.source, arguments.json)
    with prepared(arguments.json) as report:
        graph = bind(_graph_of(arguments.source), dict(arguments.size))
        wanted = arguments.print_after or arguments.diff
        found = [_on_graph(graph, PASSES[name]) for name in ([wanted] if wanted else PASSES)]
        if report is not None:
            report.write_json([{"name": name, "refused": problem, "nodes": after and len(after.nodes),
                                "text": after and str(after)} for name, after, problem in found])
    for name, after, problem in found if arguments.json != STANDARD else ():
        if after is None:
            print(f"{name}  refused: {problem}")
        elif arguments.print_after:
            print(after)
        elif arguments.diff:
            lines = difflib.unified_diff(str(graph).splitlines(), str(after).splitlines(), f"before {name}",
                                         f"after {name}", lineterm="")
            print("\n".join(lines) or f"{name} changed nothing")
        else:
            print(f"{name:{max(map(len, PASSES))}}  {_of_operators(graph, after)}")
    return 0


def _graph_of(path: str) -> Graph:
    """The graph of an ONNX file, or of a file with its text form."""
    from polysched.graph import from_text, load
    return load(path) if path.endswith(".onnx") else from_text(read_text(path, "the graph"))


def _on_graph(graph: Graph, each: GraphPass) -> tuple[str, Graph | None, str | None]:
    """The graph behind one pass, or why the pass refuses it."""
    try:
        return each.name, each.run(graph), None
    except UnsupportedGraphError as error:
        return each.name, None, str(error)


def _of_operators(before: Graph, after: Graph) -> str:
    """Which operators come and go."""
    from collections import Counter
    old, new = (Counter(node.op for node in graph.walk()) for graph in (before, after))
    changes = [f"{new[op] - old[op]:+} {op}" for op in sorted({*old, *new}) if new[op] != old[op]]
    return ", ".join(changes) or "the same operators"


def _run_on_file(arguments: argparse.Namespace, names: list[str]) -> int:
    """What every pass makes of every region of the file."""
    from polysched.emit_c.pass_history import pass_history
    from polysched.search.lookup import transform_file
    refuse_same_file(arguments.source, arguments.json)
    refuse_device(arguments)   # whose kernels go through no pass
    with prepared(arguments.json) as report:
        regions = transform_file(arguments.source, pipeline_options(arguments)).regions
        known_sizes([*arguments.size, *arguments.assume], [region.scop for region in regions], arguments.source,
                    some_left=arguments.autodetect)
        histories = [{record.loop_pass.name: record for record in pass_history(
            region.tiled, region.options.emit_options())} for region in regions]
        if report is not None:
            report.write_json_of_regions([
                {"function": region.scop.name, "passes": [_as_json(name, records.get(name)) for name in names]}
                for region, records in zip(regions, histories, strict=True)])
    if arguments.json != STANDARD:
        for region, records in zip(regions, histories, strict=True):
            _show(arguments, region, records, names)
    return 0


def _list(arguments: argparse.Namespace) -> int:
    """A line per pass, or its JSON."""
    from polysched.emit_c.passes import all_passes
    needs = {each.name: [need.words for need in each.needs] for each in all_passes()}
    with prepared(arguments.json) as report:
        if report is not None:
            report.write_json([{"name": each.name, "summary": each.summary, "needs": needs[each.name]}
                               for each in all_passes()])
    if arguments.json != STANDARD:
        width = max(map(len, needs))
        for each in all_passes():
            needed = f" (needs {', '.join(needs[each.name])})" if needs[each.name] else ""
            print(f"{each.name:{width}}  {each.summary}{needed}")
    return 0


def _as_json(name: str, record: PassRecord | None) -> dict[str, object]:
    return {"name": name, "ran": record is not None, "changed": record is not None and record.changed,
            "difference": record.difference() if record is not None else ""}


def _show(arguments: argparse.Namespace, region: Optimized, records: dict[str, PassRecord], names: list[str]) -> None:
    from polysched.emit_c.loop_ir.text import loop_text
    print(f"function {region.scop.name}:")
    if arguments.print_after or arguments.diff:
        name = arguments.print_after or arguments.diff
        if name not in records:
            print(f"  {name} did not run: its needs do not hold")
        elif arguments.print_after:
            print(loop_text(records[name].after), end="")
        else:
            print(records[name].difference() or f"  {name} changed nothing\n", end="")
        return
    width = max(map(len, names))
    for name in names:
        print(f"  {name:{width}}  {_what(records.get(name))}")


def _what(record: PassRecord | None) -> str:
    if record is None:
        return "did not run"
    if not record.changed:
        return "changed nothing"
    lines = record.difference().splitlines()[2:]
    return f"+{sum(line.startswith('+') for line in lines)} -{sum(line.startswith('-') for line in lines)} lines"
