"""`polysched tune`: search the recipe with which a region, or a model's kernels, run fastest; keep it in a database."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from polysched.cli.conventions import STANDARD, add_json, add_size, add_target, chosen_target, is_range
from polysched.cli.options import add_source
from polysched.cli.shown.output import prepared
from polysched.cli.shown.programs import check_sizes, is_c_file, is_named, named_scop, named_sketch, named_tensor
from polysched.cli.shown.progress import Progress, progress
from polysched.cli.shown.unserved import OF_SEARCHES, refuse_unserved
from polysched.cli.values import natural, positive, positive_seconds
from polysched.errors import UsageError
from polysched.measure.processes.workspace import workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from polysched.measure.paired import MeasureOptions
    from polysched.pipeline.options import PipelineOptions
    from polysched.scop.scop import Scop
    from polysched.search import Budget, Trial, Tuned, TunedAll, TunedExpression, TunedMachines, TunedRange
    from polysched.search.space import Space

NAME = "tune"
HELP = "Search schedules, tiles, register blocks and instructions for the fastest code, and keep what was found."
EPILOG = """\
examples:
  polysched tune gemm.c --size n=512 --trials 64 --database tuned.db
  polysched tune gemm.c --size n=512 --minutes 5 --database tuned.db --resume --json found.json
  polysched tune gemm.c --size n=512 --space space.py:template --strategy grid
  polysched c2c gemm.c --database tuned.db      the code of what was found
  polysched tune gemm.c --size n=64..2048 --trials 32 --database tuned.db      variants behind tests of n
  polysched tune operators:softmax --size rows=512 --database tuned.db
  polysched tune operators:chain --terms --reassociate --minutes 5      other terms that compute the same, too
  polysched tune model.onnx --size batch=1 --minutes 30 --database tuned.db
  polysched onnx model.onnx --size batch=1 --database tuned.db --time      the model of what was found

MODULE:EXPRESSION is a tensor expression, a Scop, or a function that returns one, with --size for its arguments. The
kernels of a model share one budget: each different one counts as often as a run of the model runs it, trials go where
they promise most for the whole, and a kernel that cannot be run alone is named.
The model's pick is candidate 0, and every other candidate is verified against the original code and timed in pairs
with it; what seems fastest is timed anew before it is chosen. Every trial is in the database as soon as it is judged:
--resume continues an interrupted search. A template is a Python function `(choose, dependences) -> Recipe`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_source(parser, metavar="IN.c|MODULE:EXPRESSION|MODEL.onnx",
               what="C file with a region, a Python expression, or an ONNX model; - reads a C file from standard input")
    group = parser.add_argument_group("search")
    group.add_argument("--trials", type=positive, metavar="N",
                       help="candidates that are built and judged (default: 64 where --minutes is not given)")
    group.add_argument("--minutes", type=positive_seconds, metavar="M", help="wall time of the search")
    group.add_argument("--database", metavar="FILE", help="keep every trial, and what was chosen")
    group.add_argument("--resume", action="store_true",
                       help="do not repeat trials that the database has, unless other programs disturbed them")
    group.add_argument("--space", metavar="FILE.py:FUNCTION|automatic", default="automatic",
                       help="a template (default: %(default)s, a union of rules)")
    group.add_argument("--terms", action="store_true",
                       help="of MODULE:EXPRESSION: search other terms that compute the same, too (chain order, "
                            "Winograd, layouts); those that change the order of sums of floats with --reassociate")
    group.add_argument("--sketch", action="append", default=[], metavar="MODULE:SKETCH", dest="sketches",
                       help="with --terms: those terms that have this form (`polysched.search.rewriting.sketches`); "
                            "again for the next form, which is reached from the one before")
    group.add_argument("--strategy", choices=STRATEGY_NAMES, default="evolution",
                       help="which candidates come next; optuna needs polysched[tune] (default: %(default)s)")
    group.add_argument("--model", choices=MODEL_NAMES, default="residual",
                       help="what ranks candidates before they are built: the projected model, that with a correction "
                            "learned from the trials, or the same with boosted trees of polysched[tune] (default: "
                            "%(default)s)")
    group.add_argument("--seed", type=natural, default=0, metavar="S", help="of all draws (default: %(default)s)")
    add_size(group, "what is run has it; parameters without one get a value that suits a measurement; NAME=64..2048 "
                    "searches at sampled sizes, and keeps few variants for all of them", ranges=True)
    group.add_argument("--samples", type=positive, default=4, metavar="N",
                       help="sizes of a range that are searched (default: %(default)s)")
    group.add_argument("--variants", type=positive, default=4, metavar="K",
                       help="recipes that are kept for a range at most (default: %(default)s)")
    group.add_argument("--threads", type=positive, metavar="N", help="OpenMP threads (default: all cores)")
    group.add_argument("--pin", action="store_true", help="bind the threads to cores")
    group.add_argument("--cflags", metavar="'FLAGS'", help="compiler options (default: -O3 -march=native)")
    group.add_argument("--timeout", type=positive_seconds, default=60.0, metavar="SECONDS",
                       help="longest time without progress of the first run (default: %(default)g)")
    group.add_argument("--reassociate", action="store_true",
                       help="allow sums and products of floats in another order, of all candidates")
    group.add_argument("--cluster", metavar="ADDRESS",
                       help="compile, verify and time on the workers of a Dask cluster that are machines of this kind: "
                            "tcp://HOST:PORT, or local:N for N processes here; a worker that dies costs one trial")
    group.add_argument("--each-machine", action="store_true",
                       help="with --cluster: a search for each kind of machine among the workers, all at once, instead "
                            "of one for this kind")
    group.add_argument("--report", metavar="FILE.html",
                       help="write a page: search curve, space, what mattered, model against measurement")
    add_target(group)
    add_json(group, "what was found")


