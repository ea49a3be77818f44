"""RNN, GRU and LSTM: unrolled over the steps, each of which is the same few kernels; a loop over an open length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.builder import Builder
from polysched.graph.operators.control import REPEAT
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.graph import Attribute, Graph, Node
from polysched.graph.values.sizes import Size, SizeLike
from polysched.graph.values.types import TensorType
from polysched.records import dataclass

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DEFAULT = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
PARAMETERS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("Sigmoid", "Tanh", "Relu", "Softsign", "Softplus"), ()), "HardSigmoid": (0.2, 0.5), "Elu": (1.0,),
    "LeakyRelu": (0.01,), "ThresholdedRelu": (1.0,), "Affine": (1.0, 0.0), "ScaledTanh": (1.0, 1.0)}
"""The activations, and the alpha and beta of those that have them, where they are not given: ONNX's operators' own."""
X, W, R, B, LENGTHS, H0, C0, PEEPHOLES = range(8)


def _directions(site: Site) -> int:
    return 2 if site.attribute("direction", "forward") == "bidirectional" else 1


@dataclass(frozen=True)
class Activation:
    """One function of a cell.

    Parameters
    ----------
    name : of the operator.
    alpha, beta : its parameters, where it has them.
    """

    name: str
    alpha: float = 0.0
    beta: float = 0.0


def _activations(site: Site) -> tuple[tuple[Activation, ...], ...]:
    """The activations of every direction, which take their parameters one after the other.

    Raises
    ------
    UnsupportedGraphError : one is not had, there are too many or too few of them, or more parameters than they take.
    """
    plain, directions = DEFAULT[site.node.op], _directions(site)
    given = tuple(site.attribute("activations", plain * directions))
    if not set(given) <= PARAMETERS.keys() or len(given) != len(plain) * directions:
        raise site.refusal(f"the activations {', '.join(map(str, given))}", "activations",
                           hint=f"give {len(plain) * directions} of {', '.join(sorted(PARAMETERS))}")
    alphas, betas = (list(site.attribute(f"activation_{name}", ())) for name in ("alpha", "beta"))
    made = []
    for name in given:
        defaults = PARAMETERS[name]
        taken = [own.pop(0) if own else default for own, default in zip((alphas, betas), defaults, strict=False)]
        made.append(Activation(name, *taken))
    if alphas or betas:
        raise site.refusal("more parameters of activations than these take", ("activation_alpha", "activation_beta"),
                           witness=", ".join(given), hint="leave them out, or give as many as the activations take")
    return tuple(tuple(made[d * len(plain):(d + 1) * len(plain)]) for d in range(directions))


def _hidden_size(site: Site) -> Size:
    """The extent of a state; refused where the attribute says another."""
    hidden = site.type(R).shape[2]
    if hidden != site.attribute("hidden_size", hidden):
        raise site.refusal(f"the hidden size is {hidden}", "hidden_size",
                           witness=f"hidden_size={site.attribute('hidden_size')}",
                           hint=f"leave it out, or give {hidden}")
    return hidden


def _types(site: Site) -> tuple[TensorType, ...]:
    x, w, r = site.type(X), site.type(W), site.type(R)
    directions, gates = _directions(site), GATES[site.node.op]
    if x.rank != 3 or w.rank != 3 or r.rank != 3 or not x.dtype.is_float:
        raise site.refusal("floating data, weights and recurrences of three dimensions are wanted", (X, W, R),
                           witness=f"{x}, {w}")
    hidden = _hidden_size(site)
    if w != w.with_shape((directions, hidden * gates, x.shape[2])) or (
            r != r.with_shape((directions, hidden * gates, hidden))):
        raise site.refusal("the weights do not fit", (W, R), witness=f"{w} and {r}",
                           hint=f"give them the shapes [{directions}, {hidden * gates}, {x.shape[2]}] and "
                                f"[{directions}, {hidden * gates}, {hidden}]")
    _activations(site)
    first = bool(site.attribute("layout", 0))
    steps, batch = (x.shape[1], x.shape[0]) if first else (x.shape[0], x.shape[1])
    if site.has(LENGTHS) and (site.type(LENGTHS).shape != (batch,) or not site.type(LENGTHS).dtype.is_integer):
        raise site.refusal("a length per sequence is wanted", LENGTHS, witness=str(site.type(LENGTHS)),
                           hint="give it one int32 per sequence of the batch")
    every = (batch, steps, directions, hidden) if first else (steps, directions, batch, hidden)
    last = (batch, directions, hidden) if first else (directions, batch, hidden)
    if steps == 0:
        raise site.refusal("there are no steps", X, witness=str(x), hint="give it at least one step")
    _check_shapes(site, {B: (directions, 2 * gates * hidden), H0: last, C0: last, PEEPHOLES: (directions, 3 * hidden)})
    results = (x.with_shape(every), x.with_shape(last))
    return (*results, x.with_shape(last)) if site.node.op == "LSTM" else results


def _check_shapes(site: Site, shapes: Mapping[int, Sequence[SizeLike]]) -> None:
    """Refuse operands that are given in another shape or type of elements."""
    for place, shape in shapes.items():
        if site.has(place) and site.type(place) != (wanted := site.type().with_shape(shape)):
            raise site.refusal("the biases, the states or the peepholes do not fit", place,
                               witness=f"{site.type(place)}, {wanted} is wanted", hint=f"give it the type {wanted}")


class _Unrolled:
    """One direction, unrolled: operators on names of values `[batch, hidden]`."""

    def __init__(self, site: Site, build: Builder, direction: int) -> None:
        self.site, self.build, self.direction = site, build, direction
        self.backwards = direction == 1 or site.attribute("direction", "forward") == "reverse"
        self.hidden = int(site.type(R).shape[2])
        self.acts = _activations(site)[direction]
        self.numpy = site.type().numpy

    def part(self, place: int, *axes: int) -> str:
        """The direction's own part of an operand."""
        own = self.build.op("Gather", self.site.node.inputs[place],
                            self.build.constant(np.array(self.direction, np.int64)), axis=0)
        return self.build.op("Transpose", own, perm=(1, 0)) if axes else own

    def split(self, value: str, count: int, axis: int) -> tuple[str, ...]:
        """Equal parts along an axis."""
        return self.build.ops("Split", count, value, axis=axis, num_outputs=count)

    def act(self, number: int, value: str) -> str:
        """An activation, of a value that is cut to the clip first."""
        clip = self.site.attribute("clip")
        if clip:
            value = self.build.op("Clip", value, self.constant(-clip), self.constant(clip))
        own, alpha, beta = self.acts[number], self.acts[number].alpha, self.acts[number].beta
        if own.name in ("Affine", "ScaledTanh"):
            inner, outer = (alpha, beta) if own.name == "Affine" else (beta, alpha)
            scaled = self.build.op("Mul", value, self.constant(inner))
            return self.build.op("Add", scaled, self.constant(outer)) if own.name == "Affine" else self.build.op(
                "Mul", self.build.op("Tanh", scaled), self.constant(outer))
        return self.build.op(own.name, value, **dict(zip(("alpha", "beta")[:len(PARAMETERS[own.name])], (alpha, beta),
                                                        strict=False)))

    def constant(self, number: float) -> str:
        """A number of the data's type."""
        return self.build.constant(np.array(number, self.numpy))

    def add(self, *values: str) -> str:
        """A sum of what is there."""
        there = [v for v in values if v]
        return there[0] if len(there) == 1 else self.build.op("Sum", *there)

    def mul(self, a: str, b: str) -> str:
        """An elementwise product."""
        return self.build.op("Mul", a, b)


