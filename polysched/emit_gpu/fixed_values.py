"""Instances at one value of each of some functions, which become parameters: what one work item runs."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.emit_c.generation.ast_reader import read_function
from polysched.emit_c.loop_ir.index import Linear
from polysched.gpu.mapping import Launch
from polysched.scop.scop import union_set


def fixed(domain: isl.UnionSet, values: Mapping[str, isl.UnionPwAff]) -> isl.UnionSet:
    """The instances at which each function equals the parameter of its name.

    Rewrite:  { S[i, j] }  ->  [x] -> { S[i, j] : f(i, j) = x }
    """
    for name, function in values.items():
        parameter = isl.UnionPwAff.param_on_domain_id(domain, isl.Id(name, domain.get_ctx()))
        domain = domain.intersect(function.sub(parameter).zero_union_set())
    return domain


def values_of(domain: isl.UnionSet, function: isl.UnionPwAff) -> isl.Set:
    """`{ [x] }`: the values of a function over some instances, or a superset without gaps."""
    images = isl.UnionMap.from_union_pw_aff(function).intersect_domain(domain).range()
    return isl.Set.from_basic_set(isl.Set.from_union_set(images).simple_hull())


def host_instances(launch: Launch, context: isl.Set) -> isl.Set:
    """`{ kernel0[h0, h1] }`: the values of the loops of the host at which a kernel is launched."""
    found = []
    sets = launch.domain.intersect_params(context).get_set_list()
    for position in range(sets.n_set()):
        instances = sets.get_at(position)
        relation = isl.Map.from_domain(instances)
        for function in launch.host:
            own = isl.UnionMap.from_union_pw_aff(function).intersect_domain(isl.UnionSet.from_set(instances))
            relation = relation.flat_range_product(isl.Map.from_union_map(own))
        found.append(relation.range().set_tuple_name(launch.name))
    return isl.Set.from_union_set(union_set(found)).coalesce()


def bounds(values: isl.Set, context: isl.Set) -> tuple[Linear, Linear]:
    """The least of the values and one past the last, for all parameters of a context; equal where there are none."""
    one = isl.Val.one(values.get_ctx())
    return (everywhere(values.dim_min(0), context), everywhere(values.dim_max(0).add_constant_val(one), context))


def everywhere(function: isl.PwAff, context: isl.Set) -> Linear:
    """A function of the parameters, 0 where it has no value."""
    outside = context.subtract(function.domain())
    if not outside.is_empty():
        function = function.union_add(isl.PwAff.val_on_domain(outside, isl.Val.zero(context.get_ctx())))
    return read_function(function.gist(context).coalesce())
