"""What the code is built for and built with: the machine and the C compiler."""

from polysched.target.compiler import CLANG_NAMES, Compiler, find_compiler
from polysched.target.costs import Costs
from polysched.target.target import LINE_BYTES, CacheLevel, CorePorts, Target, host
from polysched.target.targets import TARGETS, find_target

__all__ = ["CLANG_NAMES", "LINE_BYTES", "TARGETS", "CacheLevel", "Compiler", "CorePorts", "Costs", "Target",
           "find_compiler", "find_target", "host"]