STRATEGY_NAMES = ("grid", "random", "evolution", "halving", "optuna")
MODEL_NAMES = ("projected", "residual", "boosted")


def run(arguments: argparse.Namespace) -> int:
    """Search; 0 when it ended, whatever it found."""
    from polysched.search import tune
    refuse_unserved(arguments, OF_SEARCHES)
    if arguments.resume and arguments.database is None:
        raise UsageError("--resume needs a database", hint="name it with --database")
    if arguments.sketches and not arguments.terms:
        raise UsageError("a sketch is a form of terms", witness=arguments.sketches[0], hint="give --terms, too")
    with (prepared(arguments.json) as report, prepared(arguments.report) as page,
          progress(quiet=bool(arguments.quiet)) as shown):
        how: dict[str, Any] = {
            "space": _space(arguments.space), "options": _options(arguments), "strategy": arguments.strategy,
            "model": arguments.model, "seed": arguments.seed, "threads": arguments.threads,
            "cluster": arguments.cluster, "measure": _measure(arguments), "on_trial": _teller(shown, arguments)}
        found: Tuned | TunedAll | TunedRange | TunedExpression | TunedMachines
        if arguments.terms:
            found = _tuned_terms(arguments, how)
        elif arguments.each_machine:
            found = _tuned_machines(arguments, how)
        elif is_range(arguments.size):
            found = _tuned_range(arguments, how)
        elif arguments.source.endswith(".onnx"):
            found = _tuned_model(arguments, how)
        else:
            program, sizes = _program(arguments)
            found = tune(program, sizes=sizes, budget=_budget(arguments), database=arguments.database,
                         resume=arguments.resume, **how)
        shown.stop()
        if report is not None:
            report.write_json(found.to_json())
        if page is not None:
            page.write(_page(found))
    if arguments.json != STANDARD:
        print(found)
    return 0


def _page(found: Tuned | TunedAll | TunedRange | TunedExpression | TunedMachines) -> str:
    """The page of one search or several."""
    from polysched.search import TunedAll, TunedExpression, TunedMachines, TunedRange
    from polysched.search.page import page_html
    several: Iterable[Tuned | None]
    match found:
        case TunedRange() | TunedMachines():
            several = found.found.values()
        case TunedAll():
            several = found.found
        case TunedExpression():
            several = found.searched.values()
        case _:
            several = (found,)
    return page_html(*(one for one in several if one is not None))


def _program(arguments: argparse.Namespace) -> tuple[str | Scop, dict[str, int]]:
    """The C file, or the Scop of MODULE:EXPRESSION; and the sizes of its parameters.

    Raises
    ------
    UsageError : as for `named_scop`, or the expression has no parameter of that name.
    """
    sizes = dict(arguments.size)
    if not is_named(arguments.source):
        return arguments.source, sizes
    program, left = named_scop(arguments.source, sizes)
    own = [p.spelling for p in program.parameters]
    if unknown := [name for name in left if name not in own]:
        raise UsageError(f"--size {unknown[0]}: {arguments.source} has no such parameter",
                         hint=f"it has {', '.join(own)}" if own else "it has none at all")
    return program, left


def _tuned_terms(arguments: argparse.Namespace, how: dict[str, Any]) -> TunedExpression:
    """Searches over the terms of a tensor expression.

    Raises
    ------
    UsageError : the program is no tensor expression, or a size is a range.
    """
    from polysched.search import tune_expression
    if not is_named(arguments.source) or arguments.cluster or arguments.resume:
        raise UsageError("terms are of a tensor expression, searched anew on this machine", where=arguments.source,
                         hint="MODULE:EXPRESSION, without --cluster and --resume")
    output, sizes = named_tensor(arguments.source, dict(arguments.size))
    how = {name: value for name, value in how.items() if name != "cluster"}
    return tune_expression(output, sizes=sizes, budget=_budget(arguments), database=arguments.database,
                           sketches=[named_sketch(name) for name in arguments.sketches], **how)


