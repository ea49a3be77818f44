"""Instances at one value of each of some functions, which become parameters: what one work item runs."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.emit_c.loop_ir.index import Linear, constant, extreme, quotient, shifted, variable
from polysched.gpu.mapping import Launch
from polysched.scop.scop import union_set


def fixed(domain: isl.UnionSet, values: Mapping[str, isl.UnionPwAff]) -> isl.UnionSet:
    """The instances at which each function equals the parameter of its name.

    Rewrite:  { S[i, j] }  ->  [x] -> { S[i, j] : f(i, j) = x }
    """
    for name, function in values.items():
        parameter = isl.UnionPwAff.param_on_domain_id(domain, _identity(name))
        domain = domain.intersect(function.sub(parameter).zero_union_set())
    return domain


def _identity(name: str) -> isl.Id:
    """The identity that isl's parser gives a parameter; one that islpy makes is never equal to it."""
    return isl.Set(f"[{name}] -> {{ : }}").get_dim_id(isl.dim_type.param, 0)


def values_of(domain: isl.UnionSet, function: isl.UnionPwAff) -> isl.Set:
    """`{ [x] }`: the values of a function over some instances, or a superset without gaps."""
    images = isl.UnionMap.from_union_pw_aff(function).intersect_domain(domain).range()
    return isl.Set.from_basic_set(isl.Set.from_union_set(images).simple_hull())


def host_instances(launch: Launch, context: isl.Set) -> isl.Set:
    """`{ kernel0[h0, h1] }`: the values of the loops of the host at which a kernel is launched, without gaps.

    A launch that has no instance runs no work item, or some that do nothing.
    """
    found = []
    sets = launch.domain.intersect_params(context).get_set_list()
    for position in range(sets.n_set()):
        instances = sets.get_at(position)
        relation = isl.Map.from_domain(instances)
        for function in launch.host:
            own = isl.UnionMap.from_union_pw_aff(function).intersect_domain(isl.UnionSet.from_set(instances))
            relation = relation.flat_range_product(isl.Map.from_union_map(own))
        found.append(relation.range().set_tuple_name(launch.name))
    hull = isl.Set.from_union_set(union_set(found)).simple_hull()
    return isl.Set.from_basic_set(hull).gist_params(context)


def bounds(values: isl.Set) -> tuple[Linear, Linear]:
    """The least of the values and one past the last; the second is no larger where there are none, or any number."""
    hull = values.simple_hull().remove_divs()
    lower: list[Linear] = []
    upper: list[Linear] = []
    for constraint in hull.get_constraints():
        factor = constraint.get_coefficient_val(isl.dim_type.set, 0).to_python()
        if not factor:
            continue
        value = _first(constraint, factor) if factor > 0 else _last(constraint, -factor)
        lower += [value] if factor > 0 or constraint.is_equality() else []
        upper += [value] if factor < 0 or constraint.is_equality() else []
    return extreme("max", lower), shifted(extreme("min", upper), 1)


def _first(constraint: isl.Constraint, factor: int) -> Linear:
    """`x` of `factor * x + form >= 0`, the least one."""
    return quotient(_form(constraint), factor, truncates=False) * -1


def _last(constraint: isl.Constraint, factor: int) -> Linear:
    """`x` of `form - factor * x >= 0`, the last one."""
    return quotient(_form(constraint), factor, truncates=False)


def _form(constraint: isl.Constraint) -> Linear:
    """What a constraint says of the parameters alone."""
    parameters = isl.dim_type.param
    total = constant(constraint.get_constant_val().to_python())
    for k in range(constraint.dim(parameters)):
        factor = constraint.get_coefficient_val(parameters, k).to_python()
        total += variable(str(constraint.get_dim_name(parameters, k))) * factor
    return total
