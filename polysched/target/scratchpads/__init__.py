"""Accelerators whose buffers a program fills itself, by name.  A new one is a file and a line in `SCRATCHPADS`."""

from polysched.target.scratchpads.davinci import DAVINCI
from polysched.target.scratchpads.description import ScratchpadTarget
from polysched.target.scratchpads.gemmini import GEMMINI

SCRATCHPADS: dict[str, ScratchpadTarget] = {own.name: own for own in (DAVINCI, GEMMINI)}
