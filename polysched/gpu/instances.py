"""Instances at given values of functions, which become parameters, and the values of a function over instances."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import islpy as isl

from polysched.scop.points import isl_value


def fixed(domain: isl.UnionSet, values: Mapping[str, isl.UnionPwAff]) -> isl.UnionSet:
    """The instances at which each function equals the parameter of its name.

    Rewrite:  { S[i, j] }  ->  [x] -> { S[i, j] : f(i, j) = x }
    """
    for name, function in values.items():
        parameter = isl.UnionPwAff.param_on_domain_id(domain, _identity(name))
        domain = domain.intersect(function.sub(parameter).zero_union_set())
    return domain


def within(domain: isl.UnionSet, function: isl.UnionPwAff, first: str, length: int) -> isl.UnionSet:
    """The instances at which a function has one of some values from a parameter on.

    Rewrite:  { S[i, j] }  ->  [x] -> { S[i, j] : x <= f(i, j) < x + length }
    """
    parameter = isl.UnionPwAff.param_on_domain_id(domain, _identity(first))
    offsets = function.intersect_domain(domain).sub(parameter).get_pw_aff_list()
    found = [isl.UnionSet.from_set(_between(offsets.get_at(k), length)) for k in range(offsets.n_pw_aff())]
    return reduce(lambda total, part: total.union(part), found, isl.UnionSet.empty(domain.get_space()))


def dealt(domain: isl.UnionSet, function: isl.UnionPwAff, lane: str, count: int) -> isl.UnionSet:
    """The instances at which a function has every so-manieth value, from that of a parameter on.

    Rewrite:  { S[i, j] }  ->  [x] -> { S[i, j] : (f(i, j) - x) mod count = 0 }
    """
    parameter = isl.UnionPwAff.param_on_domain_id(domain, _identity(lane))
    offsets = function.intersect_domain(domain).sub(parameter).get_pw_aff_list()
    parts = (offsets.get_at(k) for k in range(offsets.n_pw_aff()))
    found = [isl.UnionSet.from_set(own.mod_val(isl_value(count)).zero_set()) for own in parts]
    return reduce(lambda total, part: total.union(part), found, isl.UnionSet.empty(domain.get_space()))


def _between(offset: isl.PwAff, length: int) -> isl.Set:
    """Where a function is at least 0 and less than a length."""
    above = offset.neg().add_constant_val(isl_value(length - 1))
    return offset.nonneg_set().intersect(above.nonneg_set())


def image_of(domain: isl.UnionSet, function: isl.UnionPwAff) -> isl.Set:
    """`{ [x] }`: the values of a function over some instances."""
    images = isl.UnionMap.from_union_pw_aff(function).intersect_domain(domain).range()
    return isl.Set.from_union_set(images).coalesce()


def _identity(name: str) -> isl.Id:
    """The identity that isl's parser gives a parameter; one that islpy makes is never equal to it."""
    return isl.Set(f"[{name}] -> {{ : }}").get_dim_id(isl.dim_type.param, 0)
