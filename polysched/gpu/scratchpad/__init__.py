"""Accelerators with buffers that a program fills itself: tiles, moves, places, and a simulation of the engines.

Names are loaded on first use, as in the room above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.gpu.scratchpad.decide import map_to_scratchpad
    from polysched.gpu.scratchpad.mapping import ScratchpadMapping
    from polysched.gpu.scratchpad.options import ScratchpadOptions
    from polysched.gpu.scratchpad.sizes import at_sizes

_HOME = {"map_to_scratchpad": "decide", "ScratchpadMapping": "mapping", "ScratchpadOptions": "options",
         "at_sizes": "sizes"}

__all__ = ["ScratchpadMapping", "ScratchpadOptions", "at_sizes", "map_to_scratchpad"]


__getattr__, __dir__ = loader(__name__, _HOME)
