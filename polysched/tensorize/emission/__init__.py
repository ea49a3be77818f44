"""From a match to C: packed operands, register blocks, the instruction or its emulator."""

from polysched.tensorize.emission.function import EmissionOptions, Emitted, emit_match
from polysched.tensorize.emission.library import library_call
from polysched.tensorize.emission.plan import Plan, make_plan

__all__ = ["EmissionOptions", "Emitted", "Plan", "emit_match", "library_call", "make_plan"]
