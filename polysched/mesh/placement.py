"""`Placement`: where every operator of a graph stands on a mesh, how messages travel, and what that takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from functools import cached_property
from typing import Any

import numpy as np

from polysched.mesh.operators import OperatorGraph
from polysched.mesh.shapes import Rectangle, Shape
from polysched.mesh.target import MeshTarget
from polysched.records import dataclass
from polysched.scop.html import drawing, preformatted
from polysched.scop.provided import provided
from polysched.scop.shown import Shown


@dataclass(frozen=True)
class Route:
    """How the pieces of a message travel.

    Parameters
    ----------
    order : `xy`, along the row first, or `yx`.
    detours : whole ways of the pieces that cannot go so, because of dead cores; each as its cores.
    """

    order: str
    detours: tuple[tuple[tuple[int, int], ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A predicted figure, and what no placement is below.

    Parameters
    ----------
    name, unit : of what is predicted.
    value : of this placement.
    bound : at most the value; a placement that reaches it is best.
    holds : what the bound holds for: `any placement`, or `these shapes`.
    why : the bound, in a few words.
    """

    name: str
    unit: str
    value: float
    bound: float
    holds: str
    why: str

    def __post_init__(self) -> None:
        assert self.bound <= self.value * (1 + 1e-9), f"{self.name}: the bound {self.bound} is above {self.value}"

    @property
    def ratio(self) -> float | None:
        """The value over its bound; None where the bound is 0."""
        return self.value / self.bound if self.bound else None

    def __str__(self) -> str:
        ratio = f", {self.ratio:.3f} of it" if self.ratio is not None else ""
        return f"{self.name}: {self.value:.6g} {self.unit} (bound {self.bound:.6g} for {self.holds}: {self.why}{ratio})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Placement(Shown):
    """A rectangle of cores for each operator and a route for each message.

    Parameters
    ----------
    graph, target : what was placed, and on what.
    shapes, rectangles : of the operators, in their order.
    routes : of the messages, in their order.
    loads : bytes on every link for one item, shape (4, rows, columns): to the east, west, south, north of a core.
    figures : predictions with their bounds, by name.
    method : what placed it.
    notes : why it is so, a sentence each.
    """

    graph: OperatorGraph
    target: MeshTarget
    shapes: tuple[Shape, ...]
    rectangles: tuple[Rectangle, ...]
    routes: tuple[Route, ...]
    loads: np.ndarray
    figures: Mapping[str, Figure] = field(default_factory=dict)
    method: str = ""
    notes: tuple[str, ...] = ()

    def rectangle_of(self, name: str) -> Rectangle:
        """The rectangle of an operator."""
        return self.rectangles[self.graph.number[name]]

    @property
    def used_cores(self) -> int:
        """How many cores have an operator."""
        return sum(r.cores for r in self.rectangles)

    @cached_property
    def owners(self) -> np.ndarray:
        """The operator of each core by its number, -1 where there is none; shape (rows, columns)."""
        result = np.full((self.target.rows, self.target.columns), -1)
        for number, rectangle in enumerate(self.rectangles):
            result[rectangle.slices] = number
        return result

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        operators = [{"name": o.name, "row": r.row, "column": r.column, "rows": r.rows, "columns": r.columns,
                      "seconds": s.seconds, "memory": s.memory}
                     for o, r, s in zip(self.graph.operators, self.rectangles, self.shapes, strict=True)]
        messages = [{"source": m.source, "sink": m.sink, "bytes": m.bytes, "cut": m.cut, "order": r.order,
                     "detours": [[list(core) for core in way] for way in r.detours]}
                    for m, r in zip(self.graph.messages, self.routes, strict=True)]
        return {"graph": self.graph.name, "target": asdict(self.target), "method": self.method,
                "figures": {name: {**asdict(f), "ratio": f.ratio} for name, f in self.figures.items()},
                "operators": operators, "messages": messages,
                "loads": dict(zip(("east", "west", "south", "north"), self.loads.tolist(), strict=True)),
                "notes": list(self.notes)}

    def headline(self) -> str:
        """Graph, mesh and the first figure."""
        first = next(iter(self.figures.values()), None)
        return f"{self.graph.name[:60]} on {self.target.headline()} by {self.method}" + (
            f", {first.name} {first.value:.4g} {first.unit}" if first else "")

    def __str__(self) -> str:
        lines = [f"{self.graph.headline()}, on {self.target}", f"by {self.method}: {self.used_cores} of "
                 f"{self.target.live_cores} cores"]
        lines += [f"  {o.name}: {s.text} cores at ({r.row}, {r.column}), {s.seconds:.4g} s, {s.memory} B"
                  for o, r, s in zip(self.graph.operators, self.rectangles, self.shapes, strict=True)]
        lines += [str(f) for f in self.figures.values()]
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        svg: str = provided("mesh", "Placement._repr_html_")(self)
        return drawing(svg, alt=self.headline()) + preformatted("\n".join(map(str, self.figures.values())))
