"""LoopTree: a schedule tree as plain Python values, for transformations that rebuild it.

isl's schedule nodes change one place at a time through a cursor; primitives such as `fuse`, `reorder` or
`split_at` are easier to state as functions on an immutable tree.  `from_isl` and `to_isl` are inverse to
each other up to the spelling of sets; only domain, band, sequence, set, mark, filter and leaf nodes occur
in the schedules of this package, and others are refused.

Source: S. Verdoolaege, S. Guelton, T. Grosser, A. Cohen, "Schedule Trees", IMPACT 2014.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark

_TYPE: Any = isl.schedule_node_type


@dataclass(frozen=True, eq=False)
class Leaf:
    """The end of a branch: the instances that arrive here are not ordered further."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Band:
    """Nested loops that are scheduled together.

    Parameters
    ----------
    members : one `{ S[i, j] -> [f(i, j)] }` per loop, outermost first.
    coincident : per member, whether its iterations are independent given the loops outside the band.
    permutable : the members may be interchanged and tiled freely.
    child : what happens inside.
    options : isl's AST build options, as text; None when there are none.
    mark : what the tree says about the loop beyond its order; only on one-member bands.
    """

    members: tuple[isl.UnionPwAff, ...]
    coincident: tuple[bool, ...]
    permutable: bool
    child: Node
    options: str | None = None
    mark: LoopMark | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Sequence:
    """Branches in order (`ordered`) or in any order: pairs of a filter and what it selects."""

    branches: tuple[tuple[isl.UnionSet, Node], ...]
    ordered: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Mark:
    """A mark above `child` that is no `LoopMark` of the band below it."""

    name: str
    child: Node


@dataclass(frozen=True, eq=False, kw_only=True)
class Filter:
    """A lone filter: only these instances go on."""

    keep: isl.UnionSet
    child: Node


Node: TypeAlias = Leaf | Band | Sequence | Mark | Filter


@dataclass(frozen=True, eq=False, kw_only=True)
class LoopTree:
    """A whole schedule tree: the domain and the node below it."""

    domain: isl.UnionSet
    root: Node


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Band() | Mark() | Filter():
            return (node.child,)
        case Sequence():
            return tuple(child for _, child in node.branches)
        case Leaf():
            return ()


def with_children(node: Node, new: tuple[Node, ...]) -> Node:
    """The same node above other children."""
    match node:
        case Band() | Mark() | Filter():
            return replace(node, child=new[0])
        case Sequence():
            return replace(node, branches=tuple(
                (keep, child) for (keep, _), child in zip(node.branches, new, strict=True)))
        case Leaf():
            return node


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, in pre-order."""
    yield node
    for child in children(node):
        yield from walk(child)


def replace_node(root: Node, old: Node, new: Node) -> Node:
    """The tree below `root` with the node `old` (by identity) replaced by `new`."""
    if root is old:
        return new
    below = children(root)
    changed = tuple(replace_node(child, old, new) for child in below)
    if all(a is b for a, b in zip(below, changed, strict=True)):
        return root
    return with_children(root, changed)


def from_isl(schedule: isl.Schedule) -> LoopTree:
    """Decode isl's schedule tree.

    Raises
    ------
    UsageError : the tree has a node that this package does not use (extension, expansion, guard, context).
    """
    root = schedule.get_root()
    return LoopTree(domain=root.domain_get_domain(), root=_decode(root.child(0)))


def _decode(node: isl.ScheduleNode) -> Node:
    kind = node.get_type()
    if kind == _TYPE.leaf:
        return Leaf()
    if kind == _TYPE.band:
        return _decode_band(node)
    if kind in (_TYPE.sequence, _TYPE.set):
        branches = tuple(
            (filter_node.filter_get_filter(), _decode(filter_node.child(0)))
            for filter_node in (node.child(i) for i in range(node.n_children())))
        return Sequence(branches=branches, ordered=kind == _TYPE.sequence)
    if kind == _TYPE.mark:
        return _decode_mark(node)
    if kind == _TYPE.filter:
        return Filter(keep=node.filter_get_filter(), child=_decode(node.child(0)))
    raise UsageError(f"a schedule tree with a node of type {kind} cannot be transformed",
                     hint="use domain, band, sequence, set, filter and mark nodes only")


def _decode_mark(node: isl.ScheduleNode) -> Node:
    name = node.mark_get_id().get_name()
    child = _decode(node.child(0))
    mark = LoopMark.from_text(name)
    if mark is not None and isinstance(child, Band) and len(child.members) == 1 and child.mark is None:
        return replace(child, mark=mark)
    return Mark(name=name, child=child)


def _decode_band(node: isl.ScheduleNode) -> Node:
    partial = node.band_get_partial_schedule()
    count = node.band_n_member()
    child = _decode(node.child(0))
    if count == 0:
        return child
    options = node.band_get_ast_build_options()
    return Band(
        members=tuple(partial.get_union_pw_aff(i) for i in range(count)),
        coincident=tuple(bool(node.band_member_get_coincident(i)) for i in range(count)),
        permutable=bool(node.band_get_permutable()),
        child=child,
        options=None if options.is_empty() else options.to_str())


def to_isl(tree: LoopTree) -> isl.Schedule:
    """Encode as isl's schedule tree, through its text form."""
    text = f'{{ domain: {json.dumps(tree.domain.to_str())}{_child_text(tree.root)} }}'
    return isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text)


