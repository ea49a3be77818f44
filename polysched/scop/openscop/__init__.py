"""Regions in OpenScop, the exchange format of Clan, Candl, Pluto and CLooG.

Source: C. Bastoul, "OpenScop: A Specification and a Library for Data Exchange in Polyhedral Compilation Tools", 2011.
"""

from polysched.scop.openscop.reading import read_openscop
from polysched.scop.openscop.region import OpenScopRegion, OpenScopStatement
from polysched.scop.openscop.writing import openscop_text

__all__ = ["OpenScopRegion", "OpenScopStatement", "openscop_text", "read_openscop"]
