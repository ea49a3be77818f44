"""`polysched deps`: the dependences in isl notation."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from polysched.cli.conventions import STANDARD, add_json
from polysched.cli.options import add_any_source, read_regions
from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.cli.shown.progress import progress

if TYPE_CHECKING:
    from polysched.dependence.dependences import Dependences
    from polysched.dependence.questions import LoopBlocks

NAME = "deps"
HELP = "Print the exact dependences of a C file's regions."
EPILOG = """\
examples:
  polysched deps gemm.c
  polysched deps gemm.c --json
  polysched deps gemm.c --memory-based
  polysched deps lu.c --blocks j       what keeps loop j from being parallel, in lanes, interchanged, tiled

with --json one region is printed as an object, several as a list of objects"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_any_source(parser)
    add_json(parser, "every relation in isl notation")
    parser.add_argument("--memory-based", action="store_true",
                        help="every conflicting pair, not only those between which no other write lies")
    parser.add_argument("--blocks", metavar="LOOP",
                        help="all dependences that keep the loops with this counter from running in parallel or in "
                             "lanes, from changing places with their neighbours and from being tiled: the least pair "
                             "of instances of each, and which changes were tried and remove it")


def run(arguments: argparse.Namespace) -> int:
    """Print the dependences of every region."""
    from polysched.dependence import analyse, find_reductions
    from polysched.dependence.text import dependences_text
    refuse_same_file(arguments.source, arguments.json)
    with prepared(arguments.json) as report, progress(quiet=bool(arguments.quiet)) as shown:
        shown.step(f"reading {arguments.source}")
        scops = read_regions(arguments)
        shown.step("finding the dependences")
        found = [analyse(scop, value_based=not arguments.memory_based) for scop in scops]
        if arguments.blocks is not None:
            shown.step(f"finding what blocks loop {arguments.blocks}")
            blocks = _blocking(found, arguments.blocks)
        if report is not None:
            report.write_json_of_regions(
                [dependences_to_json(dependences) for dependences in found] if arguments.blocks is None else
                [{"name": d.scop.name, "loops": [loop.to_json() for loop in loops]} for d, loops in blocks])
    if arguments.json == STANDARD:
        return 0
    if arguments.blocks is not None:
        for dependences, loops in blocks:
            print(f"function {dependences.scop.name}, loops as written:")
            print("\n".join(map(str, loops)), end="")
        return 0
    for dependences in found:
        count = len(dependences.pairs)
        print(f"function {dependences.scop.name}: {count} dependence{'' if count == 1 else 's'}")
        print(dependences_text(dependences), end="")
        for reduction in find_reductions(dependences.scop):
            for part in reduction.accumulators:
                print(f"reduction {part}")
    return 0


def _blocking(found: list[Dependences], name: str) -> list[tuple[Dependences, tuple[LoopBlocks, ...]]]:
    """The answers of every region that has such a loop.

    Raises
    ------
    UsageError : none has; the witness lists the loops.
    """
    from polysched.dependence.questions import blocking
    from polysched.dependence.questions.program_loops import loops_of
    having = [d for d in found if any(loop.name == name for loop in loops_of(d.scop))]
    return [(dependences, blocking(dependences, name)) for dependences in having or found]


def dependences_to_json(dependences: Dependences) -> dict[str, Any]:
    """The union per kind, every pair of references by itself, and the reductions."""
    from polysched.dependence import find_reductions
    return {"name": dependences.scop.name, "value_based": dependences.value_based, "flow": str(dependences.flow),
            "anti": str(dependences.anti), "output": str(dependences.output),
            "pairs": [{"kind": d.kind.value, "array": d.array, "source": d.source, "sink": d.sink,
                       "source_reference": d.source_reference, "sink_reference": d.sink_reference,
                       "relation": str(d.relation), "reduction": d.reduction} for d in dependences.pairs],
            "reductions": [{"statement": r.statement, "operator": r.operator, "dtype": r.dtype.name, "exact": r.exact,
                            "any_order": r.any_order, "ties": r.ties or None}
                           for found in find_reductions(dependences.scop) for r in found.accumulators]}