def _rnn_cell(u: _Unrolled, gates: str, h: str, recurrence: str, biases: tuple[str, str]) -> str:
    return u.act(0, u.add(gates, u.build.op("MatMul", h, recurrence), *biases))


def _gru_cell(u: _Unrolled, gates: str, h: str, recurrence: str, biases: tuple[str, str]) -> str:
    """Gates in the order z, r, h (ONNX, GRU)."""
    one = u.build.constant(np.array(1, u.numpy))
    xz, xr, xh = u.split(u.add(gates, biases[0]), 3, 1)
    rz, rr, rh = u.split(recurrence, 3, 1)
    bz, br, bh = u.split(biases[1], 3, 0) if biases[1] else ("", "", "")
    z = u.act(0, u.add(xz, u.build.op("MatMul", h, rz), bz))
    r = u.act(0, u.add(xr, u.build.op("MatMul", h, rr), br))
    if u.site.attribute("linear_before_reset", 0):
        inner = u.mul(r, u.add(u.build.op("MatMul", h, rh), bh))
        new = u.act(1, u.add(xh, inner))
    else:
        new = u.act(1, u.add(xh, u.build.op("MatMul", u.mul(r, h), rh), bh))
    return u.add(u.mul(u.build.op("Sub", one, z), new), u.mul(z, h))


