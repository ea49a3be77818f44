"""Ways to draw nodes over time: recurrent cells with operands left out, branches, loops and scans, attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polysched.fuzz.onnx_models.drawing import Known, ModelDrawing

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {"Tanh": 0, "Sigmoid": 0, "Relu": 0, "Softsign": 0, "Elu": 1, "LeakyRelu": 1, "HardSigmoid": 2,
               "ScaledTanh": 2, "Affine": 2}
"""The functions of cells, and how many parameters each has, which are all given: the others' defaults differ."""
INNER = ("Tanh", "Sigmoid", "Relu", "Neg", "Abs", "Softsign")
TYPED = ("float32", "float64")


def recurrent(d: ModelDrawing) -> None:
    """A recurrent cell: directions, activations, lengths, states; most of them may be left out."""
    op = d.draw.choice(tuple(GATES))
    gates = GATES[op]
    steps, batch, size, hidden = (d.draw.randint(1, 3) for _ in range(4))
    direction = d.draw.choice((None, "forward", "reverse", "bidirectional"))
    ways = 2 if direction == "bidirectional" else 1
    x = d.given(d.array("float32", (steps, batch, size)))

    def numbers(*shape: int) -> str:
        return d.operand("float32", shape, -1, 1)
    state = (ways, batch, hidden)
    operands = [x, numbers(ways, gates * hidden, size), numbers(ways, gates * hidden, hidden),
                numbers(ways, 2 * gates * hidden) if d.chance(0.5) else "",
                d.operand("int32", (batch,), 1, steps + 1) if d.chance(0.3) else "",
                numbers(*state) if d.chance(0.5) else ""]
    if op == "LSTM":
        operands += [numbers(*state) if operands[-1] else "", numbers(ways, 3 * hidden) if d.chance(0.3) else ""]
    how = _cell(d, op, ways, hidden) | {"direction": direction}
    d.add(op, *_without_ends(operands), results=d.draw.randint(1, 3 if op == "LSTM" else 2), **how)


def _without_ends(operands: list[str]) -> list[str]:
    """Operands up to the last one that is given."""
    last = max(k for k, name in enumerate(operands) if name)
    return operands[:last + 1]


def _cell(d: ModelDrawing, op: str, ways: int, hidden: int) -> dict[str, Any]:
    """Attributes of a cell."""
    how: dict[str, Any] = {"hidden_size": hidden}
    if op == "GRU" and d.chance(0.5):
        how["linear_before_reset"] = 1
    if op != "LSTM" and d.chance(0.2):   # ONNX Runtime clips cell states, too
        how["clip"] = 0.7
    if d.chance(0.3):
        per_way = {"RNN": 1, "GRU": 2, "LSTM": 3}[op]
        names = [d.draw.choice(tuple(ACTIVATIONS)) for _ in range(per_way * ways)]
        how |= {"activations": names, "activation_alpha": [0.4 for n in names if ACTIVATIONS[n] > 0] or None,
                "activation_beta": [0.3 for n in names if ACTIVATIONS[n] > 1] or None}
    return how


def _chain(d: ModelDrawing, x: str, stem: str) -> tuple[list[Any], str]:
    """Some nodes, one behind the other, and the last one's result."""
    import onnx
    nodes = []
    for k in range(d.draw.randint(0, 3)):
        nodes.append(onnx.helper.make_node(d.draw.choice(INNER), [x], [f"{stem}_{k}"]))
        x = f"{stem}_{k}"
    return nodes, x


def _typed(name: str, known: Known) -> Any:
    import onnx
    dtype = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(known.dtype))
    return onnx.helper.make_tensor_value_info(name, dtype, known.shape)


def _named(d: ModelDrawing) -> tuple[str, Callable[[str], str]]:
    """A value that may be computed with in a region, and names that no other node has."""
    x = d.value(lambda k: 0 not in k.shape, dtypes=TYPED)
    number = len(d.nodes)
    return x, lambda stem: f"{stem}{number}"


def branch(d: ModelDrawing) -> None:
    """A condition that is data or known; a side may return what stands around it, or a constant."""
    import onnx
    x, name = _named(d)
    own = d.known[x]
    sides = []
    for side in ("yes", "no"):
        nodes, last = _chain(d, x, name(side))
        if d.chance(0.2):
            value = onnx.numpy_helper.from_array(d.array(own.dtype, own.shape))
            nodes, last = [*nodes, onnx.helper.make_node("Constant", [], [name(f"{side}_c")], value=value)], name(
                f"{side}_c")
        if last == x:
            nodes, last = [*nodes, onnx.helper.make_node("Identity", [x], [name(f"{side}_i")])], name(f"{side}_i")
        sides.append(onnx.helper.make_graph(nodes, side, [], [_typed(last, own)]))
    condition = d.operand("bool", d.draw.choice(((), (1,))))
    d.take(onnx.helper.make_node("If", [condition], [name("branch")], then_branch=sides[0], else_branch=sides[1]),
           exact=False)


