"""Closing regions: control flow on data becomes `Branch` and `Repeat`, whose regions read operands of the node only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import Inferred, infer
from polysched.graph.evaluation.typed_builder import TypedBuilder
from polysched.graph.operators.control import BRANCH, REPEAT
from polysched.graph.values.graph import Attribute, Graph, Node
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.dtypes import BOOL, INT64

Resolve = Callable[[Graph], Graph]
"""Takes control flow that is known out of a graph with types."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Closed:
    """A region that sees nothing around it.

    Parameters
    ----------
    region : its parameters are its own, then those for the values that it captures.
    captured : the values around it, in the order of the parameters.
    inferred : what is known of its values.
    """

    region: Graph
    captured: tuple[str, ...]
    inferred: Inferred


def closed_branch(node: Node, outer: TypedBuilder, resolve: Resolve) -> list[str]:
    """The results of a branch on data, decided when the model runs.

    Raises
    ------
    UnsupportedGraphError : a side is not compiled, or the sides make results of different types.
    """
    sides = [closed(region, {}, (), outer, resolve) for region in node.regions]
    every = tuple(dict.fromkeys(c for side in sides for c in side.captured))
    regions = []
    for side in sides:
        own = dict(zip(side.captured, side.region.parameters, strict=True))
        taken = side.region.bound
        regions.append(side.region.but(parameters=tuple(own.get(c, c if c not in taken else f"{c}'") for c in every)))
    return emitted(Node(op=BRANCH, inputs=(node.inputs[0], *every), outputs=node.outputs, regions=tuple(regions),
                        name=node.name), outer)


@dataclass(frozen=True, eq=False, kw_only=True)
class Form:
    """A loop before its region is closed.

    Parameters
    ----------
    limit, condition : names of values; empty where there is none.
    carried : first values.
    sliced : values whose rows the iterations take, and whether from the end.
    region : takes the iteration, the condition, carried values, rows; makes the next condition, carried values, rows.
    stacked_backwards : of every row that it makes, whether the stack is filled from the end.
    """

    limit: str
    condition: str
    carried: tuple[str, ...]
    region: Graph
    sliced: tuple[tuple[str, bool], ...] = ()
    stacked_backwards: tuple[bool, ...] = ()


def closed_loop(node: Node, form: Form, outer: TypedBuilder, resolve: Resolve) -> list[str]:
    """The results of a loop that runs when the model does: carried values, then stacks of rows.

    Raises
    ------
    UnsupportedGraphError : the body is not compiled, an iteration changes the type of a carried value, or how many rows
        are stacked depends on data.
    """
    fixed = [k for k in range(len(form.carried)) if _passes_on(form.region, k)]
    free = [k for k in range(len(form.carried)) if k not in fixed]
    if not free and not form.stacked_backwards:
        return list(form.carried)   # nothing is seen of it
    body = _body(form, fixed, free, outer, resolve)
    results = [outer.fresh(o) for o in body.region.outputs[1:]]
    attributes: dict[str, Attribute] = {
        "carried": len(free), "sliced": len(form.sliced), "steady": int(_is_steady(form, body, outer)),
        "sliced_backwards": tuple(int(b) for _, b in form.sliced),
        "stacked_backwards": tuple(map(int, form.stacked_backwards))}
    inputs = (form.limit, form.condition, *(form.carried[k] for k in free), *(n for n, _ in form.sliced),
              *body.captured)
    outer.emit(replace(Node.of(REPEAT, inputs, results, attributes, name=node.name), regions=(body.region,)))
    carried = dict(zip(free, results, strict=False)) | {k: form.carried[k] for k in fixed}
    return [*(carried[k] for k in range(len(carried))), *results[len(free):]]


def _body(form: Form, fixed: Sequence[int], free: Sequence[int], outer: TypedBuilder, resolve: Resolve) -> Closed:
    """The region of a loop without the carried values that never change: these are captured.

    Parameters
    ----------
    fixed, free : places of carried values that never change, and of the others.
    """
    count, types, made, parameters = (len(form.carried), outer.inference.types, form.region.outputs,
                                      form.region.parameters)
    own = (*parameters[:2], *(parameters[2 + k] for k in free), *parameters[2 + count:])
    given = (TensorType.of(INT64, ()), TensorType.of(BOOL, ()), *(types[form.carried[k]] for k in free),
             *(TensorType(types[n].dtype, types[n].shape[1:]) for n, _ in form.sliced))
    region = form.region.but(parameters=own, outputs=(made[0], *(made[1 + k] for k in free), *made[1 + count:]))
    return closed(region, {parameters[2 + k]: form.carried[k] for k in fixed}, given, outer, resolve)


