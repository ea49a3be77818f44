"""A random ONNX model by the interpreter of graphs and compiled, against ONNX Runtime and ONNX's references.

The two others differ at times: a result is right where one of them has it.  The compiled model has what the interpreter
has, or what another has that agrees with the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polysched.errors import PolyschedError, UnsupportedGraphError, UsageError, WrongResultError
from polysched.fuzz.graph_campaign import OUR_FAULTS, REFUSED, RIGHT, WRONG, GraphRecord
from polysched.fuzz.onnx_models.drawing import reads
from polysched.fuzz.onnx_models.models import RandomModel, random_model
from polysched.graph.evaluation.interpreter import interpret
from polysched.graph.reading.onnx_reader import load
from polysched.graph.values.graph import Graph
from polysched.model.compiled_model import CompiledModel
from polysched.model.compiling import compile_graph
from polysched.model.verification import Arrays, differences

HALF_TOLERANCE = 2e-2
"""Of an element and of the largest one, for results in half precision: some operations that are rounded one by one."""
Evaluation = Callable[[Arrays], Mapping[str, np.ndarray]]


def by_runtime(proto: Any) -> Evaluation:
    """The model by ONNX Runtime without its optimisations, in one thread."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 1, 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda arrays: dict(zip(names, session.run(names, dict(arrays)), strict=True))


def by_reference(proto: Any) -> Evaluation:
    """The model by the references that onnx has of its operators."""
    from onnx.reference import ReferenceEvaluator
    evaluator = ReferenceEvaluator(proto)
    return lambda arrays: dict(zip(evaluator.output_names, map(np.asarray, evaluator.run(None, dict(arrays))),
                                   strict=True))


def node_by_node(proto: Any) -> Evaluation:
    """Every node by ONNX Runtime; by its reference where that refuses it."""
    import onnx
    initial = {t.name: onnx.numpy_helper.to_array(t) for t in proto.graph.initializer}

    def evaluate(arrays: Arrays) -> dict[str, np.ndarray]:
        found = {**initial, **arrays}
        for node in proto.graph.node:
            found |= _node(proto, node, found)
        return {output.name: found[output.name] for output in proto.graph.output}
    return evaluate


