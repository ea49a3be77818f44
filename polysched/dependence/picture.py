"""Pictures of dependences: arrows between the instances of a statement."""

from __future__ import annotations

from collections.abc import Mapping

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.scop.picture import Panel, Picture, panel_title, slice_points, small_parameters
from polysched.scop.points import fix_parameters, pairs_of
from polysched.scop.scop import Statement

ORDERING = (DependenceKind.FLOW, DependenceKind.ANTI, DependenceKind.OUTPUT)


def draw_dependences(dependences: Dependences, *, parameters: Mapping[str, int] | None = None,
                     axes: tuple[str, str] | None = None,
                     kinds: tuple[DependenceKind, ...] = ORDERING) -> Picture:
    """Iteration domains with an arrow per dependence inside a statement, from source to sink.

    Parameters
    ----------
    parameters : values of the sizes; small ones are chosen otherwise.
    axes : horizontal and vertical iterator; the two innermost otherwise.
    kinds : which dependences are drawn.  Pairs between two statements, or with an end outside the slice, are not.
    """
    scop = dependences.scop
    values = dict(parameters) if parameters is not None else small_parameters(scop)
    chosen = [d for d in dependences.pairs if d.kind in kinds]
    return Picture(panels=tuple(_panel(s, chosen, values, axes) for s in scop.statements))


def _panel(statement: Statement, pairs: list[Dependence], parameters: Mapping[str, int],
           axes: tuple[str, str] | None) -> Panel:
    points, names, fixed = slice_points(statement, parameters, axes)
    arrows = set()
    for dependence in pairs:
        if not dependence.source == dependence.sink == statement.name:
            continue
        for source, sink in pairs_of(fix_parameters(dependence.relation, parameters)):
            if source in points and sink in points:
                arrows.add((points[source], points[sink]))
    return Panel(title=panel_title(statement, fixed), axes=names, points=tuple(points.values()),
                 arrows=tuple(sorted(arrows)))