def _is_steady(form: Form, body: Closed, outer: TypedBuilder) -> bool:
    """Whether no condition ends it.

    Raises
    ------
    UnsupportedGraphError : nothing ends it.
    """
    first = outer.inference.known.get(form.condition) if form.condition else np.array(True)
    made = body.inferred.known.get(body.region.outputs[0])
    later = np.array(True) if _origin(form.region, form.region.outputs[0]) == form.region.parameters[1] else made
    goes_on = all(value is not None and bool(value.ravel()[0]) for value in (first, later))
    if goes_on and not form.limit:
        raise UnsupportedGraphError("the loop has no end", where=f"region {body.region.name}",
                                    hint="give a number of iterations, or a condition that becomes false")
    return goes_on


def _passes_on(region: Graph, place: int) -> bool:
    """Whether an iteration leaves a carried value as it is."""
    return _origin(region, region.outputs[1 + place]) == region.parameters[2 + place]


def _origin(region: Graph, name: str) -> str:
    """The value of which a value is the same."""
    makers = {o: n for n in region.nodes for o in n.outputs}
    while name in makers and makers[name].op == "Identity":
        name = makers[name].inputs[0]
    return name


def closed(region: Graph, around: Mapping[str, str], types: Sequence[TensorType], outer: TypedBuilder,
           resolve: Resolve) -> Closed:
    """A region whose outside is operands: what is known outside becomes constants, shapes are computed inside.

    Parameters
    ----------
    around : names in the region of values outside that have another name there.
    types : of its parameters.
    outer : the builder of what stands around it.

    Raises
    ------
    UnsupportedGraphError : a node is not had, or a value that decides about shapes changes.
    """
    inference = outer.inference
    free = {n: around.get(n, n) for n in region.free}
    for name, outside in free.items():
        if outside not in inference.types:
            raise UnsupportedGraphError(f"the value {name!r} is used before it is bound",
                                        where=f"region {region.name}",
                                        hint="bind it ahead of the node that has the region")
    before, free = _shapes(free, outer)
    constants = {n: inference.known[o] for n, o in free.items() if _is_plain(inference.known.get(o))}
    captured = {n: o for n, o in free.items() if n not in constants}
    inputs = [*zip(region.parameters, types, strict=True), *((n, inference.types[o]) for n, o in captured.items())]
    whole = resolve(region.but(inputs=tuple(inputs), parameters=(), nodes=(*before, *region.nodes),
                               constants={**region.constants, **constants}, types={}))
    if whole.outputs != region.outputs:
        raise UnsupportedGraphError("a sequence is the result of what depends on data", where=f"region {region.name}",
                                    witness=", ".join(o for o in region.outputs if o not in whole.outputs)[:200],
                                    hint="let the region end with a tensor, for instance by SequenceAt or "
                                         "ConcatFromSequence")
    return Closed(region=whole.but(inputs=(), parameters=tuple(n for n, _ in inputs)), inferred=infer(whole),
                  captured=tuple(captured.values()))


def _shapes(free: dict[str, str], outer: TypedBuilder) -> tuple[list[Node], dict[str, str]]:
    """The nodes that compute sizes which are open, for the values that a region has of them; and the values left."""
    known = outer.inference.known
    makers = {o: node for node in outer.nodes for o in node.outputs if o}
    nodes: dict[int, Node] = {}
    left: dict[str, str] = {}

    def take(name: str, outside: str) -> None:
        if outside not in makers or outside not in known or _is_plain(known[outside]):
            left[name] = outside
            return
        node = makers[outside]
        if id(node) not in nodes:
            for operand in node.used:
                take(operand, operand)
            nodes[id(node)] = node
    for name, outside in free.items():
        take(name, outside)
    return list(nodes.values()), left


def _is_plain(array: np.ndarray | None) -> bool:
    return array is not None and array.dtype != object


def emitted(node: Node, outer: TypedBuilder) -> list[str]:
    """The results of a node under fresh names."""
    own = replace(node, outputs=tuple(outer.fresh(o or "unused") for o in node.outputs))
    outer.emit(own)
    return list(own.outputs)
