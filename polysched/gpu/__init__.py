"""Mapping of a schedule to a device with many work items: what is launched, in what order, and what is copied.

Names are loaded on first use: a program for this machine's cores needs the options alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.gpu.decide import map_to_device
    from polysched.gpu.mapping import GpuMapping, HostLoop, HostSequence, Launch
    from polysched.gpu.options import GpuOptions

_HOME = {"map_to_device": "decide", "GpuOptions": "options",
         **dict.fromkeys(("GpuMapping", "HostLoop", "HostSequence", "Launch"), "mapping")}

__all__ = ["GpuMapping", "GpuOptions", "HostLoop", "HostSequence", "Launch", "map_to_device"]

PROVIDED = {
    "Timeline._repr_html_": "scratchpad.chart:gantt_of",
}
"""What methods of values call (`scop.provided`)."""


__getattr__, __dir__ = loader(__name__, _HOME)
