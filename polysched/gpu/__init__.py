"""Mapping of a schedule to a device with many work items: what is launched, in what order, and what is copied."""

from polysched.gpu.decide import map_to_device
from polysched.gpu.mapping import GpuMapping, HostLoop, HostSequence, Launch
from polysched.gpu.options import GpuOptions

__all__ = ["GpuMapping", "GpuOptions", "HostLoop", "HostSequence", "Launch", "map_to_device"]

PROVIDED = {
    "Timeline._repr_html_": "scratchpad.chart:gantt_of",
}
"""What methods of values call (`scop.provided`)."""