def _node(proto: Any, node: Any, found: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """The results of one node, by ONNX's reference where ONNX Runtime fails, whose errors have no common class."""
    import onnx

    def info(name: str, array: np.ndarray) -> Any:
        element = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        return onnx.helper.make_tensor_value_info(name, element, array.shape)
    read = dict.fromkeys(name for name in reads(node) if name in found)
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    own = onnx.helper.make_graph([node], "node", [info(n, found[n]) for n in read], outputs)
    one = onnx.helper.make_model(own, opset_imports=proto.opset_import, ir_version=proto.ir_version)
    one = onnx.shape_inference.infer_shapes(one)
    given = {name: found[name] for name in read}
    try:
        return by_runtime(one)(given)
    except Exception:
        return by_reference(one)(given)


OTHERS: dict[str, Callable[[Any], Evaluation]] = {
    "ONNX Runtime": by_runtime, "ONNX's reference": by_reference, "ONNX Runtime, node by node": node_by_node}
"""Those who know what a model computes."""


def wanted(proto: Any, arrays: Arrays) -> dict[str, Mapping[str, np.ndarray]]:
    """What others compute; one that fails, in whatever way, has no say."""
    found: dict[str, Mapping[str, np.ndarray]] = {}
    for name, evaluation in OTHERS.items():
        if evaluation is node_by_node and "ONNX Runtime" in found:
            continue
        try:
            with np.errstate(all="ignore"):
                found[name] = evaluation(proto)(arrays)
        except Exception:
            continue
    return found


def why_differs(found: Arrays, right: Arrays) -> str:
    """How results differ from others; empty where they do not."""
    try:
        for each in differences(found, right):
            if each.place is not None and not _is_near(found[each.output], right[each.output]):
                return f"{each.output}: {each.witness}"
    except WrongResultError as error:
        return f"{error.problem}: {error.witness}"
    return ""


def _is_near(found: np.ndarray, right: np.ndarray) -> bool:
    """Whether halves are as near as roundings in between allow."""
    if found.dtype != np.float16:
        return False
    wide, other = found.astype(float), right.astype(float)
    finite = np.abs(other[np.isfinite(other)])
    return bool(np.allclose(wide, other, rtol=HALF_TOLERANCE, atol=HALF_TOLERANCE * finite.max(initial=0.0),
                            equal_nan=True))


def check_model(seed: int, *, compiled: bool = True) -> GraphRecord:
    """One model: the interpreter of graphs and, unless told otherwise, the compiled model have what another has."""
    drawn = random_model(seed)
    try:
        graph = load(drawn.proto)
        record = _checked(seed, drawn, graph, compiled)
    except OUR_FAULTS as error:
        return GraphRecord(seed, WRONG, f"{error.problem}: {error.witness}; {_named(drawn, drawn.inputs)}")
    except PolyschedError as error:
        return _refused(seed, drawn, error)
    return record


def _refused(seed: int, drawn: RandomModel, error: PolyschedError) -> GraphRecord:
    """A model that another runs is refused; one that nobody runs is no finding."""
    others = wanted(drawn.proto, drawn.inputs)
    if not others:
        return GraphRecord(seed, RIGHT, "nobody runs it")
    return GraphRecord(seed, REFUSED, f"{error.problem} ({error.where}, operator set {drawn.version})")


def _checked(seed: int, drawn: RandomModel, graph: Graph, compiled: bool) -> GraphRecord:
    """The record of a model that was read."""
    model = None
    told = ""
    for number, arrays in enumerate(drawn.calls()):
        others = wanted(drawn.proto, arrays)
        if number and "ONNX Runtime" not in others:   # the references check little
            continue   # no other size
        with np.errstate(all="ignore"):
            own = _interpreted(graph, arrays, is_first=number == 0)
        if own is None:
            continue
        problem = _judged(own, others)
        if problem:
            return GraphRecord(seed, WRONG, f"interpreted: {problem}; {_named(drawn, arrays)}")
        if compiled:
            model = model or _compiled(graph, drawn)
            found = _run(model, arrays, is_first=number == 0)
            told = told or ("" if found else "compiled for some sizes only")
            problem = _judged(found, _with(own, others)) if found else ""
        if problem:
            return GraphRecord(seed, WRONG, f"compiled: {problem}; {_named(drawn, arrays)}")
        told = told or ("" if others else "no other evaluation")
    return GraphRecord(seed, RIGHT, told)


def _interpreted(graph: Graph, arrays: Arrays, *, is_first: bool) -> Arrays | None:
    """What the interpreter has; None for a further size that it refuses."""
    try:
        return interpret(graph, arrays)
    except (UnsupportedGraphError, UsageError):
        if is_first:
            raise
        return None


def _compiled(graph: Graph, drawn: RandomModel) -> CompiledModel:
    """The model for any size; where that is refused, for the size that was drawn."""
    try:
        return compile_graph(graph)
    except UnsupportedGraphError:
        if not graph.symbols or drawn.opened is None:
            raise
    name, axis = drawn.opened
    size = int(drawn.inputs[name].shape[axis])
    return compile_graph(graph, sizes=dict.fromkeys(graph.symbols, size))


def _run(model: CompiledModel, arrays: Arrays, *, is_first: bool) -> Arrays:
    """The compiled model; nothing for a further size that it is not for."""
    fits = all(e == arrays[n].shape[d] for n, t in model.graph.inputs for d, e in enumerate(t.shape) if e.is_constant)
    try:
        return model.run(arrays) if fits else {}
    except UnsupportedGraphError:
        if is_first:
            raise
        return {}


def _with(own: Arrays, others: Mapping[str, Arrays]) -> dict[str, Arrays]:
    """What the interpreter has, and those others who agree with it."""
    return {"the interpreter": own, **{name: right for name, right in others.items() if not why_differs(own, right)}}


def _judged(found: Arrays, others: Mapping[str, Arrays]) -> str:
    """How results differ from those of all others; empty where one of them agrees, or where there is none."""
    told = {name: why_differs(found, right) for name, right in others.items()}
    return "" if not told or not all(told.values()) else "; ".join(f"{name}: {why}" for name, why in told.items())


def _named(drawn: RandomModel, arrays: Arrays) -> str:
    """What a model consists of."""
    shapes = ", ".join(f"{n}: {a.dtype}{list(a.shape)}" for n, a in arrays.items())
    return f"{', '.join(drawn.operators)} of operator set {drawn.version} on {shapes}"
