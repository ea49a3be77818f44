"""The derivative of every operator with floats, beside differences of its reference; or why there is none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Graph, Node, TensorType, interpret
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.differentiation.gradients import differentiated
from polysched.graph.passes.differentiation.rules import RULES
from tests.graph.samples import SAMPLES, Sample

STEP = 1e-6
REFUSED = {"BitCast", "BlockedConv", "BlockedDepthwise", "ChannelsLastConv"}
"""Operators without a derivative: bits, layouts that passes make after derivatives."""
REFUSED_FORMS = {("GatherND", "batch_dims"), ("ScatterElements", "max"), ("ScatterElements", "min"),
                 ("ScatterElements", "mul"), ("Einsum", "ii"), ("Einsum", "ii->i")}
APPROXIMATE = {"FastExp": 2e-3}
"""Operators whose differences are not smooth: the error that they state."""


def wide(value: Any) -> Any:
    """Doubles in place of shorter floats, in arrays and in names of types."""
    if isinstance(value, np.ndarray):
        return value.astype(np.float64) if value.dtype.kind == "f" else value
    return "float64" if value in ("float16", "float32") else value


def forward(case: Sample) -> tuple[Graph, dict[str, np.ndarray]]:
    """The operator on doubles; other operands, and those that decide about shapes, are constants."""
    op, operands, attributes, results = case
    arrays = {f"x{p}": wide(o) for p, o in enumerate(operands) if o is not None}
    fixed = {n for n, a in arrays.items() if a.dtype.kind != "f" or int(n[1:]) in OPERATORS[op].steering}
    node = Node.of(op, ["" if o is None else f"x{p}" for p, o in enumerate(operands)],
                   [f"o{k}" for k in range(results)], {k: wide(v) for k, v in attributes.items()})
    graph = Graph(name="g", nodes=(node,), outputs=("o0",), constants={n: arrays[n] for n in fixed},
                  inputs=tuple((n, TensorType.of_array(a)) for n, a in arrays.items() if n not in fixed))
    return graph, {n: a for n, a in arrays.items() if n not in fixed}


def cases() -> list[Any]:
    """The samples that have floats, finite and not empty, and make such; numbered by operator, so that names stay."""
    found: list[Any] = []
    numbers: Counter[str] = Counter()
    for case in SAMPLES:
        graph, arrays = forward(case)
        try:
            made = interpret(graph, arrays)["o0"] if arrays else np.zeros(0)
        except UnsupportedGraphError:   # of float32 only
            continue
        if made.dtype.kind == "f" and made.size and all(np.isfinite(a).all() and a.size for a in arrays.values()):
            found.append(pytest.param(case, id=f"{case[0]}-{numbers[case[0]]}"))
            numbers[case[0]] += 1
    return found


def is_refused(case: Sample) -> bool:
    op, _, attributes, _ = case
    said = {op, *attributes, *(str(v) for v in attributes.values())}
    return op in REFUSED or any(name == op and (word in said or (op == "Einsum" and str(
        attributes["equation"]).replace(" ", "") == word)) for name, word in REFUSED_FORMS)


@pytest.mark.parametrize("case", cases())
def test_a_derivative_is_that_of_differences(case: Sample) -> None:
    graph, arrays = forward(case)
    names, made = tuple(arrays), interpret(graph, arrays)["o0"]
    weights = np.random.default_rng(3).normal(size=made.shape)
    asked = graph.but(constants={**graph.constants, "w": weights}, outputs=tuple(f"d{n}" for n in names), nodes=(
        *graph.nodes, Node.of("Mul", ("o0", "w"), ("y",)),
        Node.of("Gradient", names, [f"d{n}" for n in names], {"xs": names, "y": "y"})))
    if is_refused(case):
        with pytest.raises(UnsupportedGraphError, match=r"derivative|bits of float64"):
            differentiated(asked)
        return
    found = interpret(differentiated(asked), arrays)
    tolerance = APPROXIMATE.get(case[0], 1e-4)
    for name in names:
        places = list(np.ndindex(arrays[name].shape))
        for place in places[::max(1, len(places) // 12)]:
            ends = []
            for step in (STEP, -STEP):
                moved = arrays[name].copy()
                moved[place] += step
                ends.append(interpret(graph, {**arrays, name: moved})["o0"])
            if not is_written_twice(case, name, place):
                difference = ((ends[0] - ends[1]) * weights).sum() / (2 * STEP)   # no sums of large and small ones
                assert np.isclose(found[f"d{name}"][place], difference, rtol=tolerance, atol=1e-5), (name, place)


def is_written_twice(case: Sample, name: str, place: tuple[int, ...]) -> bool:
    """Whether another update stands where this one is scattered to: ONNX does not say which one stays."""
    op, operands, attributes, _ = case
    if (op, name, attributes.get("reduction")) != ("ScatterElements", "x2", "none"):
        return False
    index = operands[1]
    assert index is not None
    line = index[tuple(slice(None) if d == attributes["axis"] else p for d, p in enumerate(place))]
    return bool((line == index[place]).sum() > 1)


def test_every_rule_is_of_an_operator() -> None:
    assert set(RULES) <= set(OPERATORS)
