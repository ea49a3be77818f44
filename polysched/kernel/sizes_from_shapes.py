"""The parameters of a Scop from the shapes of the arrays that a call passes."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.errors import UsageError
from polysched.scop.points import with_sizes
from polysched.scop.scop import Scop

PARAM = isl.dim_type.param


def sizes_of_shapes(scop: Scop, shapes: Mapping[str, tuple[int, ...]], given: Mapping[str, int]) -> dict[str, int]:
    """The value of every parameter, from values that were given and from the extents of arrays.

    Parameters
    ----------
    shapes : of the arrays of a call, by name; each with as many dimensions as the Scop's array.
    given : values of parameters that the call names.

    Raises
    ------
    UsageError : shapes that do not fit each other, that leave a parameter open, or for which the Scop is not.
    """
    sizes = _settled(scop, isl.Set.universe(scop.context.get_space()), dict(given))
    known = -1
    while known < len(sizes):   # an extent of two parameters says more once one is known, and is checked with both
        known = len(sizes)
        for name, shape in shapes.items():
            for dimension, size in enumerate(shape):
                sizes = _with_extent(scop, name, shape, dimension, size, sizes)
    if missing := [p.spelling for p in scop.parameters if p.name not in sizes]:
        raise UsageError(f"{scop.name}: no shape says what {missing[0]} is", hint=f"pass it: {missing[0]}=...")
    if with_sizes(scop.context, sizes).is_empty():
        shown = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        raise UsageError(f"{scop.name}: the sizes do not fit", witness=shown, hint=f"the program is for {scop.context}")
    return sizes


def _with_extent(scop: Scop, name: str, shape: tuple[int, ...], dimension: int, size: int,
                 sizes: dict[str, int]) -> dict[str, int]:
    """The parameters that are known once one extent is."""
    extent = scop.array(name).extents[dimension]
    if extent is None:
        return sizes
    value = extent if extent.get_domain_space().is_params() else extent.project_domain_on_params()
    fitting = with_sizes(value.eq_set(isl.PwAff.from_aff(isl.Aff.zero_on_domain(
        isl.LocalSpace.from_space(value.get_domain_space())).add_constant_val(isl.Val(size)))), sizes)
    if not fitting.is_empty():
        return _settled(scop, fitting, sizes)
    text = scop.array(name).c_extents[dimension] if scop.array(name).c_extents else str(extent)
    known = with_sizes(isl.Set.from_pw_aff(value), sizes)
    low = known.dim_min_val(0)
    wanted = f"{text} = {low}" if low.is_int() and low.eq(known.dim_max_val(0)) and str(low) != text else text
    raise UsageError(f"{scop.name}: {name} has the shape {shape}, its extent {dimension} has to be {wanted}")


def _settled(scop: Scop, fitting: isl.Set, sizes: dict[str, int]) -> dict[str, int]:
    """The sizes with those parameters for which only one value is left."""
    found = dict(sizes)
    for parameter in scop.parameters:
        at = fitting.find_dim_by_name(PARAM, parameter.name)
        if parameter.name in found or at < 0:
            continue
        values = isl.Set("{ [x] }").intersect_params(fitting)
        symbol = isl.PwAff(f"[{parameter.name}] -> {{ [x] -> [({parameter.name})] }}")
        counted = values.intersect(isl.PwAff("{ [x] -> [(x)] }").eq_set(symbol))
        low, high = counted.dim_min_val(0), counted.dim_max_val(0)
        if low.is_int() and low.eq(high):
            found[parameter.name] = int(low.to_python())
    return found
