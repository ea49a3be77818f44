"""Block programs: one function run by many program ids over blocks of arrays, read as loops."""

from polysched.scop.block_frontend.block_source import BlockSource, read_block_program
from polysched.scop.block_frontend.loops import loops_of
from polysched.scop.block_frontend.races import refuse_races
from polysched.scop.block_frontend.triton_text import triton_text

__all__ = ["BlockSource", "loops_of", "read_block_program", "refuse_races", "triton_text"]
