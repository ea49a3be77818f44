"""Lower bounds: what no placement is below, found without placing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from polysched.mesh.limits import LIMITS
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
    """Bytes times hops of these shapes, as `partner_bounds` says."""
    return sum(bound for _, bound in partner_bounds(graph, shapes, target))


def partners_are_weighed(graph: OperatorGraph, target: MeshTarget) -> bool:
    """Whether a graph and its mesh are small enough for a bound of all partners of an operator together."""
    return len(graph.operators) <= LIMITS.around_operators and target.rows * target.columns <= LIMITS.around_cores


def partner_bounds(graph: OperatorGraph, shapes: Sequence[Shape],
                   target: MeshTarget) -> list[tuple[tuple[int, ...], int]]:
    """Sets of messages, each in one of them, with bytes times hops that they have in all at least.

    A set joins an operator to some of its partners: of two operators, the one with more partners has their messages.
    On larger meshes, or of more operators, than `LIMITS` says, every message is on its own.
    """
    if not partners_are_weighed(graph, target):
        return [((message,), least_hop_bytes(graph.messages[message], shapes[source], shapes[sink], target))
                for message, (source, sink) in enumerate(graph.ends)]
    partners = [len({end for m in own for end in graph.ends[m]}) for own in graph.touching]
    sets: dict[int, dict[int, list[int]]] = {}
    for message, (source, sink) in enumerate(graph.ends):
        middle, other = (source, sink) if partners[source] >= partners[sink] else (sink, source)
        sets.setdefault(middle, {}).setdefault(other, []).append(message)
    return [(tuple(m for messages in around.values() for m in messages),
             _around_bound(graph, shapes, target, middle, around)) for middle, around in sets.items()]


def _around_bound(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget, middle: int,
                  around: Mapping[int, Sequence[int]]) -> int:
    """Bytes times hops between one operator and its partners, of which no two have the same core.

    A price for every core around the middle: a place of a partner costs its byte hops and its cores' prices.  The
    partners' cheapest places, less all prices, are a bound whatever the prices are; they rise where partners meet.
    Prices are whole parts of a byte, so that the bound is exact.
    """
    own = shapes[middle]
    extent = (2 * target.rows - own.rows, 2 * target.columns - own.columns)
    ways = [(shapes[other], LIMITS.price_parts * _around(graph, shapes, target, middle, other, messages))
            for other, messages in around.items()]
    prices = np.zeros(extent, dtype=np.int64)
    best = 0
    for _ in range(LIMITS.price_rounds if len(ways) > 1 else 1):
        meets = np.full(extent, -1, dtype=np.int64)
        total = -int(prices.sum())
        for shape, way in ways:
            costs = way + _windows(prices, shape.rows, shape.columns)
            row, column = np.unravel_index(int(costs.argmin()), costs.shape)
            total += int(costs[row, column])
            meets[row:row + shape.rows, column:column + shape.columns] += 1
        best = max(best, total)
        meets[prices == 0] = meets[prices == 0].clip(min=0)
        if not meets.any():
            break
        step = (LIMITS.price_step * best + best - total) / float((meets ** 2).sum())
        prices = np.maximum(0, prices + np.rint(step * meets).astype(np.int64))
    return -(-best // LIMITS.price_parts)


def _around(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget, middle: int, other: int,
            messages: Sequence[int]) -> np.ndarray:
    """Bytes times hops of messages between two operators, by the place of the other one from the farthest on."""
    own, its = shapes[middle], shapes[other]
    rows = np.arange(own.rows - target.rows, target.rows - its.rows + 1)
    columns = np.arange(own.columns - target.columns, target.columns - its.columns + 1)
    total = np.zeros((len(rows), len(columns)), dtype=np.int64)
    for m in messages:
        source, sink = graph.ends[m]
        across, along, size = piece_offsets(graph.messages[m], shapes[source], shapes[sink])
        sign = 1 if source == middle else -1
        total += (np.abs(across + sign * rows[:, None]) * size).sum(1)[:, None]
        total += (np.abs(along + sign * columns[:, None]) * size).sum(1)
        total += passed_hop_bytes(graph.messages[m], shapes[sink])
    overlap = ((rows > -its.rows) & (rows < own.rows))[:, None] & ((columns > -its.columns) & (columns < own.columns))
    if not overlap.all():
        total[overlap] = 4 * LIMITS.most_bytes * (target.rows + target.columns)   # more than any other place costs
    return total


def _windows(prices: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The sum over every rectangle of cores."""
    sums = np.zeros((prices.shape[0] + 1, prices.shape[1] + 1), dtype=np.int64)
    sums[1:, 1:] = prices.cumsum(0).cumsum(1)
    return np.asarray(sums[rows:, columns:] - sums[:-rows, columns:] - sums[rows:, :-columns] + sums[:-rows, :-columns])


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
