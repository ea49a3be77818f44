"""What the code is built for and built with: the machine and the C compiler."""

from polysched.target.compiler import CLANG_NAMES, Compiler, find_compiler
from polysched.target.costs import Costs
from polysched.target.target import LINE_BYTES, CacheLevel, CorePorts, Target, host

__all__ = ["CLANG_NAMES", "LINE_BYTES", "CacheLevel", "Compiler", "CorePorts", "Costs", "Target", "find_compiler",
           "host"]
