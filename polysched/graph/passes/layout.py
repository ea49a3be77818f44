"""Layouts: weights in the order in which products read them; convolutions without padding and unit dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from polysched.graph.evaluation.inference import infer, site_of
from polysched.graph.limits import LIMITS
from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Site
from polysched.graph.operators.windows import windows
from polysched.graph.passes.names import fresh_names
from polysched.graph.values.graph import Graph, Node
from polysched.scop.dtypes import DType

LETTERS = "abcdefghij"
Replace = Callable[[Site, Builder], "str | None"]


def pack_weights(graph: Graph, *, lanes: Callable[[DType], int]) -> Graph:
    """Bring constant right factors of products into panels of columns, so that a product reads them in order.

    Rewrite:  let y = MatMul(x, w)  ->  const p: [N / lanes, K, lanes];
    let e = Einsum(x, p; equation="ak,qkr->aqr"); let y = Reshape(e, [0, N])

    Parameters
    ----------
    lanes : the elements of a type in one vector.
    """
    packed: dict[tuple[str, int], str] = {}

    def replace(site: Site, build: Builder) -> str | None:
        width = _panel(site, graph, lanes)
        if width is None:
            return None
        x, w = site.node.inputs
        depth, columns = site.type(1).extents
        if (w, width) not in packed:
            panels = graph.constants[w].reshape(depth, columns // width, width)
            packed[w, width] = build.constant(np.ascontiguousarray(panels.transpose(1, 0, 2)))
        lead = LETTERS[:site.type(0).rank - 1]
        made = build.op("Einsum", x, packed[w, width], equation=f"{lead}k,qkr->{lead}qr")
        return build.op("Reshape", made, build.constant([0] * len(lead) + [columns]))
    return _rewritten(graph, "MatMul", replace)


def _panel(site: Site, graph: Graph, lanes: Callable[[DType], int]) -> int | None:
    """How many columns stand side by side; None where the product stays as it is."""
    x, w = site.type(0), site.type(1)
    if site.node.inputs[1] not in graph.constants or w.rank != 2 or not 2 <= x.rank <= len(LETTERS):
        return None
    if not x.dtype.is_float or 0 in w.extents:
        return None
    rows = [e.constant if e.is_constant else LIMITS.most_rows_of_narrow_panels + 1 for e in x.shape[:-1]]
    width = lanes(x.dtype) * (1 if int(np.prod(rows)) <= LIMITS.most_rows_of_narrow_panels else 2)
    return width if width > 1 and int(w.shape[1]) % width == 0 else None


def drop_unit_dimensions(graph: Graph) -> Graph:
    """Take spatial dimensions of one element, under windows of one element, out of convolutions.

    Rewrite:  let y = Conv(x: [N, C, L, 1], w: [K, C, R, 1])
    ->  let u = Reshape(x, [N, C, L]); let v = Conv(u, w: [K, C, R]); let y = Unsqueeze(v, [3])
    """
    return _rewritten(graph, "Conv", _without_units)


def _without_units(site: Site, build: Builder) -> str | None:
    x, w = site.type(0), site.type(1)
    rank = x.rank - 2
    if site.attribute("auto_pad", "NOTSET") not in ("NOTSET", "VALID", ""):
        return None
    pads = tuple(site.attribute("pads", (0,) * (2 * rank)))
    units = [d for d in range(rank) if x.shape[d + 2] == 1 and w.shape[d + 2] == 1 and not pads[d] + pads[d + rank]]
    kept = [d for d in range(rank) if d not in units] or [0]
    dropped = [d + 2 for d in range(rank) if d not in kept]
    if not dropped:
        return None
    axes = build.constant(dropped)
    attributes = {name: _at(site.attribute(name), kept) for name in ("strides", "dilations", "kernel_shape")
                  if site.attribute(name) is not None}
    attributes["pads"] = (*_at(pads, kept), *_at(pads[rank:], kept))
    operands = [build.op("Squeeze", name, axes) for name in site.node.inputs[:2]]
    made = build.op("Conv", *operands, *site.node.inputs[2:], group=site.attribute("group", 1), **attributes)
    return build.op("Unsqueeze", made, axes)


def pad_explicitly(graph: Graph) -> Graph:
    """Pad the data of convolutions by a copy, so that no element of a window is asked whether it is there.

    Rewrite:  let y = Conv(x, w; pads=[1, 1])  ->  let p = Pad(x, [0, 0, 1, 0, 0, 1]); let y = Conv(p, w)
    """
    return _rewritten(graph, "Conv", _padded)


def _padded(site: Site, build: Builder) -> str | None:
    view = windows(site, [int(e) for e in site.type(1).shape[2:]])
    if not any((*view.before, *view.behind)):
        return None
    kept = {name: value for name, value in site.node.attributes if name not in ("pads", "auto_pad")}
    padded = build.op("Pad", site.node.inputs[0], build.constant([0, 0, *view.before, 0, 0, *view.behind]))
    return build.op("Conv", padded, *site.node.inputs[1:], **kept)


def _at(values: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    return tuple(values[p] for p in places)


def _rewritten(graph: Graph, op: str, replace: Replace) -> Graph:
    """The graph with nodes of one operator replaced by what a function builds; None keeps a node."""
    if not any(n.op == op for n in graph.nodes):
        return graph
    inferred, fresh = infer(graph), fresh_names(graph)
    nodes: list[Node] = []
    constants = dict(graph.constants)
    for node in graph.nodes:
        builder = Builder(fresh)
        result = None
        if node.op == op:
            result = replace(site_of(node, inferred.types, inferred.known, results=True), builder)
        if result is None:
            nodes.append(node)
            continue
        last = builder.nodes[-1]
        nodes += [*builder.nodes[:-1], Node(op=last.op, inputs=last.inputs, attributes=last.attributes,
                                            outputs=node.outputs, name=node.name)]
        constants |= builder.constants
    return graph.but(nodes=tuple(nodes), constants=constants, types={})
