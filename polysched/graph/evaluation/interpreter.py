"""A graph run in NumPy, node by node: what every compiled model is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.given import given_array
from polysched.graph.evaluation.inference import site_of
from polysched.graph.evaluation.sequences import item_names, run_structured, tensors_of
from polysched.graph.operators.control import BRANCH, CALL, IF, LOOP, REPEAT, SCAN, check_regions, repeated, rows_of
from polysched.graph.operators.families.sequences import MAP, STRUCTURED
from polysched.graph.operators.operator import Site
from polysched.graph.operators.registry import operator_of
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Part, Remedy, refused
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BFLOAT16, FLOAT32


def interpret(graph: Graph, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of a graph for arrays of its inputs, by the references of its operators.

    Shapes may differ from call to call where the graph has symbols.  The elements of an output `s` that is a sequence
    are the outputs `s[0]`, `s[1]`, ...  A result that has another type than was inferred
    is a fault of an operator's description and raises `UnsupportedGraphError`.

    Raises
    ------
    UnsupportedGraphError : an input is missing or has another type.
    UsageError : an input is a masked array.
    """
    values: dict[str, np.ndarray] = dict(graph.constants)
    for name, its_type in graph.inputs:
        if name not in inputs:
            raise UnsupportedGraphError(f"the input {name!r} is missing", where=f"graph {graph.name}",
                                        hint=f"inputs: {', '.join(f'{n}: {t}' for n, t in graph.inputs)}")
        values[name] = given_array(name, inputs[name])
        check_input(name, its_type, values[name])
    for node in graph.nodes:
        values |= run_node(node, values)
    return {name: value for output in graph.outputs for name, value in _tensors(graph, output, values[output])}


def _tensors(graph: Graph, output: str, value: Any) -> list[tuple[str, np.ndarray]]:
    """An output; of a sequence, its elements."""
    found = tensors_of(output, value)
    if value is None or isinstance(value, list):
        item_names(output, len(found), graph)   # refuses names that a value has
    return found


def check_input(name: str, its_type: TensorType, value: np.ndarray) -> None:
    """Refuse an array of another type than an input has.

    Raises
    ------
    UnsupportedGraphError : element type, rank or a known extent differ.
    """
    own = value.dtype != its_type.numpy or value.ndim != its_type.rank or any(
        e.is_constant and e.constant != n for e, n in zip(its_type.shape, value.shape, strict=True))
    if own:
        raise UnsupportedGraphError(f"the input {name!r} is {its_type}",
                                    witness=f"{value.dtype}[{', '.join(map(str, value.shape))}]",
                                    hint="give an array of that type and shape")


