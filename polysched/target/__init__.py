"""What the code is built for and built with: the machine and the C compiler."""

from polysched.target.compiler import Compiler, find_compiler
from polysched.target.target import CacheLevel, CorePorts, Target, host

__all__ = ["CacheLevel", "Compiler", "CorePorts", "Target", "find_compiler", "host"]
