"""`polysched onnx`: an ONNX model compiled to one shared object, verified and timed."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.cli.conventions import (
    STANDARD,
    Input,
    OncePerName,
    add_assume,
    add_cc,
    add_json,
    add_size,
    add_target,
    chosen_target,
    likely_sizes,
)
from polysched.cli.shown.input import as_files
from polysched.cli.shown.model_page import check_page_name, lines_of_model, page_of_model
from polysched.cli.shown.output import Output, prepared
from polysched.cli.shown.programs import check_sizes
from polysched.cli.shown.unserved import OF_MODELS, refuse_unserved
from polysched.cli.values import natural, positive
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.graph import Graph
    from polysched.model import CompiledModel, SegmentedModel
    from polysched.pipeline import PipelineOptions

NAME = "onnx"
HELP = "Compile an ONNX model, verify it on random inputs, and time it beside ONNX Runtime."
EPILOG = """\
examples:
  polysched onnx model.onnx                                      its inputs, outputs, sizes and operators
  polysched onnx model.onnx --size batch=1 --verify reference    against the references of the operators in NumPy
  polysched onnx model.onnx --size batch=1 --verify onnxruntime --time --json result.json
  polysched onnx model.onnx --size batch=1 --inputs inputs.npz --verify onnxruntime
  polysched onnx model.onnx --assume batch=3 --verify reference --save model.so    batch stays open; a library
  polysched onnx model.onnx --likely length=1,128,2048 --verify onnxruntime    length stays open; codes for three values
  polysched onnx model.onnx --size batch=1 -o source    C source with a program that reads .npy files
  polysched onnx model.onnx --size batch=1 --plan plan.svg       its kernels in colour, their bytes, why not fewer
  polysched onnx model.onnx --size batch=1 --verify onnxruntime --time --report model.html
  polysched onnx model.onnx --size batch=1 --measure-plans       compile the best few plans, keep the fastest here
  polysched onnx model.onnx --islands refuse            refuse a node whose shape follows from data

--islands allow runs such nodes, and those without an affine form, on ONNX Runtime, or on onnx.reference where that is
missing; each is listed with its reason and its share of the time; such a model is not saved

a model with sizes that are neither fixed nor assumed is only inspected
exit code 4 when an output differs beyond its tolerance"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("model", type=Input, metavar="MODEL", help="the ONNX file; - reads standard input")
    add_size(parser, "the model is compiled for it; sizes that are not named stay open")
    add_assume(parser)
    parser.add_argument("--likely", type=likely_sizes, action=OncePerName, default=[], metavar="NAME=VALUE,...",
                        help="values that a size which stays open probably has: kernels get a code per value, and the "
                             "driver chooses by size; --verify compares at each of them")
    parser.add_argument("-o", "--output", metavar="DIR",
                        help="write C source with a program that reads .npy files")
    parser.add_argument("--save", metavar="FILE.so", help="write a shared object, a C header and the weights beside it")
    parser.add_argument("--plan", metavar="FILE", help="write the plan: kernels, bytes, and why they are not fewer; a "
                        "picture where FILE ends in .svg or .html, else text; - is standard output")
    parser.add_argument("--inputs", metavar="FILE.npz", help="arrays by the names of the inputs (default: random ones)")
    parser.add_argument("--seed", type=natural, default=1, metavar="N",
                        help="of the random inputs (default: %(default)s)")
    parser.add_argument("--verify", choices=("onnxruntime", "reference"),
                        help="compare the outputs with those of ONNX Runtime, or of the operators' references in NumPy")
    parser.add_argument("--time", action="store_true", help="time it beside ONNX Runtime, in alternation")
    parser.add_argument("--threads", type=positive, metavar="N",
                        help="threads of both (default: every core of the process)")
    parser.add_argument("--database", metavar="FILE", help="use what `polysched tune MODEL` found for its kernels here")
    parser.add_argument("--stored", choices=("float32", "float16", "bfloat16"), default="float32",
                        help="how products and what follows them (float16) or constant weights alone (bfloat16) stand "
                             "in memory; sums are float32; --verify says what it costs (default: %(default)s)")
    parser.add_argument("--islands", choices=("allow", "refuse"), default="allow",
                        help="run nodes that are not compiled elsewhere, or refuse them (default: %(default)s)")
    parser.add_argument("--fusion", choices=("auto", "cost", "greedy"), default="auto",
                        help="which nodes become one kernel: by cost, by the greedy rule, or whichever the model "
                        "finds better (default: %(default)s)")
    parser.add_argument("--measure-plans", action="store_true",
                        help="compare the best few plans with the references, time them, and keep the fastest: "
                        "the greedy one, unless the gain of another is certain")
    parser.add_argument("--report", metavar="FILE.html", help="write a page: what is printed, and the plan drawn")
    add_target(parser)
    add_cc(parser)
    add_json(parser, "what was found")


