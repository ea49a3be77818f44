"""Regions in OpenScop, the exchange format of Clan, Candl, Pluto and CLooG, and in the form of ScopLib before it.

Source: C. Bastoul, "OpenScop: A Specification and a Library for Data Exchange in Polyhedral Compilation Tools", 2011.
"""

from polysched.scop.openscop.reading import read_all_openscop, read_openscop
from polysched.scop.openscop.region import OpenScopRegion, OpenScopStatement
from polysched.scop.openscop.scoplib import begins_as_openscop, regions_of
from polysched.scop.openscop.writing import openscop_text

__all__ = ["OpenScopRegion", "OpenScopStatement", "begins_as_openscop", "openscop_text", "read_all_openscop",
           "read_openscop", "regions_of"]