def run_node(node: Node, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The results of one node, compared with the types that its operator promises."""
    if node.regions and node.op != MAP:
        return dict(zip(node.outputs, run_regions(node, values), strict=False))
    sequences = [n for n in node.inputs if isinstance(values.get(n, ()), list | None)]
    if node.op in STRUCTURED or (sequences and node.op == "Identity"):
        return _run_map(node, values) if node.op == MAP else {node.outputs[0]: run_structured(node, values)}
    if sequences:
        raise refused(node, "a sequence or an optional stands where a tensor is wanted",
                      tuple(p for p, n in enumerate(node.inputs) if n in sequences), witness=sequences[0],
                      hint="take an element by SequenceAt or OptionalGetElement")
    return _run_operator(node, values)


def _run_operator(node: Node, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The results of an operator on tensors."""
    operator = operator_of(node)
    types = {n: TensorType.of_array(values[n]) for n in node.inputs if n in values}
    site = site_of(node, types, values)
    promised = operator.checked_types(site)
    site = Site(node=node, inputs=site.inputs, known=site.known, outputs=promised)
    if operator.widens_at(node) and any(t is not None and t.dtype == BFLOAT16 for t in site.inputs):
        return _run_widened(node, values, promised)
    results = operator.reference(site, *(values[n] if n else None for n in node.inputs))
    listed = results if isinstance(results, tuple) else (results,)
    found: dict[str, np.ndarray] = {}
    for name, its_type, value in zip(node.outputs, promised, listed, strict=False):
        if TensorType.of_array(np.asarray(value)) != its_type:
            raise refused(node, f"the reference of {node.op} makes another type than it promises", Part.RESULTS,
                          witness=f"{TensorType.of_array(value)}, not {its_type}",
                          hint=Remedy.FAULT)
        if name:
            found[name] = np.asarray(value)
    return found


def _run_widened(node: Node, values: Mapping[str, np.ndarray], promised: Sequence[TensorType]) -> dict[str, np.ndarray]:
    """The results of an operator on bfloat16, computed in float32 and rounded."""
    wide = {n: values[n].astype(np.float32) if TensorType.of_array(values[n]).dtype == BFLOAT16 else values[n]
            for n in node.inputs if n}
    attributes = tuple((n, FLOAT32.name if v == BFLOAT16.name else v) for n, v in node.attributes)
    found = _run_operator(replace(node, attributes=attributes), wide)
    return {name: found[name].astype(its_type.numpy) for name, its_type in zip(node.outputs, promised, strict=False)
            if name}


def run_regions(node: Node, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The results of a node with regions."""
    check_regions(node)
    runs = {IF: _run_if, LOOP: _run_loop, SCAN: _run_scan, CALL: _run_call, BRANCH: _run_branch, REPEAT: _run_repeat}
    return runs[node.op](node, values)


def _run_map(node: Node, values: Mapping[str, Any]) -> dict[str, Any]:
    """The results of a body for the elements of sequences; other operands are the same for each."""
    given = [values[n] for n in node.inputs]
    count = len(given[0])
    if any(isinstance(v, list) and len(v) != count for v in given):
        raise refused(node, "sequences of different lengths are mapped together",
                      tuple(p for p, n in enumerate(node.inputs) if isinstance(values[n], list)),
                      hint="give sequences of one length")
    rows = [_region(node.regions[0], [v[k] if isinstance(v, list) else v for v in given], values)
            for k in range(count)]
    return {output: [row[place] for row in rows] for place, output in enumerate(node.outputs)}


def _stacked(node: Node, rows: Sequence[np.ndarray], axis: int = 0) -> np.ndarray:
    """What every iteration made, along a new axis."""
    if not rows:
        raise refused(node, "a loop without iterations stacks values of no known type", Part.WHOLE,
                      hint="give a number of iterations of at least 1")
    return np.stack(rows, axis=axis)


def _region(region: Graph, given: Sequence[np.ndarray], values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The results of a region; what it binds is forgotten."""
    inner = {**values, **region.constants, **dict(zip(region.parameters, given, strict=True))}
    for node in region.nodes:
        inner |= run_node(node, inner)
    return [inner[name] for name in region.outputs]


def _run_if(node: Node, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    yes, no = node.regions
    return _region(yes if bool(values[node.inputs[0]].ravel()[0]) else no, (), values)


def _run_call(node: Node, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    return _region(node.regions[0], [values[n] for n in node.inputs], values)


def _run_loop(node: Node, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    limit, condition = (values[n].ravel()[0] if n else None for n in node.inputs[:2])
    carried = [values[n] for n in node.inputs[2:]]
    collected: list[list[np.ndarray]] = [[] for _ in range(len(node.regions[0].outputs) - 1 - len(carried))]
    goes_on, step = True if condition is None else bool(condition), 0
    while goes_on and (limit is None or step < limit):
        results = _region(node.regions[0], (np.array(step, np.int64), np.array(goes_on), *carried), values)
        goes_on, carried = bool(results[0].ravel()[0]), results[1:1 + len(carried)]
        for column, result in zip(collected, results[1 + len(carried):], strict=True):
            column.append(result)
        step += 1
    return [*carried, *(_stacked(node, column) for column in collected)]


def _run_scan(node: Node, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    count = int(node.attribute("num_scan_inputs"))
    states, scanned = [values[n] for n in node.inputs[:-count]], [values[n] for n in node.inputs[-count:]]
    rows_of(node, [TensorType.of_array(x) for x in scanned])
    axes = node.attribute("scan_input_axes", (0,) * count)
    backwards = node.attribute("scan_input_directions", (0,) * count)
    rows = [np.moveaxis(x, a, 0)[::-1 if b else 1] for x, a, b in zip(scanned, axes, backwards, strict=True)]
    collected: list[list[np.ndarray]] = [[] for _ in range(len(node.regions[0].outputs) - len(states))]
    for slices in zip(*rows, strict=True):
        results = _region(node.regions[0], (*states, *slices), values)
        states = results[:len(states)]
        for column, result in zip(collected, results[len(states):], strict=True):
            column.append(result)
    out_axes = node.attribute("scan_output_axes", (0,) * len(collected))
    back = node.attribute("scan_output_directions", (0,) * len(collected))
    stacked = [_stacked(node, c[::-1] if b else c, a) for c, a, b in zip(collected, out_axes, back, strict=True)]
    return [*states, *stacked]


def _run_branch(node: Node, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    yes, no = node.regions
    taken = yes if bool(values[node.inputs[0]].ravel()[0]) else no
    return _region(taken, [values[n] for n in node.inputs[1:]], {})


def _run_repeat(node: Node, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    own, body = repeated(node), node.regions[0]
    carried, captured = [values[n] for n in own.carried], [values[n] for n in own.captured]
    rows = [values[n][::-1 if b else 1] for n, b in zip(own.sliced, own.backwards, strict=True)]
    limit, condition = (values[n].ravel()[0] if n else None for n in (own.limit, own.condition))
    collected: list[list[np.ndarray]] = [[] for _ in own.stacked]
    goes_on, step = own.steady or condition is None or bool(condition), 0
    while goes_on and (limit is None or step < limit):
        given = (np.array(step, np.int64), np.array(goes_on), *carried, *(r[step] for r in rows), *captured)
        results = _region(body, given, {})
        goes_on = own.steady or bool(results[0].ravel()[0])
        carried = results[1:1 + len(carried)]
        _append(collected, results[1 + len(carried):])
        step += 1
    return [*carried, *map(partial(_filled, node), collected, own.stacked_backwards)]


def _filled(node: Node, rows: Sequence[np.ndarray], backwards: bool) -> np.ndarray:
    return _stacked(node, rows[::-1] if backwards else rows)


def _append(collected: list[list[np.ndarray]], row: Sequence[np.ndarray]) -> None:
    for column, result in zip(collected, row, strict=True):
        column.append(result)
