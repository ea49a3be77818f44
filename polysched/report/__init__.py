"""One self-contained HTML page from results files, and the LaTeX tables and PDF plots that a paper includes."""

from polysched.report.entry import Entry, Provenance, TileTime, Variant
from polysched.report.reading import Results, read_results

__all__ = ["Entry", "Provenance", "Results", "TileTime", "Variant", "read_results"]
