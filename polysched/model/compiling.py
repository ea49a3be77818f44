"""A graph of operators as one compiled model, alone or beside nodes that run elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from polysched.errors import UnsupportedGraphError, UsageError
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.control import resolve_control, resolve_sequences
from polysched.graph.passes.dead_code import remove_dead_code
from polysched.graph.passes.precision import mixed_precision
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import bind
from polysched.graph.values.graph import Graph
from polysched.model.compiled_model import CompiledModel
from polysched.model.likely import LikelySizes, likely_sizes, without_unknown
from polysched.model.measured_plans import race
from polysched.model.planned import FUSIONS, Fusion, best_plans, planned
from polysched.model.segmented_model import SegmentedModel
from polysched.model.segments import segments
from polysched.pipeline.options import PipelineOptions

Stored: TypeAlias = Literal["float32", "float16", "bfloat16"]


def compile_graph(graph: Graph, *, sizes: Mapping[str, int] | None = None,
                  values: Mapping[str, np.ndarray] | None = None, likely: LikelySizes | None = None,
                  options: PipelineOptions | None = None,
                  fusion: Fusion = "auto", measure_plans: bool = False,
                  inputs: Mapping[str, np.ndarray] | None = None, stored: Stored = "float32") -> CompiledModel:
    """A graph as a function of arrays by name; an output `s` that is a sequence is the outputs `s[0]`, `s[1]`, ...

    Parameters
    ----------
    sizes : values of symbols of its shapes; the others stay open, and every call says them by its arrays.
    values : values of inputs that decide about shapes; such an input is no argument of the model any more.
    likely : values that sizes which stay open probably have, several of one of them: its kernels get a code per value,
        at most `LIMITS.most_variants` of them, and the driver chooses one by the size of the call.  All sizes are
        computed right.
    fusion : `greedy` puts elementwise nodes with the producers that only they use into one kernel; `cost` also takes
        sums, products and normalisations into one loop over tiles, and runs independent kernels in one parallel
        region, where the plan of least cost has them so; `auto` is `cost` where fusion by dominators is not better by
        the model, sizes are known or have likely values, of which the largest counts, and nodes are few.
    measure_plans : compile the best few plans by cost and the greedy one, compare each with the interpreter, and race
        them here: the fastest is kept, the greedy one unless the interval of another one's gain lies above 1
        (`CompiledModel.race` says all times, and ties); the fusion counts for nothing.
    inputs : arrays for which plans are compared and timed; random ones unless given.
    stored : `float16` stores operands and results of products, and what follows them, in 16 bits; `bfloat16` constant
        weights alone.  Sums are float32, and so are inputs and outputs; `verification.losses` says what it costs.

    Raises
    ------
    UsageError : there is no such fusion or storage, likely values are of no open size, or plans of a graph with open
        sizes or of short storage are to be measured.
    UnsupportedGraphError : a node is not had, or not for a size that is open; nothing is compiled before that is known.
    """
    bound = resolve_sequences(bind(graph, sizes, values))
    chosen = options or PipelineOptions()
    if fusion not in FUSIONS:
        raise UsageError("nodes are fused greedily or by cost", witness=f"fusion={fusion!r}",
                         hint=f"one of {', '.join(FUSIONS)}")
    sizes_for_costs = {name: values[-1] for name, values in likely_sizes(bound, likely).items()}
    if measure_plans:
        if stored != "float32":
            raise UsageError("plans are measured of float32 models", witness=f"stored={stored!r}",
                             hint="leave measure_plans or stored out")
        return measured(bound, chosen, inputs)
    by_cost = chosen if chosen.device is None else None   # no model runs on a device, which is said below
    kept = bound if stored == "float32" else mixed_precision(standard(bound), stored)
    plan = planned(kept, chosen.target(), options=by_cost, fusion=fusion, sizes=sizes_for_costs)
    ranges = infer(remove_dead_code(resolve_control(bound))).ranges if bound.symbols else ()
    return CompiledModel(bound, replace(plan, ranges=ranges), chosen, likely=likely)


def measured(graph: Graph, options: PipelineOptions, inputs: Mapping[str, np.ndarray] | None = None) -> CompiledModel:
    """The fastest of the best plans of a graph, which knows the times of all.

    Raises
    ------
    UsageError : a size is open, or a device is named.
    """
    if graph.symbols:
        raise UsageError("plans of open sizes are not measured", where=f"graph {graph.name}",
                         witness=", ".join(graph.symbols), hint="fix them by sizes=, or leave measure_plans out")
    if options.device is not None:
        raise UsageError(f"compiled models do not run on {options.device}", witness=f"device {options.device}",
                         hint="leave the device out, or use @polysched.kernel or polysched.source_to_source")
    found = race(graph, best_plans(graph, options.target(), options), options, inputs=inputs)
    model = found.fastest
    model.race = found
    return model


def compile_with_islands(graph: Graph, *, sizes: Mapping[str, int] | None = None,
                         values: Mapping[str, np.ndarray] | None = None, likely: LikelySizes | None = None,
                         options: PipelineOptions | None = None, fusion: Fusion = "auto",
                         measure_plans: bool = False, inputs: Mapping[str, np.ndarray] | None = None,
                         stored: Stored = "float32") -> CompiledModel | SegmentedModel:
    """A graph of which some nodes may run on ONNX Runtime, or on `onnx.reference` where that is not there.

    These are nodes whose shapes follow from data, and those that have no affine form; the plan says them, with the
    reason.  A graph without such nodes is compiled as `compile_graph` does.

    Parameters
    ----------
    sizes, values, likely, fusion, measure_plans, inputs, stored : see `compile_graph`; only a graph without islands has
        its plans measured.

    Raises
    ------
    UnsupportedGraphError : a node is not had, and no runtime takes it, either.
    """
    try:
        return compile_graph(graph, sizes=sizes, values=values, likely=likely, options=options, fusion=fusion,
                             measure_plans=measure_plans, inputs=inputs, stored=stored)
    except UnsupportedGraphError as error:
        bound = bind(graph, sizes, values)
        cut = segments(bound)
        if not cut.islands:
            raise error from None
    models = tuple(compile_graph(part, options=options, fusion=fusion, likely=without_unknown(part, likely),
                                 stored=stored) for part in cut.parts if isinstance(part, Graph))
    return SegmentedModel(bound, cut, models)
