"""Questions about the dependences of a program: what a loop carries, what prevents more, and what would remove it."""

from polysched.dependence.questions.blocking import blocking, carried_by
from polysched.dependence.questions.blocks import Block, LoopBlocks, Removal, Wish

__all__ = ["Block", "LoopBlocks", "Removal", "Wish", "blocking", "carried_by"]
