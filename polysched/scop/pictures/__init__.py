"""How pictures are drawn: as SVG, as TikZ, and as pages that a reader moves."""