def _child_text(node: Node) -> str:
    return "" if isinstance(node, Leaf) else f", child: {_encode(node)}"


def _encode(node: Node) -> str:
    match node:
        case Band():
            return _encode_band(node)
        case Sequence():
            branches = ", ".join(
                f"{{ filter: {json.dumps(keep.to_str())}{_child_text(child)} }}" for keep, child in node.branches)
            return f"{{ {'sequence' if node.ordered else 'set'}: [ {branches} ] }}"
        case Mark():
            return f"{{ mark: {json.dumps(node.name)}{_child_text(node.child)} }}"
        case Filter():
            return f"{{ filter: {json.dumps(node.keep.to_str())}{_child_text(node.child)} }}"
        case Leaf():
            raise ValueError("a leaf has no text of its own")


def _encode_band(band: Band) -> str:
    # members become one multi-dimensional piecewise affine function over the union of statements
    partial = multi_union_pw_aff(band.members)
    words = [f"schedule: {json.dumps(partial.to_str())}"]
    if band.permutable:
        words.append("permutable: 1")
    if any(band.coincident):
        words.append(f"coincident: [ {', '.join(str(int(c)) for c in band.coincident)} ]")
    if band.options is not None:
        words.append(f"options: {json.dumps(band.options)}")
    text = f"{{ {', '.join(words)}{_child_text(band.child)} }}"
    if band.mark is not None:
        return f"{{ mark: {json.dumps(band.mark.to_text())}, child: {text} }}"
    return text


def multi_union_pw_aff(members: tuple[isl.UnionPwAff, ...]) -> isl.MultiUnionPwAff:
    """Stack one-dimensional functions into one band schedule."""
    values = isl.UnionPwAffList.alloc(isl.DEFAULT_CONTEXT, len(members))
    for member in members:
        values = values.add(member)
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(members))
    for member in members:
        space = space.align_params(member.get_space())
    return isl.MultiUnionPwAff.from_union_pw_aff_list(space, values)


def split_bands(node: Node) -> Node:
    """Every band as a chain of one-member bands, so that each node is one loop.

    A coincident flag is relative to the loops outside the whole band; for a member inside, the exact flag
    can only be stronger, so keeping it is sound.  Each one-member band is trivially permutable.
    """
    below = tuple(split_bands(child) for child in children(node))
    if not isinstance(node, Band) or len(node.members) == 1:
        return with_children(node, below)
    chain = below[0]
    for member, coincident in zip(reversed(node.members), reversed(node.coincident), strict=True):
        chain = Band(members=(member,), coincident=(coincident,), permutable=True, child=chain)
    return chain
