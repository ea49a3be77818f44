"""Whether a schedule tree runs every instance of a program exactly once."""

from __future__ import annotations

import islpy as isl

from polysched.errors import UsageError
from polysched.scop.schedule_nodes import NodeKind, kind_of


def require_complete(node: isl.ScheduleNode, domain: isl.UnionSet) -> None:
    """Refuse a tree in which an instance of the domain is lost, duplicated, or without a value in a band.

    Raises
    ------
    UsageError : with one such instance.
    """
    kind = kind_of(node)
    if kind == NodeKind.leaf:
        return
    if kind == NodeKind.domain:
        _require_subset(domain, node.domain_get_domain(), "the tree's domain lacks an instance")
    elif kind == NodeKind.band:
        _require_subset(domain, node.band_get_partial_schedule().domain(), "a band has no value for an instance")
    elif kind in (NodeKind.sequence, NodeKind.set):
        rest = domain
        for position in range(node.n_children()):
            chosen = node.child(position).filter_get_filter().intersect(domain)
            _require_subset(chosen, rest, "two children run the same instance")
            rest = rest.subtract(chosen)
            require_complete(node.child(position).child(0), chosen)
        _require_subset(rest, rest.subtract(rest), "no child runs an instance")
        return
    elif kind == NodeKind.filter:
        _require_subset(domain, node.filter_get_filter(), "a filter drops an instance")
    elif kind not in (NodeKind.mark, NodeKind.context, NodeKind.extension):
        raise UsageError("a schedule tree with guard or expansion nodes cannot be judged",
                         hint="apply the expansion to the statements first")
    require_complete(node.child(0), domain)


def _require_subset(part: isl.UnionSet, whole: isl.UnionSet, problem: str) -> None:
    if not part.is_subset(whole):
        lost = part.subtract(whole).sample_point()
        raise UsageError(f"not a schedule of this program: {problem}", witness=str(lost),
                         hint="a schedule runs every statement instance exactly once")
