"""The C programs that `polysched demo` transforms, verifies and times."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
PROGRAMS = ("matrix_product.c", "stencil.c")
