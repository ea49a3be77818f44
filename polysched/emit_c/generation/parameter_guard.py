"""The parameters for which a region does anything at all.

One test around the region lets everything inside rely on it: fewer guards, provably small integers, and an
AST that isl builds several times faster.
"""

from __future__ import annotations

import islpy as isl

from polysched.emit_c.generation.ast_reader import read_condition
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Condition
from polysched.records import dataclass
from polysched.scop.scop import Scop

_MANY_CONSTRAINTS = LIMITS.many_constraints
_TYPE_LIMIT = 1 << 30


@dataclass(frozen=True, eq=False, kw_only=True)
class ParameterGuard:
    """What holds inside the region.

    Parameters
    ----------
    condition : to be tested around the region; None when it holds anyway.
    context : the parameter values that can occur inside.
    """

    condition: Condition | None
    context: isl.Set

    @property
    def without_type_limits(self) -> isl.Set:
        """The context without the limits of the parameters' types, which say nothing about loops."""
        parts: list[isl.BasicSet] = []
        self.context.foreach_basic_set(parts.append)
        if len(parts) != 1:
            return self.context
        space = parts[0].get_space()
        kept = isl.BasicSet.universe(space)
        for constraint in parts[0].get_constraints():
            if abs(constraint.get_constant_val().to_python()) < _TYPE_LIMIT:
                kept = kept.add_constraint(constraint)
        return isl.Set.from_basic_set(kept)


def parameter_guard(scop: Scop, *, wanted: bool) -> ParameterGuard:
    """The simple hull of the parameters for which some statement has an instance.

    Parameters
    ----------
    wanted : test for it; plain loops run no iteration anyway and read better without.
    """
    if not wanted:
        return ParameterGuard(condition=None, context=scop.context.params())
    busy = isl.Set.from_basic_set(scop.domain.params().coalesce().simple_hull().remove_divs())
    context = scop.context.params()
    missing = busy.gist(context)
    if missing.plain_is_universe() or busy.is_empty():
        return ParameterGuard(condition=None, context=context)
    parts: list[isl.BasicSet] = []
    missing.foreach_basic_set(parts.append)
    if len(parts) != 1 or len(parts[0].get_constraints()) > _MANY_CONSTRAINTS:
        return ParameterGuard(condition=None, context=context)
    expr = isl.AstBuild.from_context(context).expr_from_set(missing)
    return ParameterGuard(condition=read_condition(expr), context=context.intersect(busy).coalesce())
