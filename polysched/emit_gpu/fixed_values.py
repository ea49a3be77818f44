"""Values of functions over instances as C: of the loops of the host, and the bounds of values."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polysched.dependence.legality import filtered_sets
from polysched.emit_c.generation.ast_reader import read_condition, read_index
from polysched.emit_c.loop_ir.index import Condition, Linear, constant, extreme, quotient, shifted, variable
from polysched.gpu.instances import image_of
from polysched.gpu.mapping import Launch
from polysched.scop.scop import union_set


def host_instances(launch: Launch, context: isl.Set) -> isl.Set:
    """`{ kernel0[h0, h1] }`: the values of the loops of the host at which a kernel is launched.

    Without gaps, unless only the values themselves have ends.  A launch that has no instance runs no work item, or
    some that do nothing.
    """
    found = []
    for instances in filtered_sets(launch.domain.intersect_params(context)).values():
        relation = isl.Map.from_domain(instances)
        for function in launch.host:
            own = isl.UnionMap.from_union_pw_aff(function).intersect_domain(isl.UnionSet.from_set(instances))
            relation = relation.flat_range_product(isl.Map.from_union_map(own))
        found.append(relation.range().set_tuple_name(launch.name))
    values = isl.Set.from_union_set(union_set(found))
    hull = isl.Set.from_basic_set(values.simple_hull())
    ends = all(hull.dim_is_bounded(isl.dim_type.set, position) for position in range(len(launch.host)))
    return (hull if ends else values.coalesce()).gist_params(context)


def when(elements: isl.Set, context: isl.Set) -> Condition | None:
    """The condition on the parameters that there are elements; None where it always holds."""
    needed = elements.params().compute_divs().coalesce().gist(context)
    if needed.plain_is_universe():
        return None
    return read_condition(isl.AstBuild.from_context(context).expr_from_set(needed))


def bounds(values: isl.Set, context: isl.Set | None = None) -> tuple[Linear, Linear]:
    """The least of the values and one past the last; the second is no larger where there are none, or any number.

    Parameters
    ----------
    context : the parameter values that can occur.
    """
    hull = values.simple_hull().remove_divs()
    first, end = values.dim_min(0), values.dim_max(0)
    if _same(hull, first, end):
        return _of_constraints(hull)
    context = isl.Set.universe(values.get_space().params()) if context is None else context
    behind = end.add_constant_val(isl.Val.one(end.get_ctx()))
    return _everywhere(first, context), _everywhere(behind, context)


def launched_at(launch: Launch, names: Sequence[str], context: isl.Set) -> isl.Set:
    """What holds of the parameters, and of the loops of the host by their names, at every launch of a kernel.

    These are all values at which the host launches it, those in between at which it has no instance among them.
    """
    equal = " and ".join(f"h{k} = {name}" for k, name in enumerate(names))
    values = ", ".join(f"h{k}" for k in range(len(names)))
    place = isl.Set(f"[{', '.join(names)}] -> {{ {launch.name}[{values}] : {equal} }}")
    return host_instances(launch, context).intersect(place).params().intersect(context)


def within_values(launch: Launch, names: Sequence[str], runs: isl.Set, outside: isl.UnionSet,
                  edges: Sequence[int] = ()) -> isl.Set:
    """What holds of the coordinates of work items, or of the places where their blocks begin, beside `runs`.

    Rewrite:  x, 1 <= v < n   ->  x >= 1
              x, 1 <= v < 32  ->  x >= 1, x = 1 + (a multiple of the edge), x <= 31, if 1 is always among the values

    Nothing of launches of which some have no instance: nobody knows where their work items are.

    Parameters
    ----------
    names : of the coordinates, or of the places of blocks.
    outside : the instances, for loops of the host that are parameters.
    edges : of the blocks.
    """
    if not runs.is_subset(outside.params()):
        return runs
    for name, function, edge in zip(names, launch.coordinates, edges or (1,) * len(names), strict=True):
        values = image_of(outside, function)
        hull = isl.Set.from_basic_set(values.simple_hull().remove_divs())
        runs = runs.intersect(isl.Set(f"[{name}] -> {{ [v] : v <= {name} }}").intersect(hull).params().remove_divs())
        least, most = values.dim_min_val(0), values.dim_max_val(0)
        if edge > 1 and least.is_int() and most.is_int() and _is_among(least, values, runs):
            runs = runs.intersect(isl.Set(
                f"[{name}] -> {{ : {name} <= {most} and ({name} - ({least})) mod {edge} = 0 }}"))
    return runs


def _is_among(value: isl.Val, values: isl.Set, runs: isl.Set) -> bool:
    """Whether a value is one of some, whatever the parameters are: the least of a triangle is not that of each row."""
    return bool(runs.is_subset(values.fix_val(isl.dim_type.set, 0, value).params()))


def outer_bounds(values: isl.Set, context: isl.Set) -> tuple[Linear, Linear]:
    """A number that no value is below and one that all are below, without looking for the least and the largest."""
    hull = values.simple_hull().remove_divs()
    if isl.Set.from_basic_set(hull).dim_is_bounded(isl.dim_type.set, 0):
        return _of_constraints(hull)
    return bounds(values, context)


def _same(hull: isl.BasicSet, first: isl.PwAff, end: isl.PwAff) -> bool:
    """Whether a hull has the ends of the values that it is of."""
    whole = isl.Set.from_basic_set(hull)
    if not whole.dim_is_bounded(isl.dim_type.set, 0):
        return False
    return bool(whole.dim_min(0).intersect_domain(first.domain()).is_equal(first)
                and whole.dim_max(0).intersect_domain(end.domain()).is_equal(end))


def _everywhere(function: isl.PwAff, context: isl.Set) -> Linear:
    """A function of the parameters; 0 where it has no value."""
    outside = context.subtract(function.domain())
    zero = isl.PwAff.val_on_domain(outside, isl.Val.zero(context.get_ctx()))
    whole = function.union_add(zero).gist(context).coalesce()
    return read_index(isl.AstBuild.from_context(context).expr_from_pw_aff(whole))


def _of_constraints(hull: isl.BasicSet) -> tuple[Linear, Linear]:
    """The least value of a hull and one past the last."""
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
