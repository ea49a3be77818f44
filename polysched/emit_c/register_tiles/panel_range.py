"""The values of one loop variable for which a panel has room and for which it is filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polysched.emit_c.generation.ast_reader import read_index
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import Comparison, Linear, Variable, constant, extreme, variable, variables
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.register_tiles.register_nests import EdgeRange
from polysched.records import dataclass
from polysched.scop.scop import Access, Scop


@dataclass(frozen=True, kw_only=True)
class PanelRange:
    """One dimension of a panel.

    Parameters
    ----------
    variable : the loop variable.
    origin, count : the panel has room for `count` values from `origin` on.
    lower, upper : those that are copied: the first one, and one past the last.
    is_edge : the variable belongs to an edge of the register tile.
    is_block : the variable counts tiles.
    """

    variable: str
    origin: Linear
    count: int
    lower: Linear
    upper: Linear
    is_edge: bool
    is_block: bool = False

    @classmethod
    def of_edge(cls, part: EdgeRange, origin: Linear, count: int, starts: Sequence[Linear],
                ends: Sequence[Linear]) -> PanelRange:
        """The range of an edge whose full extent is given, cut off by the edge's other fixed bounds.

        Parameters
        ----------
        starts, ends : the first values, and those past the last, by the bounds of the loops that move the edge.
        """
        return cls(variable=part.edge.variable, origin=origin, count=count,
                   lower=extreme("max", [*starts, *part.lowers]), upper=extreme("min", [*ends, *part.uppers]),
                   is_edge=True)


def clipped(scop: Scop, accesses: Sequence[Access], iterators: Mapping[str, Linear], ranges: Sequence[PanelRange],
            inside: frozenset[str], facts: Facts) -> list[PanelRange] | None:
    """The ranges for a block that is no box, cut off where the arrays end; None where that cannot be proved.

    Some elements may then be copied that no instance reads; they have to exist.
    """
    by_name = {r.variable: r for r in ranges}
    inside -= {r.variable for r in ranges if r.is_block}
    for access in accesses:
        extents = scop.array(access.array).extents
        if len(extents) != len(access.subscripts):
            return None
        for subscript, extent in zip(access.subscripts, extents, strict=True):
            form = linear_form(subscript, iterators)
            if form is None or extent is None or not _fits(form, _extent_form(extent), by_name, inside, facts):
                return None
    return list(by_name.values())


def _fits(form: Linear, end: Linear, by_name: dict[str, PanelRange], inside: frozenset[str], facts: Facts) -> bool:
    """Whether a subscript stays in its array; an edge's range is cut so that it does."""
    edges = [r for r in by_name.values() if r.is_edge and r.variable in variables(form)]
    if not edges:
        return facts.imply(Comparison(">=", form, constant(0))) and facts.imply(Comparison("<", form, end))
    part = edges[0]
    rest = form - variable(part.variable)
    if len(edges) > 1 or form.coefficient(Variable(part.variable)) != 1 or variables(rest) & inside:
        return False
    lower = part.lower
    if not facts.imply(Comparison(">=", part.origin + rest, constant(0))):
        lower = extreme("max", [lower, rest * -1])
    by_name[part.variable] = replace(part, lower=lower, upper=extreme("min", [part.upper, end - rest]))
    return True


def _extent_form(extent: isl.PwAff) -> Linear:
    context = extent.domain().params()
    return read_index(isl.AstBuild.from_context(context).expr_from_pw_aff(extent.project_domain_on_params()))