def _lstm_cell(u: _Unrolled, gates: str, h: str, c: str, recurrence: str, biases: tuple[str, str],
               peepholes: tuple[str, ...]) -> tuple[str, str]:
    """Gates in the order i, o, f, c (ONNX, LSTM)."""
    i, o, f, g = u.split(u.add(gates, u.build.op("MatMul", h, recurrence), *biases), 4, 1)
    pi, po, pf = peepholes
    i = u.act(0, u.add(i, u.mul(pi, c) if pi else ""))
    one = u.build.constant(np.array(1, u.numpy))
    f = u.build.op("Sub", one, i) if u.site.attribute("input_forget", 0) else u.act(
        0, u.add(f, u.mul(pf, c) if pf else ""))
    c = u.add(u.mul(f, c), u.mul(i, u.act(1, g)))
    o = u.act(0, u.add(o, u.mul(po, c) if po else ""))
    return u.mul(o, u.act(2, c)), c


def _composition(site: Site, build: Builder, *operands: str) -> tuple[str, ...]:
    first = bool(site.attribute("layout", 0))
    x = build.op("Transpose", operands[X], perm=(1, 0, 2)) if first else operands[X]
    steps = site.type().shape[1 if first else 0]
    made = [_direction(site, build, x, direction) for direction in range(_directions(site))]
    last_h, last_c = [h for _, h, _ in made], [c for _, _, c in made]
    axis = build.constant([0])
    whole = _whole(build, [hs for hs, _, _ in made], steps)
    ends = [build.op("Concat", *(build.op("Unsqueeze", v, axis) for v in values), axis=0)
            for values in ((last_h, last_c) if site.node.op == "LSTM" else (last_h,))]
    if first:
        whole = build.op("Transpose", whole, perm=(2, 0, 1, 3))
        ends = [build.op("Transpose", e, perm=(1, 0, 2)) for e in ends]
    return (whole, *ends)


def _whole(build: Builder, states: Sequence[list[str]], steps: Size) -> str:
    """The states of all steps and directions as one value; of an open length, those of a direction are one already."""
    axis = build.constant([0])
    if not steps.is_constant:
        behind = build.constant([1])
        return build.op("Concat", *(build.op("Unsqueeze", hs[0], behind) for hs in states), axis=1)
    rows = [build.op("Concat", *(build.op("Unsqueeze", hs[t], axis) for hs in states), axis=0)
            for t in range(int(steps))]
    return build.op("Concat", *(build.op("Unsqueeze", r, axis) for r in rows), axis=0)


