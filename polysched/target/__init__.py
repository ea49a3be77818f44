"""What the code is built for and built with: the machine and the C compiler."""

from polysched.target.compiler import CLANG_NAMES, Compiler, find_compiler
from polysched.target.target import CacheLevel, CorePorts, Target, host
from polysched.target.targets import TARGETS, find_target

__all__ = ["CLANG_NAMES", "TARGETS", "CacheLevel", "Compiler", "CorePorts", "Target", "find_compiler", "find_target",
           "host"]
