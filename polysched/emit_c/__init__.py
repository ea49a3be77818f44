"""Emission: a tiled schedule becomes C11 with OpenMP."""

from polysched.emit_c.alternatives.crossover import Crossover, crossover
from polysched.emit_c.alternatives.guard import guarded, untestable
from polysched.emit_c.alternatives.safe import original_when_small
from polysched.emit_c.c_source import CSource, EmitOptions
from polysched.emit_c.emission import emit, printed
from polysched.emit_c.function import CFunction, emit_function
from polysched.emit_c.lowering import Lowered, Scan, lower, scan
from polysched.emit_c.splice import splice

__all__ = [
    "CFunction",
    "CSource",
    "Crossover",
    "EmitOptions",
    "Lowered",
    "Scan",
    "crossover",
    "emit",
    "emit_function",
    "guarded",
    "lower",
    "original_when_small",
    "printed",
    "scan",
    "splice",
    "untestable",
]

PROVIDED = {
    "CSource._repr_html_": "display:c_source_html",
}
"""What methods of values call (`scop.provided`)."""
