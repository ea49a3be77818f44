"""`place`: shapes, positions and routes of a graph of operators on a mesh."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from polysched.errors import PlacementError, UsageError
from polysched.mesh.annealing import Annealed, anneal
from polysched.mesh.cost import Ledger, as_array, scored, turn_routes
from polysched.mesh.exact import fewest_hop_bytes
from polysched.mesh.figures import figures_of
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.packing import corner_first, greedy, largest_first, row_major
from polysched.mesh.placement import Placement, Route
from polysched.mesh.shapes import Rectangle, Shape, allocate, fronts, shape_of
from polysched.mesh.shaping import choices_as_fast, reshaped
from polysched.mesh.target import MeshTarget, cores_left, cut_off
from polysched.mesh.traffic import Traffic
from polysched.records import dataclass

if TYPE_CHECKING:
    from polysched.graph.planning.plan import Plan

METHODS = ("anneal", "exact", "greedy", "row-major")
_SEARCHES = ("anneal", "exact")
ROUTINGS = ("adaptive", "xy")
Packer: TypeAlias = Callable[[OperatorGraph, Sequence[Shape], MeshTarget], "tuple[Rectangle, ...] | None"]
_ALL: tuple[Packer, ...] = (greedy, row_major, largest_first)
_PACKERS: dict[str, tuple[Packer, ...]] = {
    "anneal": _ALL, "exact": _ALL, "greedy": (greedy, largest_first), "row-major": (row_major,)}


@dataclass(frozen=True, kw_only=True)
class PlaceOptions:
    """How operators are placed.

    Parameters
    ----------
    method : `anneal` from the best first placement; `exact`, CP-SAT from there, which proves a bound of the byte hops
        for at most `LIMITS.exact_cores` cores, and annealing again from what it found; `greedy` and `row-major` are
        first placements, as baselines.
    routing : `adaptive`, each message along its row or its column first, whichever loads links less; or `xy`.
    seed : of the annealing.
    shapes : of the operators, where the allocation's are not wanted.
    reshape : whether `anneal` and `exact` may take other shapes than the allocation's, as fast, that load links less.

    Raises
    ------
    UsageError : no such method or routing.
    """

    method: str = "anneal"
    routing: str = "adaptive"
    seed: int = 0
    shapes: tuple[Shape, ...] | None = None
    reshape: bool = True

    def __post_init__(self) -> None:
        for name, value, known in (("method", self.method, METHODS), ("routing", self.routing, ROUTINGS)):
            if value not in known:
                raise UsageError(f"{name} is one of {', '.join(known)}", witness=repr(value))


def place(graph: OperatorGraph | Plan, target: MeshTarget, options: PlaceOptions | None = None) -> Placement:
    """A placement of a graph, or of a model's plan, on a mesh, with its figures and bounds.

    Shapes are those with which the slowest operator is as fast as the cores allow; then positions make
    `LIMITS.congestion_weight` times the largest load plus all byte hops small, and so do other shapes that are as fast
    (`shaping.reshaped`) and turns of messages. Cores that dead ones cut off from most others are not used.

    Raises
    ------
    PlacementError : an operator fits nowhere, or all together have too few cores.
    UsageError : shapes are given, but not one of each operator, as `shape_of` makes it, that fits.
    UnsupportedGraphError : of a plan, see `from_plan.of_plan`.
    """
    options = options or PlaceOptions()
    if not isinstance(graph, OperatorGraph):   # plans are loaded by who has one
        from polysched.mesh.from_plan import of_plan
        graph = of_plan(graph)
    whole, target = target, target.connected
    if options.shapes is not None:
        _require_shapes(options.shapes, graph, target)
    choices = fronts(graph, target)
    shapes, rectangles, note = _packed(graph, choices, whole, options)
    turns, traffic = options.routing == "adaptive", Traffic(target)
    found = _first(graph, target, rectangles, traffic)
    if options.method in _SEARCHES:
        found = anneal(graph, target, rectangles, seed=options.seed, turns=turns, traffic=traffic)
    notes: tuple[str, ...] = (note,)
    if told := cut_off(whole):
        notes = (*notes, told)
    if options.method in _SEARCHES and options.reshape and options.shapes is None:
        shapes, found, told = _reshaped(graph, target, shapes, found, options, traffic)
        notes = (*notes, told)
    proven = 0
    if options.method == "exact":
        found, proven, told = _solved(graph, shapes, target, found, options, traffic)
        notes = (*notes, told)
    ledger = Ledger(graph, target, found.rectangles, traffic, found.orders)
    turned = turn_routes(ledger) if turns else 0
    slowest = max(range(len(shapes)), key=lambda n: shapes[n].seconds)
    notes = (*notes, f"{graph.operators[slowest].name} is the slowest operator, on {shapes[slowest].text} cores",
             f"{turned} of {len(graph.messages)} messages go along their column first")
    return Placement(graph=graph, target=whole, shapes=shapes, rectangles=tuple(ledger.rectangles),
                     routes=tuple(Route(o, f.detours) for o, f in zip(ledger.orders, ledger.flows, strict=True)),
                     loads=as_array(ledger.loads, target), figures=figures_of(ledger, shapes, choices, proven),
                     method=f"{options.method}, {options.routing} routes", notes=notes)


def _require_shapes(shapes: Sequence[Shape], graph: OperatorGraph, target: MeshTarget) -> None:
    if len(shapes) != len(graph.operators):
        raise UsageError("there is a shape of each operator, or none", witness=f"{len(shapes)} shapes of "
                         f"{len(graph.operators)} operators")
    for shape, operator, inputs in zip(shapes, graph.operators, graph.inputs, strict=True):
        inside = 1 <= shape.rows <= operator.extents[0] and 1 <= shape.columns <= operator.extents[1]
        if not inside or shape != shape_of(operator, inputs, target, shape.rows, shape.columns) \
                or shape.memory > target.memory:
            raise UsageError("a given shape is none of its operator, or has too little memory",
                             where=f"operator {operator.name}", witness=f"{shape}",
                             hint="polysched.mesh.shapes.shape_of makes one")


def _packed(graph: OperatorGraph, choices: Sequence[Sequence[Shape]], target: MeshTarget,
            options: PlaceOptions) -> tuple[tuple[Shape, ...], tuple[Rectangle, ...], str]:
    """Shapes and first places: the largest shapes that can be packed, and a sentence about them."""
    left, target = cores_left(target), target.connected
    cores = target.live_cores
    least = sum(front[0].cores for front in choices)
    if least > cores:
        raise PlacementError(f"the operators need {least} cores, and {left}", where=f"graph {graph.name}",
                             hint="a larger mesh, cores with more memory, or operators fused before")
    tried: dict[tuple[Shape, ...], None] = {}
    for step in range(round(1 / LIMITS.fill_step) + 1):
        budget = max(least, int(cores * (1 - step * LIMITS.fill_step)))
        shapes = options.shapes or allocate(choices, budget)
        if shapes is None or shapes in tried:
            continue
        tried[shapes] = None
        found = [r for packer in _PACKERS[options.method] if (r := packer(graph, shapes, target)) is not None]
        if found:
            best = min(found, key=lambda r: scored(graph, target, r))
            return shapes, best, f"shapes take {sum(s.cores for s in shapes)} of {cores} cores"
    if options.method in _SEARCHES:
        for shapes in tried:
            if (last := _in_some_order(shapes, target, options.seed)) is not None:
                return shapes, last, f"shapes take {sum(s.cores for s in shapes)} of {cores} cores, packed tightly"
    raise PlacementError("no packing of the operators' rectangles was found", where=f"graph {graph.name}",
                         witness=f"{len(graph.operators)} operators on {target.headline()}",
                         hint="a larger mesh, or fewer dead cores")


def _in_some_order(shapes: Sequence[Shape], target: MeshTarget, seed: int) -> tuple[Rectangle, ...] | None:
    """A tight packing in one of some drawn orders, for where no packer finds any."""
    if len(shapes) > LIMITS.reshaped_operators or target.live_cores > LIMITS.reshaped_cores:
        return None
    draw, order = random.Random(seed), range(len(shapes))
    packed = (corner_first(shapes, target, draw.sample(order, len(order))) for _ in range(LIMITS.drawn_orders))
    return next((found for found in packed if found is not None), None)


def _first(graph: OperatorGraph, target: MeshTarget, rectangles: tuple[Rectangle, ...], traffic: Traffic) -> Annealed:
    """A placement before any annealing."""
    ledger = Ledger(graph, target, rectangles, traffic)
    return Annealed(rectangles=rectangles, orders=tuple(ledger.orders), score=ledger.score)


def _reshaped(graph: OperatorGraph, target: MeshTarget, shapes: tuple[Shape, ...], given: Annealed,
              options: PlaceOptions, traffic: Traffic) -> tuple[tuple[Shape, ...], Annealed, str]:
    """Other shapes in their places where these have a lower score, otherwise the given ones; a sentence about them."""
    if len(shapes) > LIMITS.reshaped_operators or target.live_cores > LIMITS.reshaped_cores:
        return shapes, given, ("no other shapes were tried, as with more than "
                               f"{LIMITS.reshaped_operators} operators or {LIMITS.reshaped_cores} cores")
    choices = choices_as_fast(graph, shapes, target)
    tried = [other for least, other in reshaped(graph, shapes, target) if least < given.score]
    tried = tried[:LIMITS.reshaped_packings]
    packed = sorted([(given.score, shapes, given.rectangles), *(
        (scored(graph, target, r, traffic), other, r) for other in tried
        for r in _packings(graph, other, target, random.Random(options.seed)))])
    turns, begun = options.routing == "adaptive", dict[tuple[Shape, ...], tuple[Rectangle, ...]]()
    for _, other, first in packed:
        begun.setdefault(other, first)
    found = [given, *(anneal(graph, target, first, seed=options.seed, choices=choices, turns=turns, traffic=traffic,
                             soft=other != shapes)
                      for other, first in itertools.islice(begun.items(), LIMITS.reshaped_annealings))]
    best = min(found, key=lambda a: a.score)
    best = _further(best, list(begun.values()), partial(anneal, graph, target, choices=choices, turns=turns,
                                                        traffic=traffic), options.seed)
    chosen = tuple(next(s for s in (own, *of_one) if (s.rows, s.columns) == (r.rows, r.columns))
                   for own, of_one, r in zip(shapes, choices, best.rectangles, strict=True))
    changed = sum(a != b for a, b in zip(shapes, chosen, strict=True))
    if not changed:
        return shapes, best, f"of {len(tried)} other choices of shapes none has a lower score"
    return chosen, best, (f"{changed} operators have other shapes than the fewest cores, as fast: the score is "
                          f"{best.score / max(given.score, 1):.2f} of that with those")


def _further(best: Annealed, firsts: Sequence[tuple[Rectangle, ...]], again: Callable[..., Annealed],
             seed: int) -> Annealed:
    """Annealed on with other seeds, from the best and from first placements: short annealings depend on luck."""
    vain = 0
    for more in range(1 + LIMITS.further_moves // (LIMITS.moves_per_operator * len(best.rectangles))):
        first = firsts[more // 2 % len(firsts)] if more % 2 else best.rectangles
        found = again(first, seed=seed + more, soft=more % 2 == 1)
        best, vain = (found, 0) if found.score < best.score else (best, vain + 1)
        if vain > LIMITS.most_vain:
            break
    return best


def _packings(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget, draw: random.Random
              ) -> Iterator[tuple[Rectangle, ...]]:
    """By every packer, and tightly in several orders: the largest first, then drawn ones."""
    for packer in _ALL:
        if (found := packer(graph, shapes, target)) is not None:
            yield found
    order = sorted(range(len(shapes)), key=lambda n: (-shapes[n].cores, -shapes[n].columns))
    for _ in range(LIMITS.reshaped_orders):
        found = corner_first(shapes, target, order)
        if found is None:
            return
        yield found
        order = draw.sample(order, len(order))


def _solved(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget, given: Annealed,
            options: PlaceOptions, traffic: Traffic) -> tuple[Annealed, int, str]:
    """The better of a placement and of what CP-SAT and annealing come to; the proved byte hops; a sentence."""
    solved = fewest_hop_bytes(graph, shapes, target, given.rectangles)
    told = ("CP-SAT found the fewest byte hops of these shapes" if solved.proved else
            f"CP-SAT proved {solved.bound} byte hops within its budget, and not the fewest")
    if solved.rectangles is None:
        return given, solved.bound, told
    found = anneal(graph, target, solved.rectangles, seed=options.seed, turns=options.routing == "adaptive",
                   traffic=traffic)
    return min(given, found, key=lambda a: a.score), solved.bound, told
