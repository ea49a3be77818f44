"""The Scop and its front ends.

The functions that read C, MLIR or OpenScop are loaded on first use: the parsers take time to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.scop.c_frontend.frontend import all_from_c_file, all_from_c_text, from_c_file, from_c_text
    from polysched.scop.mlir_frontend import all_from_mlir, from_mlir
    from polysched.scop.openscop.program import all_from_openscop, from_openscop
    from polysched.scop.tir_frontend import from_tir

_HOME = {**dict.fromkeys(("all_from_c_file", "all_from_c_text", "from_c_file", "from_c_text"), "c_frontend.frontend"),
         **dict.fromkeys(("all_from_mlir", "from_mlir"), "mlir_frontend"),
         **dict.fromkeys(("all_from_openscop", "from_openscop"), "openscop.program"), "from_tir": "tir_frontend"}

__all__ = ["all_from_c_file", "all_from_c_text", "all_from_mlir", "all_from_openscop", "from_c_file", "from_c_text",
           "from_mlir", "from_openscop", "from_tir"]

PROVIDED = {
    "Picture.live": "pictures.page:Live",
    "Picture.page": "pictures.page:page_of",
    "Picture.svg": "pictures.svg:svg_of",
    "Picture.tikz": "pictures.tikz:tikz_of",
    "Solid.tikz": "pictures.tikz:tikz_of_solid",
    "Scop.__str__": "text:scop_text",
    "Scop._repr_html_": "display:scop_html",
}
"""What methods of values call (`scop.provided`)."""


__getattr__, __dir__ = loader(__name__, _HOME)