def run(arguments: argparse.Namespace) -> int:
    """Inspect, compile, verify, time."""
    refuse_unserved(arguments, OF_MODELS)
    with as_files([arguments.model]) as (model,):
        return _run(argparse.Namespace(**{**vars(arguments), "model": model}))


def _run(arguments: argparse.Namespace) -> int:
    from polysched.graph import load
    check_page_name(arguments.report)
    if arguments.threads is not None and arguments.threads < 1:
        raise UsageError("at least one thread is needed", witness=f"--threads {arguments.threads}")
    places = (arguments.json, arguments.report, arguments.plan)
    if places.count(STANDARD) > 1:
        raise UsageError("only one of --json, --report and --plan can go to the standard output",
                         hint="name files for the others")
    with prepared(arguments.json) as report, prepared(arguments.report) as page, prepared(arguments.plan) as drawn:
        graph = load(arguments.model)
        sizes = dict(arguments.size)
        at = _values(arguments, graph)
        found, plan = _inspected(graph, sizes), ""
        if all(name in at for name in graph.symbols):
            compiled, plan = _compiled(arguments, graph, sizes, at, drawn)
            found |= compiled
        if report is not None:
            report.write_json(found)
        if page is not None:
            page.write(page_of_model(found, plan))
    if STANDARD not in places:
        print("\n".join(lines_of_model(found)))
    return 0


def _values(arguments: argparse.Namespace, graph: Graph) -> dict[str, int]:
    """The values of sizes, fixed and assumed; all of them where something is done with the model."""
    at = {name: values[0] for name, values in arguments.likely} | dict(arguments.assume) | dict(arguments.size)
    check_sizes(graph, at, closed=bool(arguments.verify or arguments.time or arguments.output or arguments.save
                                                   or arguments.plan or arguments.report),
                hint="--size {0}=1, or --assume {0}=1 to leave it open")
    return at


def _inspected(graph: Graph, sizes: Mapping[str, int]) -> dict[str, Any]:
    """What the file says."""
    from collections import Counter

    from polysched.graph.evaluation.steering import steering_inputs
    return {"model": graph.name, "inputs": {name: str(t) for name, t in graph.inputs}, "outputs": list(graph.outputs),
            "sizes": {name: sizes.get(name) for name in graph.symbols}, "steering_inputs": list(steering_inputs(graph)),
            "operators": dict(Counter(node.op for node in graph.walk()).most_common())}