def _start(u: _Unrolled, place: int, first: bool) -> str:
    """The state before the first step."""
    if not u.site.has(place):
        batch = u.site.type().shape[0 if first else 1]
        if batch.is_constant:
            return u.build.constant(np.zeros((int(batch), u.hidden), u.numpy))
        rows = u.build.op("Shape", u.site.node.inputs[X], start=0 if first else 1, end=1 if first else 2)
        return u.build.op("Expand", u.build.constant(np.zeros((1, u.hidden), u.numpy)), u.build.op(
            "Concat", rows, u.build.constant([u.hidden]), axis=0))
    index = u.build.constant(np.array(u.direction, np.int64))
    return u.build.op("Gather", u.site.node.inputs[place], index, axis=1 if first else 0)


def _going_on(u: _Unrolled, steps: int) -> list[str]:
    """For every step, whether each sequence still goes on; empty where all of them do."""
    if not u.site.has(LENGTHS):
        return [""] * steps
    known = u.site.known[LENGTHS]
    if known is not None and (known == steps).all():
        return [""] * steps
    lengths = u.build.op("Unsqueeze", u.site.node.inputs[LENGTHS], u.build.constant([1]))
    dtype = u.site.type(LENGTHS).numpy
    return [u.build.op("Greater", lengths, u.build.constant(np.array(t, dtype))) for t in range(steps)]


def _direction(site: Site, build: Builder, x: str, direction: int) -> tuple[list[str], str, str]:
    """The states of all steps of one direction in the order of time, and the last states.

    The states of an open length are one value.  A sequence that has ended keeps its states, and its further results
    are 0.

    Parameters
    ----------
    x : the data, the steps first.

    Raises
    ------
    UnsupportedGraphError : there are too many steps.
    """
    u, op, first = _Unrolled(site, build, direction), site.node.op, bool(site.attribute("layout", 0))
    extent = site.type().shape[1 if first else 0]
    if extent.is_constant and (count := int(extent) * _directions(site)) > LIMITS.most_steps:
        raise site.refusal(f"a recurrence of {count} steps is too long to be unrolled", X, witness=str(site.type(X)),
                           hint=f"at most {LIMITS.most_steps} steps, of both directions in all: compute in parts, or "
                                "export it as Loop or Scan")
    gates = build.op("MatMul", x, u.part(W, 1, 0))
    recurrence = u.part(R, 1, 0)
    biases: tuple[str, str] = ("", "")
    if site.has(B):
        wb, rb = u.split(u.part(B), 2, 0)
        biases = (wb, rb)
    h, c = _start(u, H0, first), _start(u, C0, first) if op == "LSTM" else ""
    peepholes = u.split(u.part(PEEPHOLES), 3, 0) if op == "LSTM" and site.has(PEEPHOLES) else ("", "", "")
    if not extent.is_constant:
        return _looped(u, gates, (h, c), (recurrence, *biases, *peepholes))
    steps = int(extent)
    states, going_on = [""] * steps, _going_on(u, steps)
    for t in reversed(range(steps)) if u.backwards else range(steps):
        own = build.op("Gather", gates, build.constant(np.array(t, np.int64)), axis=0)
        states[t], h, c = _step(u, own, (h, c), (recurrence, *biases, *peepholes), going_on[t])
    return states, h, c


def _step(u: _Unrolled, gates: str, before: tuple[str, str], weights: tuple[str, ...], going_on: str
          ) -> tuple[str, str, str]:
    """The result of one step, and the states behind it.

    Parameters
    ----------
    gates : the input's part of them.
    weights : the recurrence, two biases and three peepholes; empty where there are none.
    going_on : which sequences have not ended; empty where none has.
    """
    recurrence, biases = weights[0], (weights[1], weights[2])
    if u.site.node.op == "LSTM":
        h, c = _lstm_cell(u, gates, *before, recurrence, biases, weights[3:])
    else:
        h, c = (_rnn_cell if u.site.node.op == "RNN" else _gru_cell)(u, gates, before[0], recurrence, biases), ""
    if not going_on:
        return h, h, c
    kept = [u.build.op("Where", going_on, new, old) if new else "" for new, old in zip((h, c), before, strict=True)]
    return u.build.op("Where", going_on, h, u.constant(0)), kept[0], kept[1]


