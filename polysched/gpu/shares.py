"""Reductions by several teams: blocks share the values of a reduced loop where one block each leaves a device idle.

Every block writes what its team found to memory of the device; a second kernel combines these by one team.  Blocks do
not wait for one another, so what is before and behind a reduction becomes a launch of its own.

Rewrite:  launch(i, team): y[i] = 0; y[i] += sum of A[i][lane, lane + team, ...]
          ->  launch(i): y[i] = 0;  launch(i, s, team): part[i][s] = sum of A[i][lane + s * team, ...];
              launch(i, team): y[i] += sum of part[i][...]

Source: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA 2007, section "Problem: Global Synchronization".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import islpy as isl

from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import HostNode, HostSequence, Launch, Phase
from polysched.gpu.options import GpuOptions
from polysched.target.costs import DEVICE
from polysched.tiling.footprints.nest import extent_along


def in_shares(launch: Launch, *, options: GpuOptions, assumed: Mapping[str, int]) -> HostNode:
    """The launches of a team with several blocks for each value; the launch itself where one suffices.

    Parameters
    ----------
    launch : has a team, and phases of which one reduces at least.
    assumed : values of all parameters.
    """
    shares = options.shares or max(_shares(launch, phase, assumed) for phase in launch.phases if phase.reduces)
    if shares <= 1:
        return launch
    parts = tuple(_alone(launch, phase, shares, options) for phase in launch.phases)
    return parts[0] if len(parts) == 1 else HostSequence(parts=parts)


def _shares(launch: Launch, phase: Phase, assumed: Mapping[str, int]) -> int:
    """As many blocks as the device runs together, if what they spare pays for the launch of a second kernel."""
    assert phase.step is not None, "a reduction has steps"
    values = prod(extent_along(phase.domain, own, assumed) for own in launch.coordinates)
    steps = extent_along(phase.domain, phase.step, assumed)
    idle, each = int(DEVICE.items_together) // (max(values, 1) * launch.team), steps // launch.team
    shares = min(idle, each, LIMITS.most_shares)
    spared = (each - each / shares) * DEVICE.instance_seconds if shares > 1 else 0.0
    return shares if spared > DEVICE.launch_seconds else 1


def _alone(launch: Launch, phase: Phase, shares: int, options: GpuOptions) -> Launch:
    """A phase as a launch: a reduction with its teams, anything else with a work item per value."""
    def there(function: isl.UnionPwAff) -> isl.UnionPwAff:
        return function.intersect_domain(phase.domain)

    own = replace(launch, domain=phase.domain, host=tuple(map(there, launch.host)),
                  coordinates=tuple(map(there, launch.coordinates)))
    if phase.reduces is None:
        return replace(own, team=0, phases=(), block=options.block_of(len(own.coordinates)))
    return replace(own, shares=shares, phases=(replace(phase, waits=False),))