def _compiled(arguments: argparse.Namespace, graph: Graph, sizes: dict[str, int], at: dict[str, int],
              drawn: Output | None) -> tuple[dict[str, Any], str]:
    """What the compiled model is, computes and takes; and its plan for a page that is wanted."""
    from polysched.graph.passes.simple import bind
    from polysched.model.verification import by_onnxruntime, timed
    threads = arguments.threads or len(os.sched_getaffinity(0))
    os.environ["OMP_NUM_THREADS"] = str(threads)   # read when the model is loaded
    bound = bind(graph, at)
    arrays = _inputs(arguments, bound)
    started = time.perf_counter()
    model = _model(arguments, graph, sizes, arrays, _options(arguments, threads))
    model.prepare()
    seconds = time.perf_counter() - started
    own = {name: arrays[name] for name, _ in model.graph.inputs}
    model.run(own)
    found = _facts(model) | {"compile_seconds": round(seconds, 3), "threads": threads, "verified": None}
    found |= _written(arguments, model, drawn)
    if arguments.verify:
        verified = [_verified(arguments, model, graph, point, threads) for point in _points(arguments, at)]
        found |= {"largest_difference": max(v[0] for v in verified), "verified": arguments.verify,
                  "losses": [line for v in verified for line in v[1]]}
    if arguments.time:
        times = timed(lambda _: model.run(own), by_onnxruntime(arguments.model, threads), arrays)
        found |= {"seconds": times.seconds, "ratio": {"onnxruntime": times.ratio}, "interval": list(times.interval)}
    found |= {"islands": [island.as_json() | {"share": share} for island, share in model.shares.items()]}
    return found, model.plan._repr_html_() if arguments.report else ""


def _points(arguments: argparse.Namespace, at: dict[str, int]) -> list[dict[str, int]]:
    """The sizes at which results are compared: every likely value, where the inputs are not those of a file."""
    found = [at]
    if arguments.inputs is None:
        found += [{**at, name: value} for name, values in arguments.likely for value in values if value != at[name]]
    return found


def _verified(arguments: argparse.Namespace, model: CompiledModel | SegmentedModel, graph: Graph, at: dict[str, int],
              threads: int) -> tuple[float, list[str]]:
    """The largest difference from the other evaluation at some sizes, and what short storage costs every output."""
    from polysched.graph.passes.simple import bind
    from polysched.model.verification import by_interpreter, by_onnxruntime, check_beside, check_loss, exact
    bound = bind(graph, at)
    arrays = _inputs(arguments, bound)
    other = by_interpreter(bound) if arguments.verify == "reference" else by_onnxruntime(arguments.model, threads)
    results = model.run({name: arrays[name] for name, _ in model.graph.inputs})
    if arguments.stored != "float32":
        costs = check_loss(results, other(arrays), arguments.verify)
        return max((c.largest for c in costs), default=0.0), [str(c) for c in costs]
    return check_beside(results, other(arrays), lambda: exact(bound)(arrays), arguments.verify), []


def _facts(model: CompiledModel | SegmentedModel) -> dict[str, Any]:
    """What a model consists of, and the arenas of its last call."""
    from polysched.graph.planning.steps import Copies
    arenas = [part.plan.arena_for(part.last_sizes) for part in model.models if part.last_sizes is not None]
    plans = [part.plan for part in model.models]
    variants = {", ".join(step.outputs): told for p in plans for step, told in p.variants.items()}
    return {"variants": variants, "kernels": sum(len(p.kernels) for p in plans), "plans": _measured(model),
            "regions": sum(p.regions for p in plans), "different_kernels": len(model.kernels),
            "copies": sum(isinstance(s, Copies) for p in plans for s in p.walked),
            "library": ", ".join(str(part.library) for part in model.models),
            "arena_bytes": sum(a.bytes for a in arenas), "peak_bytes": sum(a.peak_bytes for a in arenas),
            "open_sizes": list(model.graph.symbols)}


def _measured(model: CompiledModel | SegmentedModel) -> list[dict[str, Any]]:
    """The plans that were timed, the kept one first; a model with islands has none."""
    return [plan for part in model.models if part.race is not None for plan in part.race.as_json()]