def _times(u: _Unrolled, length: str) -> tuple[str, str]:
    """The number of every step, and the lengths of the sequences that are compared with it."""
    build = u.build
    zero, one = (build.constant(np.array(v, np.int64)) for v in (0, 1))
    times = build.op("Range", zero, build.op("Squeeze", length, build.constant([0])), one)
    own = build.op("Unsqueeze", u.site.node.inputs[LENGTHS], build.constant([1]))
    return times, build.op("Cast", own, to="int64")


def _looped(u: _Unrolled, gates: str, states: tuple[str, str], weights: tuple[str, ...]) -> tuple[list[str], str, str]:
    """The same over an open length: a loop whose body is one step."""
    inner = Builder(u.build.fresh)
    length = u.build.op("Shape", gates, start=0, end=1)
    times, lengths = _times(u, length) if u.site.has(LENGTHS) else ("", "")
    sliced = [n for n in (gates, times) if n]
    own = {name: inner.fresh("p") for name in (*states, *sliced, *weights, lengths) if name}
    step = _Unrolled(u.site, inner, u.direction)
    going_on = inner.op("Greater", own[lengths], own[times]) if lengths else ""
    row, h, c = _step(step, own[gates], (own[states[0]], own.get(states[1], "")),
                      tuple(own.get(w, "") for w in weights), going_on)
    carried, captured = [n for n in states if n], [n for n in (*weights, lengths) if n]
    ahead = (inner.fresh("i"), inner.fresh("goes_on"))
    made = [inner.op("Identity", v) for v in (ahead[1], h, c, row) if v]
    region = Graph(name="step", inputs=(), nodes=tuple(inner.nodes), outputs=tuple(made), constants=inner.constants,
                   parameters=(*ahead, *(own[n] for n in (*carried, *sliced, *captured))))
    results = _repeat(u, (length, "", *carried, *sliced, *captured), region, (len(carried), len(sliced)))
    return [results[-1]], results[0], (*results[1:-1], "")[0]


def _repeat(u: _Unrolled, operands: tuple[str, ...], region: Graph, counts: tuple[int, int]) -> tuple[str, ...]:
    """The last states of a loop over the steps, and the results of all of them.

    Parameters
    ----------
    counts : of states, and of values of which every step takes a row.
    """
    carried, sliced = counts
    results = tuple(u.build.fresh("step") for _ in range(carried + 1))
    attributes: dict[str, Attribute] = {"carried": carried, "sliced": sliced, "steady": 1,
                                        "sliced_backwards": (int(u.backwards),) * sliced,
                                        "stacked_backwards": (int(u.backwards),)}
    u.build.emit(replace(Node.of(REPEAT, operands, results, attributes, name=u.build.origin), regions=(region,)))
    return results


def _np_activation(own: Activation, v: np.ndarray) -> np.ndarray:
    alpha, beta = own.alpha, own.beta
    functions: dict[str, Callable[[], np.ndarray]] = {
        "Sigmoid": lambda: 1 / (1 + np.exp(-v)), "Tanh": lambda: np.tanh(v), "Relu": lambda: np.maximum(v, 0),
        "HardSigmoid": lambda: np.clip(alpha * v + beta, 0, 1), "Softsign": lambda: v / (1 + np.abs(v)),
        "Softplus": lambda: np.logaddexp(v, 0), "Elu": lambda: np.where(v < 0, alpha * np.expm1(np.minimum(v, 0)), v),
        "LeakyRelu": lambda: np.where(v < 0, alpha * v, v), "ThresholdedRelu": lambda: np.where(v > alpha, v, 0),
        "Affine": lambda: alpha * v + beta, "ScaledTanh": lambda: alpha * np.tanh(beta * v)}
    return functions[own.name]()


