"""C for accelerators with buffers that a program fills itself."""

from polysched.emit_gpu.scratchpad.emission import ScratchpadSource, emit_scratchpad

__all__ = ["ScratchpadSource", "emit_scratchpad"]