def _model(arguments: argparse.Namespace, graph: Graph, sizes: dict[str, int], arrays: Mapping[str, Any],
           options: PipelineOptions) -> CompiledModel | SegmentedModel:
    """The model: conditions are decided when it runs, where that is possible; else their values are bound."""
    from polysched.errors import UnsupportedGraphError
    from polysched.graph.evaluation.steering import steering_inputs
    from polysched.model import compile_graph, compile_with_islands
    if fixed := [name for name, _ in arguments.likely if name in sizes]:
        raise UsageError(f"the size {fixed[0]} is fixed", witness=f"--size {fixed[0]}={sizes[fixed[0]]}",
                         hint="leave out --size or --likely")
    likely = {n: v for n, v in {**dict(arguments.assume), **dict(arguments.likely)}.items() if n not in sizes}
    names = _steering(graph, arguments.islands)
    less = [n for n in names if n in steering_inputs(graph, control=False)]
    how: dict[str, Any] = {"sizes": sizes, "options": options, "fusion": arguments.fusion,
                           "measure_plans": arguments.measure_plans, "inputs": arrays, "likely": likely,
                           "stored": arguments.stored}
    if less != names:
        try:
            return compile_graph(graph, values={n: arrays[n] for n in less}, **how)
        except UnsupportedGraphError:
            pass   # whose reason the compilation for their values says, if that is refused, too
    make = compile_graph if arguments.islands == "refuse" else compile_with_islands
    return make(graph, values={n: arrays[n] for n in names}, **how)


def _steering(graph: Graph, islands: str) -> list[str]:
    """The inputs that are bound to their values, because they decide about shapes.

    Where islands are allowed, an input of several dimensions is data: what decides about shapes by it is an island.
    """
    from polysched.graph.evaluation.steering import steering_inputs
    types = dict(graph.inputs)
    return [name for name in steering_inputs(graph) if islands == "refuse" or types[name].rank < 2]


def _written(arguments: argparse.Namespace, model: CompiledModel | SegmentedModel,
             drawn: Output | None) -> dict[str, Any]:
    """The files that were asked for."""
    found: dict[str, Any] = {}
    if arguments.output:
        found["source"] = str(model.write_source(arguments.output))
    if drawn is not None:
        drawn.write(_plan_text(Path(arguments.plan), model))
        found["plan"] = arguments.plan
    if arguments.save:
        found["saved"] = [str(path) for path in model.save(arguments.save)]
    return found


def _plan_text(path: Path, model: CompiledModel | SegmentedModel) -> str:
    """The plan as a picture or as text."""
    from polysched.model import CompiledModel
    if path.suffix == ".svg" and not isinstance(model, CompiledModel):
        raise UsageError("a model with islands has a picture per segment", witness=str(path),
                         hint="write an .html file")
    return model.plan._repr_html_() if path.suffix in (".svg", ".html") else f"{model.plan}\n"


def _options(arguments: argparse.Namespace, threads: int) -> PipelineOptions:
    """How kernels are made; records are of a number of threads."""
    from dataclasses import replace

    from polysched.pipeline import PipelineOptions
    from polysched.tiling import TilingOptions
    target = chosen_target(arguments)
    if arguments.database is not None:
        target = replace(target, cores=threads)
    return PipelineOptions(cc=arguments.cc, database=arguments.database, tiling=TilingOptions(target=target))


def _inputs(arguments: argparse.Namespace, graph: Graph) -> dict[str, Any]:
    """The arrays of a file, or random ones."""
    import numpy as np

    from polysched.model.verification import random_inputs
    if arguments.inputs is None:
        return random_inputs(graph, arguments.seed)
    try:
        with np.load(Path(arguments.inputs), allow_pickle=False) as file:
            given = {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise UsageError("the inputs cannot be read", where=arguments.inputs, witness=str(error),
                         hint="write them by numpy.savez(FILE, name=array, ...)") from None
    missing = [name for name, _ in graph.inputs if name not in given]
    if missing:
        raise UsageError(f"the file has no input {missing[0]!r}", where=arguments.inputs)
    return given
