"""Placement of operator graphs on a mesh of cores: rectangles, positions, routes, loads, and bounds beside them.

    from polysched.mesh import MeshTarget, place, read_graph
    placement = place(read_graph(text), MeshTarget(rows=8, columns=8))
"""

from polysched.mesh.compute_shift import ComputeShift, compute_shift
from polysched.mesh.kernel_graph import KernelGraph, read_kernel_graph
from polysched.mesh.many import ManyOperators, ManyPlacement, place_many
from polysched.mesh.operators import Message, Operator, OperatorGraph, chain, read_graph
from polysched.mesh.placement import Figure, Placement, Route
from polysched.mesh.placing import PlaceOptions, place
from polysched.mesh.shapes import Rectangle, Shape
from polysched.mesh.target import MeshTarget, read_target
from polysched.mesh.walker import verify, walk

__all__ = ["ComputeShift", "Figure", "KernelGraph", "ManyOperators", "ManyPlacement", "MeshTarget", "Message",
           "Operator", "OperatorGraph", "PlaceOptions", "Placement", "Rectangle", "Route", "Shape", "chain",
           "compute_shift", "place", "place_many", "read_graph", "read_kernel_graph", "read_target", "verify", "walk"]

PROVIDED = {
    "Placement._repr_html_": "picture:svg_of",
}
"""What methods of values call (`scop.provided`)."""
