"""Lower bounds: what no placement is below, found without placing anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.mesh.operators import Message, OperatorGraph
from polysched.mesh.shapes import Rectangle, Shape, allocate
from polysched.mesh.target import MeshTarget
from polysched.mesh.traffic import passed_on, piece_offsets


def sides(shape: Shape, target: MeshTarget) -> int:
    """The most links that leave a rectangle of such a shape; as many enter it."""
    return (min(2, target.columns - shape.columns) * shape.rows + min(2, target.rows - shape.rows) * shape.columns)


def interval_bound(graph: OperatorGraph, choices: Sequence[Sequence[Shape]], target: MeshTarget) -> tuple[float, str]:
    """Seconds between two items, whatever the shapes and places, and what forces them.

    All operators at once need no more cores than live; and what an operator sends (gets) crosses the sides of its
    rectangle, whichever that is.
    """
    allocated = allocate(choices, target.live_cores)
    compute = max(s.seconds for s in allocated) if allocated else 0.0
    sent, got = _bytes_of(graph)
    crossing = 0.0
    for number, front in enumerate(choices):
        widest = max(min(2, target.columns) * min(target.rows, graph.operators[number].extents[0])
                     + min(2, target.rows) * min(target.columns, graph.operators[number].extents[1]),
                     *(sides(s, target) for s in front))
        crossing = max(crossing, max(sent[number], got[number]) / widest / target.link)
    return (compute, "all operators share the cores") if compute >= crossing else (crossing, "sides of one operator")


def latency_bound(graph: OperatorGraph, choices: Sequence[Sequence[Shape]], target: MeshTarget) -> float:
    """Seconds from the first operator to the last: the longest path, each operator as fast as any shape makes it."""
    ready = [0.0] * len(graph.operators)
    for number in graph.order:
        before = [ready[graph.number[m.source]] + (target.hop if m.bytes else 0.0) for m in graph.inputs[number]]
        ready[number] = max(before, default=0.0) + min(s.seconds for s in choices[number])
    return max(ready)


def layers_bound(choices: Sequence[Sequence[Shape]]) -> float:
    """Seconds of all operators one after the other, each as fast as any shape makes it."""
    return sum(min(s.seconds for s in front) for front in choices)


def hop_bytes_bound(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget) -> int:
    """Bytes times hops of these shapes: every message alone, its two rectangles at their best beside each other."""
    return sum(least_hop_bytes(message, shapes[source], shapes[sink], target)
               for message, (source, sink) in zip(graph.messages, graph.ends, strict=True))


def least_hop_bytes(message: Message, source: Shape, sink: Shape, target: MeshTarget) -> int:
    """Bytes times hops of one message, at the best of all places of its rectangles that share no core.

    Rows and columns of the distance add up, and each sum is least where the rectangles would overlap.  So one of the
    two distances is least over all, and the other one is that of rectangles that touch.
    """
    rows, columns, size = piece_offsets(message, source, sink)
    across = _distances(rows, size, source.rows, sink.rows)
    along = _distances(columns, size, source.columns, sink.columns)
    found = []
    if source.rows + sink.rows <= target.rows:
        found.append(min(across[0], across[-1]) + along.min())
    if source.columns + sink.columns <= target.columns:
        found.append(min(along[0], along[-1]) + across.min())
    return int(min(found, default=across.min() + along.min())) + passed_hop_bytes(message, sink)


def _distances(difference: np.ndarray, size: np.ndarray, source: int, sink: int) -> np.ndarray:
    """The sum over the pieces in one dimension, for every distance from touching on one side to the other."""
    offsets = np.arange(-sink, source + 1)   # of the sink from the source
    return np.asarray((np.abs(difference[None, :] + offsets[:, None]) * size).sum(1))


def passed_hop_bytes(message: Message, sink: Shape) -> int:
    """Bytes times hops that the cores of a sink pass on, wherever it stands."""
    loads = np.zeros((4, sink.rows, sink.columns), dtype=np.int64)
    passed_on(message, Rectangle(0, 0, sink.rows, sink.columns), loads)
    return int(loads.sum())


def load_bound(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget) -> tuple[int, str]:
    """Bytes on the most loaded link for these shapes, and what forces them.

    What an operator sends or gets crosses its sides, a piece from core to core by one link; what its cores pass on
    crosses the links inside; and all byte hops together are spread over all links.
    """
    found = [(-(-hop_bytes_bound(graph, shapes, target) // max(1, target.live_links)), "all byte hops over all links")]
    leaving, arriving = _pieces_of(graph, shapes)
    for number, shape in enumerate(shapes):
        links, name = sides(shape, target), graph.operators[number].name
        crossing, inside = _own_loads(graph, number, shape, target)
        found += [(crossing, f"sides of {name}"), (inside, f"what the cores of {name} pass on")]
        whole = max(whole_pieces_bound(leaving[number], links), whole_pieces_bound(arriving[number], links))
        found.append((whole, f"pieces, whole, at the sides of {name}"))
    return max(found)


def own_load(graph: OperatorGraph, number: int, shape: Shape, target: MeshTarget) -> int:
    """Bytes on the most loaded link for one operator's sake, whatever shapes the others have."""
    return max(_own_loads(graph, number, shape, target))


def _own_loads(graph: OperatorGraph, number: int, shape: Shape, target: MeshTarget) -> tuple[int, int]:
    """Bytes on the most loaded link at the sides of an operator, and of what its cores pass on."""
    sent, got = _bytes_of(graph)
    links = sides(shape, target)
    loads = np.zeros((4, shape.rows, shape.columns), dtype=np.int64)
    for message in graph.inputs[number]:
        passed_on(message, Rectangle(0, 0, shape.rows, shape.columns), loads)
    return -(-max(sent[number], got[number]) // links) if links else 0, int(loads.max())


def _bytes_of(graph: OperatorGraph) -> tuple[list[int], list[int]]:
    """What each operator sends and gets."""
    sent, got = [0] * len(graph.operators), [0] * len(graph.operators)
    for message, (source, sink) in zip(graph.messages, graph.ends, strict=True):
        sent[source] += message.bytes
        got[sink] += message.bytes
    return sent, got


def whole_pieces_bound(pieces: np.ndarray, links: int) -> int:
    """Bytes on the most loaded of some links that pieces cross, each by one of them.

    Of the `(n - 1) * links + 1` largest pieces at least `n` share a link, and none of them is smaller than the last.
    """
    largest = np.sort(pieces)[::-1][::max(1, links)]
    return int((largest * np.arange(1, 1 + len(largest))).max(initial=0))


def _pieces_of(graph: OperatorGraph, shapes: Sequence[Shape]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The bytes of each piece from a core of one operator to a core of another, that leaves and that reaches each."""
    leaving: list[list[np.ndarray]] = [[] for _ in shapes]
    arriving: list[list[np.ndarray]] = [[] for _ in shapes]
    for message, (source, sink) in zip(graph.messages, graph.ends, strict=True):
        _, _, sizes = piece_offsets(message, shapes[source], shapes[sink])
        leaving[source].append(sizes)
        arriving[sink].append(sizes)
    none = np.zeros(0, dtype=np.int64)
    return [np.concatenate([none, *sizes]) for sizes in leaving], [np.concatenate([none, *sizes]) for sizes in arriving]
