"""All passes over graphs by name, in an order that fits: `polysched passes --graph` lists them."""

from __future__ import annotations

from collections.abc import Callable

from polysched.graph.passes.arguments import split_arguments
from polysched.graph.passes.calls import basic_block_form, defuse, inline_calls
from polysched.graph.passes.canonical import canonicalise
from polysched.graph.passes.channel_layout import alter_layout, convert_layout
from polysched.graph.passes.common import common_subexpressions
from polysched.graph.passes.compilers import merge_compiler_regions
from polysched.graph.passes.control import resolve_control
from polysched.graph.passes.dead_code import remove_dead_code
from polysched.graph.passes.expansion import expand_compositions
from polysched.graph.passes.expressions import simplify_expression
from polysched.graph.passes.fast_math import fast_math
from polysched.graph.passes.filled import lazy_initialisation
from polysched.graph.passes.for_inference import simplify_inference
from polysched.graph.passes.fusion import fuse_by_dominators
from polysched.graph.passes.integer_products import integer_products
from polysched.graph.passes.kernel_layout import (
    drop_unit_dimensions,
    pad_explicitly,
    products_of_places,
    transposed_by_phases,
)
from polysched.graph.passes.narrow.carriers import in_carriers
from polysched.graph.passes.parallel import combine_parallel
from polysched.graph.passes.precision import mixed_precision
from polysched.graph.passes.simple import fold_constants, with_types
from polysched.graph.values.graph import Graph
from polysched.records import dataclass


@dataclass(frozen=True)
class GraphPass:
    """One pass with its default options.

    Parameters
    ----------
    run : from the graph before to the graph after; both compute the same.
    exact : whether the values after are those before, bit for bit.
    """

    run: Callable[[Graph], Graph]
    exact: bool = True

    @property
    def name(self) -> str:
        """The function's name."""
        return self.run.__name__

    @property
    def summary(self) -> str:
        """The first sentence of its documentation."""
        return " ".join((self.run.__doc__ or "").split("\n\n")[0].split())

    @property
    def is_standard(self) -> bool:
        """Whether every model that is compiled goes through it."""
        return self.run in STANDARD


STANDARD = (resolve_control, in_carriers, integer_products, fold_constants, simplify_inference, expand_compositions,
            transposed_by_phases, fold_constants, simplify_expression, common_subexpressions, remove_dead_code,
            with_types)
"""What every model that is compiled goes through, in this order."""

PASSES: dict[str, GraphPass] = {each.name: each for each in (
    GraphPass(resolve_control),
    GraphPass(in_carriers, exact=False),
    GraphPass(inline_calls),
    GraphPass(integer_products, exact=False),
    GraphPass(fold_constants),
    GraphPass(simplify_inference, exact=False),
    GraphPass(expand_compositions, exact=False),
    GraphPass(transposed_by_phases, exact=False),
    GraphPass(simplify_expression),
    GraphPass(common_subexpressions),
    GraphPass(remove_dead_code),
    GraphPass(with_types),
    GraphPass(canonicalise),
    GraphPass(lazy_initialisation),
    GraphPass(combine_parallel, exact=False),
    GraphPass(convert_layout, exact=False),
    GraphPass(alter_layout, exact=False),
    GraphPass(drop_unit_dimensions, exact=False),
    GraphPass(products_of_places, exact=False),
    GraphPass(pad_explicitly, exact=False),
    GraphPass(mixed_precision, exact=False),
    GraphPass(fast_math, exact=False),
    GraphPass(split_arguments),
    GraphPass(basic_block_form),
    GraphPass(merge_compiler_regions),
    GraphPass(fuse_by_dominators),
    GraphPass(defuse))}


def standard(graph: Graph) -> Graph:
    """The graph after the standard passes: what is planned and compiled.

    Raises
    ------
    UnsupportedGraphError : control flow depends on data, or an operator refuses its operands.
    """
    for run in STANDARD:
        graph = run(graph)
    return graph
