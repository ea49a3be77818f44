"""Several steps in a launch as loops: those of a block, what its work items share, and the loops of one instance."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from polysched.emit_c.loop_ir.index import Linear
from polysched.emit_c.loop_ir.loops import Node
from polysched.emit_gpu.fixed_values import outer_bounds
from polysched.emit_gpu.names import DeviceNames
from polysched.gpu.instances import fixed, image_of
from polysched.gpu.mapping import Launch
from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class StepLoop:
    """Values of a function: the name of the variable, the first, and one past the last."""

    name: str
    first: Linear
    end: Linear


@dataclass(frozen=True, eq=False, kw_only=True)
class TimeTileLoops:
    """What a block runs.

    Parameters
    ----------
    steps : loops of the block, outermost first.
    dealt : the values that its work items share at one value of all steps, fastest first.
    loops : of the instances at one value of all.
    """

    steps: tuple[StepLoop, ...]
    dealt: tuple[StepLoop, ...]
    loops: Node


def time_tile_loops(launch: Launch, inside: isl.UnionSet, runs: isl.Set, names: DeviceNames,
                    generate: Callable[[isl.UnionSet, isl.Set], Node]) -> TimeTileLoops:
    """The loops of a launch with several steps.

    Parameters
    ----------
    inside : its instances at one value of loops of the host and of coordinates, which are parameters.
    runs : what holds of the parameters.
    generate : the loops over some instances, by what is known of the parameters.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into the budget.
    """
    assert launch.tiles is not None, "the launch has several steps"
    steps, dealt, known = [], [], runs
    for number, function in enumerate(launch.tiles.steps):
        name = names.taken.fresh("at_step" if function is launch.tiles.steps[-1] else f"tile{number}")
        values = image_of(inside, function)
        steps.append(_loop(name, values, runs))
        known = known.intersect(_within_bounds(values, name))
        inside = fixed(inside, {name: function})
    shared = inside
    for number, function in enumerate(launch.tiles.dealt):
        name = names.taken.fresh(f"own{number}")
        values = image_of(shared, function)
        dealt.append(_loop(name, values, runs))
        known = known.intersect(_within_bounds(values, name))
        inside = fixed(inside, {name: function})
    return TimeTileLoops(steps=tuple(steps), dealt=tuple(dealt), loops=generate(inside, known))


def _loop(name: str, values: isl.Set, runs: isl.Set) -> StepLoop:
    first, end = outer_bounds(values, runs)
    return StepLoop(name=name, first=first, end=end)


def _within_bounds(values: isl.Set, name: str) -> isl.Set:
    """What holds of a variable between the bounds of some values, and of all parameters that they depend on."""
    kinds = isl.dim_type
    hull = values.simple_hull().remove_divs()
    found = isl.Set.universe(values.get_space())
    for constraint in hull.get_constraints():
        if constraint.get_coefficient_val(kinds.set, 0).to_python():
            found = found.add_constraint(constraint)
    fixed_here = isl.Set(f"[{name}] -> {{ [x] : x = {name} }}")
    return found.intersect(fixed_here.align_params(found.get_space())).params()
