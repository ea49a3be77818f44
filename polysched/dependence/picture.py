"""Pictures of dependences: arrows between instances, inside a statement and from one statement to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.scop.picture import Link, Panel, Picture, Point, panel_title, slice_points, small_parameters
from polysched.scop.points import fix_parameters, pairs_of
from polysched.scop.scop import Statement

ORDERING = (DependenceKind.FLOW, DependenceKind.ANTI, DependenceKind.OUTPUT)
MOST_LINKS = 20
Instance = tuple[str, Point]


def draw_dependences(dependences: Dependences, *, parameters: Mapping[str, int] | None = None,
                     axes: tuple[str, str] | None = None,
                     kinds: tuple[DependenceKind, ...] = ORDERING) -> Picture:
    """Iteration domains side by side, with an arrow per pair of dependent instances, from source to sink.

    Between statements there are often more arrows than a picture can hold; then those of one instance of each
    statement are drawn, and the picture says so.

    Parameters
    ----------
    parameters : values of the sizes; small ones are chosen otherwise.
    axes : horizontal and vertical iterator; the two innermost otherwise.
    kinds : which dependences are drawn.  Pairs with an end outside the slice are not.
    """
    scop = dependences.scop
    values = dict(parameters) if parameters is not None else small_parameters(scop)
    slices = {s.name: slice_points(s, values, axes) for s in scop.statements}
    pairs = dependent_instances((d for d in dependences.pairs if d.kind in kinds), values,
                                {(name, p) for name, (points, _, _) in slices.items() for p in points})
    numbers = {s.name: n for n, s in enumerate(scop.statements)}
    panels = tuple(_panel(s, slices[s.name], pairs) for s in scop.statements)
    between = [(a, b) for a, b in pairs if a[0] != b[0]]
    shown = between if len(between) <= MOST_LINKS else _of_one_instance_each(between)
    links = tuple(Link(numbers[a[0]], slices[a[0]][0][a[1]], numbers[b[0]], slices[b[0]][0][b[1]]) for a, b in shown)
    note = "" if len(shown) == len(between) else (
        f"Between statements: {len(shown)} of {len(between)} arrows, those from one instance of each")
    return Picture(panels=panels, links=tuple(dict.fromkeys(links)), note=note)


def dependent_instances(pairs: Iterable[Dependence], parameters: Mapping[str, int], drawn: set[Instance]
                        ) -> list[tuple[Instance, Instance]]:
    """Every pair of dependent instances that are both drawn, each once."""
    found = {((d.source, source), (d.sink, sink)) for d in pairs
             for source, sink in pairs_of(fix_parameters(d.relation, parameters))}
    return sorted(pair for pair in found if pair[0] in drawn and pair[1] in drawn)


def _of_one_instance_each(between: Sequence[tuple[Instance, Instance]]) -> list[tuple[Instance, Instance]]:
    """The arrows from one instance of each statement: the one with the most, nearest to the middle of those."""
    by_source: dict[str, dict[Instance, list[tuple[Instance, Instance]]]] = {}
    for pair in between:
        by_source.setdefault(pair[0][0], {}).setdefault(pair[0], []).append(pair)
    chosen = []
    for arrows in by_source.values():
        most = max(map(len, arrows.values()))
        chosen += arrows[_nearest_to_the_middle([source for source, found in arrows.items() if len(found) == most])]
    return chosen


def _nearest_to_the_middle(instances: Sequence[Instance]) -> Instance:
    points = [point for _, point in instances]
    middle = [(min(values) + max(values)) / 2 for values in zip(*points, strict=True)]
    return min(instances, key=lambda i: (sum((a - b) ** 2 for a, b in zip(i[1], middle, strict=True)), i))


def _panel(statement: Statement, cut: tuple[dict[Point, tuple[int, int]], tuple[str, str], dict[str, int]],
           pairs: Sequence[tuple[Instance, Instance]]) -> Panel:
    points, names, fixed = cut
    arrows = {(points[a[1]], points[b[1]]) for a, b in pairs if a[0] == b[0] == statement.name}
    return Panel(title=panel_title(statement, fixed), axes=names, points=tuple(points.values()),
                 arrows=tuple(sorted(arrows)))
