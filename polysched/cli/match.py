"""`polysched match`: every way to compute a program with a described instruction, or why there is none."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from polysched.cli.conventions import STANDARD, Input, add_json, add_size
from polysched.cli.options import add_preprocessing, known_sizes, numerics
from polysched.cli.shown.output import Output, prepared, refuse_same_file
from polysched.cli.shown.programs import named_object
from polysched.cli.shown.progress import Progress, progress
from polysched.cli.shown.unserved import OF_MATCHES, refuse_unserved
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.dependence.dependences import Dependences
    from polysched.scop.scop import Scop
    from polysched.tensorize import Matches
    from polysched.tensorize.description.intrinsic import Intrinsic
    from polysched.tensorize.description.library_function import LibraryFunction
    from polysched.tensorize.functions.function_match import FunctionMatches
    from polysched.tensorize.options import TensorizeOptions
    Regions: TypeAlias = list[tuple[Scop, dict[str, int]]]

NAME = "match"
AUTO = "auto"
MOST_REASONS = 5   # why a function is not found
HELP = "Find the ways in which an instruction or library call can compute a program."
EPILOG = """\
examples:
  polysched match polysched.tensorize.operators:gmm --intrinsic mma_16x16x16 --rule amos
  polysched match gemm.c --intrinsic cblas_dgemm --size n=512 --all
  polysched match gemm.c --intrinsic auto --size n=512
  polysched match update.c --intrinsic cblas_dsyrk        (a function described by its C code; sizes may be unknown)
  polysched match mylayers:conv --intrinsics my_unit.py --intrinsic my_unit --json