def loop(d: ModelDrawing) -> None:
    """Rounds by a number, by a condition that is data, or by both; values of every round are kept, too."""
    import onnx
    x, name = _named(d)
    own = d.known[x]
    step, goes, carried = name("step"), name("goes"), name("carried")
    nodes, last = _chain(d, carried, name("made"))
    total = name("total")
    nodes.append(onnx.helper.make_node("Add", [last, x], [total]))
    results = [_typed(name("on"), Known("bool", (), True)), _typed(total, own)]
    if d.chance(0.4):
        limit = onnx.numpy_helper.from_array(np.array(d.draw.randint(0, 3), "int64"))
        nodes += [onnx.helper.make_node("Constant", [], [name("limit")], value=limit),
                  onnx.helper.make_node("Less", [step, name("limit")], [name("on")])]
    else:
        nodes.append(onnx.helper.make_node("Identity", [goes], [name("on")]))
    rounds = d.draw.randint(0 if d.may_be_empty else 1, 3)
    kept = d.chance(0.5) and own.dtype == "float32" and not any(n.op_type == "Less" for n in nodes)
    if kept:
        nodes.append(onnx.helper.make_node("Neg", [total], [name("kept")]))
        results.append(_typed(name("kept"), own))
    body = onnx.helper.make_graph(nodes, "body", [
        _typed(step, Known("int64", (), True)), _typed(goes, Known("bool", (), True)), _typed(carried, own)], results)
    condition = d.constant(True, "bool") if d.chance(0.6) else ""
    node = onnx.helper.make_node("Loop", [d.constant(rounds), condition, x], [name("looped")], body=body)
    if kept:
        node.output.append(name("rows"))
        _with_rows(d, node, own, rounds)
        return
    d.take(node, exact=False)


def _with_rows(d: ModelDrawing, node: Any, own: Known, rounds: int) -> None:
    """A loop with rows, whose number ONNX's types do not know."""
    d.nodes.append(node)
    d.known[node.output[0]] = Known(own.dtype, own.shape, False)
    d.known[node.output[1]] = Known(own.dtype, (rounds, *own.shape), False)


def scan(d: ModelDrawing) -> None:
    """A running sum over rows of one or two values, in either direction, along any axis."""
    import onnx
    if not d.since(9):
        return
    x = d.value(lambda k: k.rank > 1 and 0 not in k.shape, dtypes=TYPED)
    own, number = d.known[x], len(d.nodes)
    axis = d.draw.randrange(own.rank) if d.chance(0.5) else 0
    row = Known(own.dtype, (*own.shape[:axis], *own.shape[axis + 1:]), False)
    given = [x, *([d.operand(own.dtype, own.shape)] if d.chance(0.4) else [])]
    rows = [f"row{number}_{k}" for k in range(len(given))]
    nodes, last = _chain(d, rows[-1], f"made{number}")
    total, made, after = f"total{number}", f"sum{number}", f"out{number}"
    nodes += [onnx.helper.make_node("Add", [total, last], [made]),
              onnx.helper.make_node("Mul", [made, rows[0]], [after])]
    body = onnx.helper.make_graph(nodes, "body", [_typed(n, row) for n in (total, *rows)],
                                  [_typed(made, row), _typed(after, row)])
    how: dict[str, Any] = {"num_scan_inputs": len(given), "scan_input_axes": [axis] * len(given)}
    if d.chance(0.5):
        how["scan_input_directions"] = [d.draw.randint(0, 1) for _ in given]
    if d.chance(0.5):
        how["scan_output_directions"] = [d.draw.randint(0, 1)]
    if d.chance(0.4):
        how["scan_output_axes"] = [d.draw.randrange(own.rank)]
    start = d.operand(own.dtype, row.shape)
    d.take(onnx.helper.make_node("Scan", [start, *given], [f"last{number}", f"all{number}"], body=body, **how),
           exact=False)


def attention(d: ModelDrawing) -> None:
    """Attention of three or four dimensions, with grouped heads, masks, a limit of scores, and keys of the past."""
    if not d.has("Attention"):
        return
    batch, heads, size = d.draw.randint(1, 2), d.draw.choice((1, 2, 4)), d.draw.choice((2, 4, 8))
    groups = d.draw.choice([g for g in (1, 2, 4) if heads % g == 0])
    rows, columns, past = d.draw.choice((1, 3, 5)), d.draw.choice((1, 4, 7)), d.draw.choice((0, 0, 3))

    def numbers(*shape: int) -> str:
        return d.operand("float32", shape, -1, 1)
    flat = d.chance(0.4)
    shapes = [(heads, rows), (groups, columns), (groups, columns)]
    operands = [numbers(batch, n, h * size) if flat else numbers(batch, h, n, size) for h, n in shapes]
    mask = numbers(rows, columns + past) if d.chance(0.3) else d.operand("bool", (rows, columns + past)) if (
        d.chance(0.2)) else ""
    operands.append(mask)
    if past:
        operands += [numbers(batch, groups, past, size) for _ in range(2)]
    # causal attention to keys of the past: ONNX Runtime counts from the past on, the operator's body does not
    causal = d.draw.choice((None, 1)) if not past else None
    d.add("Attention", *_without_ends(operands), results=3 if past else 1, is_causal=causal,
          q_num_heads=heads if flat else None, kv_num_heads=groups if flat else None,
          scale=d.draw.choice((None, 0.3)), softcap=d.draw.choice((None, None, 2.0)))


WAYS: tuple[Callable[[ModelDrawing], None], ...] = (recurrent, recurrent, branch, loop, scan, attention)
"""All ways of this family."""
