"""A function of the parameters as a C expression of type `long`."""

from __future__ import annotations

from typing import TypeVar

import islpy as isl

from polysched.scop.plain_c import expression_in_c
from polysched.scop.scop import Scop

Value = TypeVar("Value", isl.PwAff, isl.Set)


def size_text(scop: Scop, value: isl.PwAff) -> str:
    """The expression, with the parameters as C spells them at the region; it needs no macros."""
    value = spelled(scop, value)
    build = isl.AstBuild.from_context(isl.Set.universe(value.domain().get_space().params()))
    return expression_in_c(build.expr_from_pw_aff(value.coalesce()))


def operand(text: str) -> str:
    """The text as an operand of a comparison: a choice `a ? b : c` stands in parentheses."""
    return f"({text})" if "?" in text else text


def at_least_one(text: str) -> str:
    """The C of a number that is one where the expression is less."""
    return f"({text} > 0 ? {text} : 1)"


def without_least(text: str) -> str:
    """The expression that `at_least_one` has been given; other texts as they are."""
    inside = text[1:].partition(" > 0 ? ")[0]
    return inside if text == at_least_one(inside) else text


def spelled(scop: Scop, value: Value) -> Value:
    """The function or set with the names of its parameters as C spells their values at the region."""
    for parameter in scop.parameters:
        at = value.find_dim_by_name(isl.dim_type.param, parameter.name)
        if at >= 0:
            value = value.set_dim_id(isl.dim_type.param, at, isl.Id(f"(long){parameter.spelling}"))
    return value