MODULE:OPERATOR names a Python function that returns a Scop; --size sets its keyword arguments and the program's
parameters.  Exit code 2 when nothing matches: the explanation names the conflicting facts and what would help."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("what", type=Input, metavar="WHAT", help="a C file, - for standard input, or MODULE:OPERATOR")
    parser.add_argument("--intrinsic", metavar="NAME", required=True,
                        help="the instruction or library function; auto: every one that is described")
    parser.add_argument("--intrinsics", metavar="FILE.py", action="append", default=[],
                        help="a file that describes further instructions")
    parser.add_argument("--rule", choices=("exact", "amos"), default="exact",
                        help="every sound mapping, or those that AMOS admits (default: %(default)s)")
    parser.add_argument("--extents", choices=("any", "reach"), default="any",
                        help="reach: the loops have to fill the instruction's dimensions (default: %(default)s)")
    parser.add_argument("--allow", metavar="WHAT", default="reassociate,contract,flush,finite",
                        help="what may change in floating-point results, of reassociate, contract, flush, finite, "
                             "narrow, with commas, or none (default: %(default)s)")
    add_size(parser, "of the program, or an argument of the operator")
    parser.add_argument("--partial-sums", action="store_true",
                        help="let reductions fill lanes of the result, added up at the end")
    parser.add_argument("--split", action="store_true",
                        help="let one loop be cut in two that go into different dimensions (exact rule)")
    parser.add_argument("--remainder", action="store_true",
                        help="let the last iterations of a reduction, which fill no whole execution, stay behind as a "
                             "statement of their own (exact rule)")
    parser.add_argument("--all", action="store_true", help="print every match, not only the cheapest")
    add_json(parser, "the count and every match")
    add_preprocessing(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the matches of every region."""
    refuse_same_file(arguments.what, arguments.json)
    refuse_unserved(arguments, OF_MATCHES)
    with prepared(arguments.json) as report:
        return _run(arguments, report)


def _run(arguments: argparse.Namespace, report: Output | None) -> int:
    from polysched.tensorize.options import TensorizeOptions
    wanted = TensorizeOptions(intrinsic=arguments.intrinsic, files=tuple(arguments.intrinsics))
    function = wanted.function() or wanted.unit()
    every = arguments.intrinsic == AUTO
    intrinsics = _intrinsics(arguments) if function is None else []
    found: list[Matches] = []
    with progress(quiet=bool(arguments.quiet)) as shown:
        regions = _regions(arguments, shown)
        if function is not None:
            whole = _function_matches(arguments, function, regions, shown)
        else:
            for scop, own in _matches(arguments, intrinsics, regions, shown):
                found += _cheapest_first(scop, own, arguments, shown) if every else own
            whole = _as_a_whole(arguments, wanted, found, regions, shown)
    return _told(arguments, whole, report) if whole else _sums_told(arguments, found, report)


def _sums_told(arguments: argparse.Namespace, found: list[Matches], report: Output | None) -> int:
    """Print and report how instructions compute sums; the exit code."""
    if report is not None and arguments.intrinsic == AUTO:
        report.write_json([f.to_json() for f in found])
    elif report is not None:
        report.write_json_of_regions([f.to_json() for f in found])
    for f in found if arguments.json != STANDARD else ():
        show(f, everything=arguments.all)
    return 0 if any(f.count for f in found) else 2


def _as_a_whole(arguments: argparse.Namespace, wanted: TensorizeOptions, found: list[Matches],
                regions: Regions, shown: Progress) -> list[FunctionMatches]:
    """Where an instruction by name matches no sum: what its own sum, in parts, computes of the regions."""
    cut = None if any(f.count for f in found) else wanted.partial_sum()
    whole = [] if cut is None else _function_matches(arguments, cut, regions, shown)
    return whole if any(f.count for f in whole) else []


def _cheapest_first(scop: Scop, found: list[Matches], arguments: argparse.Namespace, shown: Progress) -> list[Matches]:
    """What matches a region, and a line that says how many do."""
    matching = sorted((f for f in found if f.count), key=lambda f: f.matches[0].cost_cycles)
    if arguments.json != STANDARD:
        shown.hide()
        print(f"{scop.name}: {len(matching)} of {len(found)} described instructions match, cheapest first")
    return matching


def _intrinsics(arguments: argparse.Namespace) -> list[Intrinsic]:
    """The instructions to look for: one by its name, or all that are described."""
    from polysched.tensorize import INTRINSICS, find_intrinsic, load_intrinsics
    also: dict[str, Intrinsic] = {}
    for path in arguments.intrinsics:
        also |= load_intrinsics(path, wanted="" if arguments.intrinsic == AUTO else arguments.intrinsic)
    if arguments.intrinsic == AUTO:
        return list({**INTRINSICS, **also}.values())
    return [find_intrinsic(arguments.intrinsic, also=also)]


def _matches(arguments: argparse.Namespace, intrinsics: list[Intrinsic], regions: Regions,
             shown: Progress) -> Iterator[tuple[Scop, list[Matches]]]:
    """Every region with what each instruction can do for it."""
    from polysched.pipeline import analysed
    from polysched.tensorize import Extents, MatchOptions, Rule, match
    options = MatchOptions(rule=Rule(arguments.rule), extents=Extents(arguments.extents),
                           numerics=numerics(arguments.allow), partial_sums=arguments.partial_sums,
                           split=arguments.split, remainder=arguments.remainder)
    for scop, sizes in regions:
        shown.step(f"matching {scop.name}")
        dependences = analysed(scop, for_instructions=True).dependences   # of the program that c2c looks at
        yield scop, [match(dependences.scop, i, options, dependences=dependences, sizes=sizes) for i in intrinsics]


def _regions(arguments: argparse.Namespace, shown: Progress) -> Regions:
    """Every region with the sizes of its parameters; read once, since standard input has no second time."""
    shown.step(f"reading {arguments.what}")
    scops, left = programs(arguments, dict(arguments.size))
    left = known_sizes(tuple(left.items()), scops, arguments.what)
    return [(scop, {n: v for n, v in left.items() if n in {p.name for p in scop.parameters}}) for scop in scops]


def _function_matches(arguments: argparse.Namespace, function: LibraryFunction | Intrinsic, regions: Regions,
                      shown: Progress) -> list[FunctionMatches]:
    """What a function, or an instruction as a whole, computes of every region."""
    from polysched.pipeline import analysed
    from polysched.tensorize.description.intrinsic import Intrinsic
    from polysched.tensorize.functions.function_match import match_function
    from polysched.tensorize.functions.units import match_unit
    shown.step("matching")
    allowed = numerics(arguments.allow)
    found = []
    for scop, sizes in regions:
        dependences = analysed(scop, for_instructions=True).dependences
        if isinstance(function, Intrinsic):
            rolled = partial(_rolled, scop)
            found.append(match_unit(dependences, function, allowed, sizes=sizes, otherwise=rolled))
        else:
            found.append(match_function(dependences, function, allowed, sizes=sizes))
    return found


def _rolled(scop: Scop) -> Dependences:
    """The program whose sums are loops, be they written out."""
    from polysched.pipeline import analysed
    return analysed(scop, for_instructions=True, rolled=True).dependences


def _told(arguments: argparse.Namespace, found: list[FunctionMatches], report: Output | None) -> int:
    """Print and report what was found; the exit code."""
    if report is not None:
        report.write_json_of_regions([f.to_json() for f in found])
    if arguments.json != STANDARD:
        for f in found:
            show_function(f)
    return 0 if any(f.count for f in found) else 2


def show_function(found: FunctionMatches) -> None:
    """Every match with its call, or why there is none."""
    from polysched.tensorize.functions.call_c import calls_c
    print(f"{found.scop.name} on {found.function.name}: {found.count} match{'es' * (found.count != 1)} "
          f"({found.milliseconds:.0f} ms)")
    for m in found.matches:
        print(f"  {' and '.join(m.statements)} by")
        for line in calls_c(m).lines:
            print(f"    {line}")
        if m.dead:
            print(f"    temporaries that are gone: {', '.join(m.dead)}")
        for assumption in m.assumptions:
            print(f"    takes for granted: {assumption}")
    for reason in found.reasons[:MOST_REASONS] if not found.count else ():
        print(f"  {reason}")


def show(found: Matches, *, everything: bool) -> None:
    """The matches or the cheapest, or why there is none."""
    print(found.text(everything=everything))
    if found.count > 1 and not everything:
        print(f"  and {found.count - 1} more (--all)")


def programs(arguments: argparse.Namespace, sizes: dict[str, int]) -> tuple[tuple[Scop, ...], dict[str, int]]:
    """The Scops of WHAT, and the sizes that are left for their parameters."""
    from polysched.scop import all_from_c_file
    module_name, separator, operator = arguments.what.partition(":")
    if not separator or arguments.what.endswith(".c"):
        return tuple(all_from_c_file(arguments.what, include_dirs=tuple(arguments.include_dirs),
                                     defines=tuple(arguments.defines), cc=arguments.cc)), sizes
    function = named_object(arguments.what)
    if not callable(function):
        raise UsageError(f"{module_name} has no operator {operator!r}",
                         hint="MODULE:OPERATOR names a function that returns a Scop")
    keywords = inspect.signature(function).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in keywords.values()):
        own = {n: v for n, v in sizes.items() if n != "batch"}
    else:
        own = {n: v for n, v in sizes.items() if n in keywords}
    return (function(**own),), {n: v for n, v in sizes.items() if n not in own}
