"""Accelerators with buffers that a program fills itself: tiles, moves, places, and a simulation of the engines."""

from polysched.gpu.scratchpad.decide import map_to_scratchpad
from polysched.gpu.scratchpad.mapping import ScratchpadMapping
from polysched.gpu.scratchpad.options import ScratchpadOptions
from polysched.gpu.scratchpad.sizes import at_sizes

__all__ = ["ScratchpadMapping", "ScratchpadOptions", "at_sizes", "map_to_scratchpad"]
