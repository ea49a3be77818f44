"""All operators by name: a family of them per file, and one line here per family."""

from __future__ import annotations

from polysched.graph.operators import (
    approximations,
    broadcasting,
    contraction,
    control,
    elementwise,
    generation,
    indexing,
    layers,
    layouts,
    movement,
    normalisation,
    ordering,
    products,
    quantised,
    recurrent,
    reductions,
    resampling,
    sequential,
    spatial,
    windows,
)
from polysched.graph.operators.families import (
    blocks,
    features,
    fourier,
    grids,
    narrow,
    ngrams,
    norms,
    padding,
    patches,
    pooling,
    sampling,
    sequences,
    standardised,
    training,
    transposed,
)
from polysched.graph.operators.operator import Operator
from polysched.graph.values.graph import Node
from polysched.graph.values.refusals import Part, Remedy, refused

FAMILIES = (elementwise, broadcasting, movement, indexing, reductions, products, windows, normalisation, quantised,
            sequential, layers, layouts, spatial, approximations, contraction, resampling, recurrent, ordering,
            control, generation, sequences, fourier, sampling, patches, training, features, transposed, narrow,
            ngrams, blocks, norms, grids, padding, pooling, standardised)
DOMAINS = {training.DOMAIN: frozenset((training.GRADIENT, *(operator.name for operator in training.OPERATORS))),
           features.DOMAIN: frozenset(operator.name for operator in features.OPERATORS)}
"""Operators of other domains of ONNX than the standard one."""
OPERATORS: dict[str, Operator] = {operator.name: operator for family in FAMILIES for operator in family.OPERATORS}


def operator_of(node: Node) -> Operator:
    """The operator of a node.

    Raises
    ------
    UnsupportedGraphError : the registry has none of its name.
    """
    if node.op == training.GRADIENT:
        raise refused(node, "derivatives wait for the sizes that they need", Part.SHAPES, hint=Remedy.SIZES)
    if node.op not in OPERATORS:
        raise refused(node, f"there is no operator {node.op}", Part.WHOLE,
                      hint="polysched.graph.operators.registry lists those that there are; one of ONNX's runs "
                           "elsewhere by islands='allow', on the command line by --islands allow")
    return OPERATORS[node.op]
