"""A function of the parameters as a C expression of type `long`."""

from __future__ import annotations

import islpy as isl

from polysched.scop.scop import Scop


def size_text(scop: Scop, value: isl.PwAff) -> str:
    """The expression, with the parameters as C spells them at the region."""
    for parameter in scop.parameters:
        at = value.find_dim_by_name(isl.dim_type.param, parameter.name)
        if at >= 0:
            value = value.set_dim_id(isl.dim_type.param, at, isl.Id(f"(long){parameter.spelling}"))
    build = isl.AstBuild.from_context(isl.Set.universe(value.domain().get_space().params()))
    return str(build.expr_from_pw_aff(value.coalesce()).to_C_str())