def _np_step(site: Site, acts: tuple[Activation, ...], gates: np.ndarray, h: np.ndarray, c: np.ndarray, r: np.ndarray,
             rb: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One step in NumPy: `gates` has the input's part and its bias."""
    clip = site.attribute("clip")

    def act(number: int, v: np.ndarray) -> np.ndarray:
        return _np_activation(acts[number], np.clip(v, -clip, clip) if clip else v)
    if site.node.op == "RNN":
        return act(0, gates + h @ r.T + rb), c
    n = h.shape[1]
    if site.node.op == "GRU":
        first = gates[:, :2 * n] + h @ r[:2 * n].T + rb[:2 * n]
        z, s = act(0, first[:, :n]), act(0, first[:, n:])
        if site.attribute("linear_before_reset", 0):
            new = act(1, gates[:, 2 * n:] + s * (h @ r[2 * n:].T + rb[2 * n:]))
        else:
            new = act(1, gates[:, 2 * n:] + (s * h) @ r[2 * n:].T + rb[2 * n:])
        return (1 - z) * new + z * h, c
    i, o, f, g = np.split(gates + h @ r.T + rb, 4, axis=1)
    pi, po, pf = np.split(p, 3)
    i = act(0, i + pi * c)
    f = 1 - i if site.attribute("input_forget", 0) else act(0, f + pf * c)
    c = f * c + i * act(1, g)
    return act(0, o + po * c) * act(2, c), c


def _np_operands(site: Site, operands: tuple[np.ndarray | None, ...]) -> list[np.ndarray]:
    """All operands in float64, the steps first; zeros for those that are left out."""
    first, count, r = bool(site.attribute("layout", 0)), _directions(site), operands[R]
    assert r is not None
    x = operands[X]
    assert x is not None
    hidden, batch = r.shape[2], x.shape[0 if first else 1]
    state = (batch, count, hidden) if first else (count, batch, hidden)
    shapes = {B: (count, 2 * r.shape[1]), LENGTHS: (0,), H0: state, C0: state, PEEPHOLES: (count, 3 * hidden)}
    given = [*operands, *[None] * (8 - len(operands))]
    wide = [np.zeros(shapes[p]) if o is None else o.astype(np.float64) for p, o in enumerate(given)]
    return [np.swapaxes(v, 0, 1) if first and p in (X, H0, C0) else v for p, v in enumerate(wide)]


def _np_direction(site: Site, operands: list[np.ndarray], d: int, whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The last states of one direction; those of all steps are written."""
    x, w, r, b, lengths, h0, c0, peep = operands
    h, c, acts = h0[d], c0[d], _activations(site)[d]
    wb, rb = np.split(b[d], 2)
    backwards = d == 1 or site.attribute("direction", "forward") == "reverse"
    for t in reversed(range(x.shape[0])) if backwards else range(x.shape[0]):
        made_h, made_c = _np_step(site, acts, x[t] @ w[d].T + wb, h, c, r[d], rb, peep[d])
        goes_on = (t < lengths)[:, None] if lengths.size else np.ones((x.shape[1], 1), bool)
        h, c = np.where(goes_on, made_h, h), np.where(goes_on, made_c, c)
        whole[t, d] = np.where(goes_on, made_h, 0)
    return h, c


def _reference(site: Site, *operands: np.ndarray | None) -> tuple[np.ndarray, ...]:
    first, count, given = bool(site.attribute("layout", 0)), _directions(site), _np_operands(site, operands)
    x, r = given[X], given[R]
    whole = np.zeros((x.shape[0], count, x.shape[1], r.shape[2]))
    ends = [_np_direction(site, given, d, whole) for d in range(count)]
    results = [whole, *(np.stack([e[k] for e in ends]) for k in range(2 if site.node.op == "LSTM" else 1))]
    if first:
        results = [results[0].transpose(2, 0, 1, 3), *(np.swapaxes(e, 0, 1) for e in results[1:])]
    dtype = site.type().numpy
    return tuple(v.astype(dtype) for v in results)


OPERATORS = tuple(Operator(name=name, kind=Kind.OPAQUE, types=_types, reference=_reference, composition=_composition,
                           words={"direction": ("forward", "reverse", "bidirectional")})
                  for name in GATES)