def _tuned_machines(arguments: argparse.Namespace, how: dict[str, Any]) -> TunedMachines:
    """A search for each kind of machine of a cluster.

    Raises
    ------
    UsageError : there is no cluster, the program is no C file, or a size is a range.
    """
    from polysched.search import tune_machines
    if not arguments.cluster or not is_c_file(arguments.source) or is_range(arguments.size):
        raise UsageError("each kind of machine judges a C file at one size", where=arguments.source,
                         hint="name the workers with --cluster, and give every size one value")
    return tune_machines(arguments.source, sizes=dict(arguments.size), budget=_budget(arguments),
                         database=arguments.database, resume=arguments.resume, **how)


def _tuned_range(arguments: argparse.Namespace, how: dict[str, Any]) -> TunedRange:
    """Searches at sampled sizes.

    Raises
    ------
    UsageError : the program is no C file, or there is no database that keeps what was found.
    """
    from polysched.search import tune_range
    if not is_c_file(arguments.source):
        raise UsageError("a range of sizes is of a C file", where=arguments.source, hint="give every size one value")
    if arguments.database is None:
        raise UsageError("a range of sizes needs a database", hint="name it with --database")
    return tune_range(arguments.source, sizes=dict(arguments.size), database=arguments.database,
                      budget=_budget(arguments), most=arguments.variants, samples=arguments.samples,
                      resume=arguments.resume, **how)


def _tuned_model(arguments: argparse.Namespace, how: dict[str, Any]) -> TunedAll:
    """The kernels of a model under one budget.

    Raises
    ------
    UsageError : a size of the model is open, or it has none of a given name.
    """
    from polysched.graph import load
    from polysched.graph.passes.simple import bind
    from polysched.model.kernels import in_any_order
    from polysched.model.planned import planned
    from polysched.model.tasks import kernel_tasks
    from polysched.search import Weighted, tune_all
    graph, sizes = load(arguments.source), dict(arguments.size)
    check_sizes(graph, sizes, closed=True, hint="--size {0}=1")
    tasks = kernel_tasks(planned(bind(graph, sizes)))
    how = {**how, "options": in_any_order(how["options"])}
    programs = [Weighted(program=task.scop, weight=float(task.count)) for task in tasks]
    with workspace() as folder:
        return tune_all(programs, budget=_budget(arguments), database=arguments.database or folder / "tuned.db",
                        resume=arguments.resume, **how)


def _teller(shown: Progress, arguments: argparse.Namespace) -> Callable[[Trial, int], None]:
    """Tells the best ratio so far."""
    best = [1.0]

    def tell(trial: Trial, count: int) -> None:
        if trial.clean:   # a code beside which others took the cores seems to be any number of times as fast
            best[0] = max(best[0], trial.ratio or 0.0)
        of_all = f" of {arguments.trials}" if arguments.trials else ""
        shown.step(f"trial {count}{of_all}: best so far {best[0]:.3f} times as fast as the model's pick")
    return tell


def _budget(arguments: argparse.Namespace) -> Budget:
    from polysched.search import Budget
    if arguments.trials is None and arguments.minutes is None:
        return Budget(trials=64)
    return Budget(trials=arguments.trials, minutes=arguments.minutes)


def _options(arguments: argparse.Namespace) -> PipelineOptions:
    from polysched.pipeline.options import PipelineOptions
    from polysched.pipeline.source_options import SourceOptions
    from polysched.tiling import TilingOptions
    source = SourceOptions(
        autodetect=arguments.autodetect, pure=tuple(arguments.pure), include_dirs=tuple(arguments.include_dirs),
        defines=tuple(arguments.defines), cc=arguments.cc)
    return PipelineOptions(tiling=TilingOptions(target=chosen_target(arguments)), source=source,
                           reassociate=arguments.reassociate)


def _measure(arguments: argparse.Namespace) -> MeasureOptions:
    from polysched.measure.paired import MeasureOptions
    from polysched.measure.processes.building import DEFAULT_FLAGS
    from polysched.measure.processes.isolation import Limits
    flags = DEFAULT_FLAGS if arguments.cflags is None else tuple(shlex.split(arguments.cflags))
    return MeasureOptions(cc=arguments.cc, flags=flags, pin=arguments.pin, limits=Limits(seconds=arguments.timeout))


def _space(name: str) -> Space | str:
    """A template out of a Python file, or `automatic`.

    Raises
    ------
    UsageError : the file cannot be read, or has no such function.
    """
    import runpy
    if name == "automatic":
        return name
    path, colon, function = name.rpartition(":")
    if not colon:
        raise UsageError(f"{name!r} is no template", hint="FILE.py:FUNCTION, or automatic")
    try:
        found = runpy.run_path(path).get(function)
    except (OSError, SyntaxError) as error:
        raise UsageError("the template cannot be read", where=path, witness=str(error)) from error
    if not callable(found):
        raise UsageError(f"there is no function {function!r}", where=path)
    template: Space = found
    return template
