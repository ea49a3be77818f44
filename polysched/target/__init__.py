"""What the code is built for and built with: the machine and the C compiler."""

from polysched.target.compiler import Compiler, find_compiler

__all__ = ["Compiler", "find_compiler"]
