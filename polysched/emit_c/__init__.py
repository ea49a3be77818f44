"""Emission: a tiled schedule becomes C11 with OpenMP."""

from polysched.emit_c.c_source import CSource, EmitOptions
from polysched.emit_c.emission import Scan, emit, scan
from polysched.emit_c.function import CFunction, emit_function
from polysched.emit_c.guard import guarded
from polysched.emit_c.splice import splice

__all__ = ["CFunction", "CSource", "EmitOptions", "Scan", "emit", "emit_function", "guarded", "scan", "splice"]
