"""From a schedule tree to isl's AST, within a budget of isl operations and without callbacks.

The loop marks of the tree are rewritten first so that each says which schedule dimensions it speaks of:
isl drops loops of one iteration, and without that a mark could be taken for one of a loop further in.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import islpy as isl

from polysched.errors import BudgetExceededError
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark
from polysched.scop.budget import in_words, with_budget
from polysched.tiling.shapes.split_tiles import in_place_of_pieces

_LOG = logging.getLogger(__name__)
_TYPE: Any = isl.schedule_node_type  # the stubs of islpy type node kinds as int
NO_DIVISIONS = "isl lost sight of what it divides"
_DEPTH_LIMIT = 64
NO_UNROLLING_MESSAGE = "cannot find lower bound for unrolling"
UNKNOWN_DIVISIONS_MESSAGE = "input involves unknown divs"
PLACEHOLDER = "polysched_c"
TYPE_LIMIT = 2**15 - 1
"""Constants of this size or more in the context are taken for the limits of a C type."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BuiltAst:
    """isl's AST and what had to be given up to get it.

    Parameters
    ----------
    root : the AST; loop variables are `polysched_c<schedule dimension>`.
    fallbacks : one sentence per request of the tree that was dropped for lack of budget.
    """

    root: isl.AstNode
    fallbacks: tuple[str, ...] = ()


def build_ast(tree: isl.Schedule, *, context: isl.Set, max_operations: int) -> BuiltAst:
    """Generate the AST of a schedule tree.

    Source: Grosser, Verdoolaege, Cohen, "Polyhedral AST generation is more than scanning polyhedra",
    TOPLAS 37(4), 2015.

    Parameters
    ----------
    context : the parameter values that can occur; spares guards that hold anyway.
    max_operations : isl operations per attempt, with the seconds that go with them; the first that fits is taken.
        Nested bands are made one first: isl scans the same loops, and does not simplify at every level the sums of
        divisions of the levels around it again, which takes it minutes, at 40 microseconds an operation, for the tile
        loops of a wavefront of several dimensions or of rows in pieces.

    Raises
    ------
    BudgetExceededError : not even the plain AST fits, or isl gives none.
    """
    tree = with_long_bands(_annotate_marks(tree))
    ladder: tuple[tuple[str, isl.Schedule], ...] = (("", _with_whole_pieces(tree)),)
    if _has_ast_options(tree):
        ladder += (("full and partial tiles share their loops, and isl unrolls none of them",
                    _without_ast_options(tree)),)
    fallbacks: list[str] = []
    reason = ""
    for lost, attempt in ladder:
        if lost:
            fallbacks.append(f"{lost}: {reason}")
            _LOG.warning(fallbacks[-1])
        built = _try_build(attempt, context, max_operations)
        if isinstance(built, isl.AstNode):
            return BuiltAst(root=built, fallbacks=tuple(fallbacks))
        reason = built
    raise BudgetExceededError(
        reason if reason == NO_DIVISIONS else f"generating the loops takes more than {in_words(max_operations)}",
        where="emit_c",
        hint="use smaller bands or no tiles, or raise max_operations")


def _try_build(tree: isl.Schedule, context: isl.Set, max_operations: int) -> isl.AstNode | str:
    """The AST, or why isl gave none."""
    isl_context = context.get_ctx()
    names = isl.IdList.alloc(isl_context, _DEPTH_LIMIT)
    for depth in range(_DEPTH_LIMIT):
        names = names.add(isl.Id(f"{PLACEHOLDER}{depth}", isl_context))
    build = isl.AstBuild.from_context(without_type_ranges(context)).set_iterators(names)
    try:
        root = with_budget(max_operations, partial(build.node_from_schedule, tree))
    except isl.Error as error:
        if NO_UNROLLING_MESSAGE in str(error):
            return "a loop to be unrolled has no single lower bound"
        if UNKNOWN_DIVISIONS_MESSAGE in str(error):   # isl's own: not even a schedule as written is safe from it
            return NO_DIVISIONS
        raise
    return f"the AST took more than {in_words(max_operations)}" if root is None else root


def without_type_ranges(context: isl.Set) -> isl.Set:
    """A superset of the context without the limits that only say that a parameter fits its C type.

    Loops that are right for more parameter values are right; and isl takes up to ten times as long with
    constants near 2**31 in its bounds.
    """
    free = isl.Set.empty(context.get_space())
    for basic in context.get_basic_sets():
        kept = isl.BasicSet.universe(basic.get_space())
        for constraint in basic.get_constraints():
            if abs(constraint.get_constant_val().to_python()) < TYPE_LIMIT:
                kept = kept.add_constraint(constraint)
        free = free.union(isl.Set.from_basic_set(kept))
    return free


def _annotate_marks(tree: isl.Schedule) -> isl.Schedule:
    """Add `depth=` and `members=` to each loop mark: the schedule dimensions of the band right below."""

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() == _TYPE.mark:
            text = node.mark_get_id().get_name()
            below = node.child(0)
            if LoopMark.from_text(text) is not None and below.get_type() == _TYPE.band:
                members = below.band_n_member()
                text += f" depth={node.get_schedule_depth()} members={members}"
                node = node.delete().insert_mark(isl.Id(text, node.get_ctx()))
        for position in range(node.n_children()):
            node = visit(node.child(position)).parent()
        return node

    return visit(tree.get_root()).get_schedule()


def with_long_bands(tree: isl.Schedule) -> isl.Schedule:
    """The tree with each chain of bands, marks between them or not, as one band below all of the marks.

    Rewrite:  mark a, band [i], mark b, band [j]  ->  mark a, mark b, band [i, j]

    The marks say by themselves which dimensions they speak of.  Bands with options for isl stay as they are.
    """

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() == _TYPE.band:
            node, marks = _absorb(node)
            for mark in reversed(marks):
                node = node.insert_mark(mark)
            for _ in marks:
                node = node.child(0)
            return visit(node.child(0)).ancestor(1 + len(marks))
        for position in range(node.n_children()):
            node = visit(node.child(position)).parent()
        return node

    return visit(tree.get_root()).get_schedule()


def _with_whole_pieces(tree: isl.Schedule) -> isl.Schedule:
    """The tree with loops inside a piece of space that isl generates once.

    A piece of any width at any place is empty, or cut off, in many ways, for each of which isl would make loops.
    """
    def visit(node: isl.ScheduleNode, inside: bool) -> isl.ScheduleNode:
        if node.get_type() == _TYPE.band and inside and not _has_own_options(node):
            node = node.band_set_ast_build_options(isl.UnionSet.read_from_str(node.get_ctx(), "{ atomic[x] }"))
        inside = inside or (node.get_type() == _TYPE.mark
                            and in_place_of_pieces(node.mark_get_id().get_name()) is not None)
        for position in range(node.n_children()):
            node = visit(node.child(position), inside).parent()
        return node

    return visit(tree.get_root(), False).get_schedule()


def _absorb(band: isl.ScheduleNode) -> tuple[isl.ScheduleNode, list[isl.Id]]:
    """A band with the members of the bands right below it, and the marks that stood between them."""
    marks: list[isl.Id] = []
    while True:
        below, between = band.child(0), []
        while below.get_type() == _TYPE.mark:
            between.append(below.mark_get_id())
            below = below.child(0)
        if below.get_type() != _TYPE.band or _has_own_options(below) or _has_own_options(band):
            return band, marks
        members = band.band_get_partial_schedule().flat_range_product(below.band_get_partial_schedule())
        node = below.delete()
        for _ in between:
            node = node.parent().delete()
        node = node.parent().delete()
        band = node.insert_partial_schedule(members.reset_tuple_id(isl.dim_type.out))
        marks += between


def _has_own_options(band: isl.ScheduleNode) -> bool:
    return not band.band_get_ast_build_options().is_empty()


def _has_ast_options(tree: isl.Schedule) -> bool:
    def visit(node: isl.ScheduleNode) -> bool:
        return (node.get_type() == _TYPE.band and _has_own_options(node)) or any(
            visit(node.child(position)) for position in range(node.n_children()))

    return visit(tree.get_root())


def _without_ast_options(tree: isl.Schedule) -> isl.Schedule:
    """Drop the separate, unroll, atomic and isolate options of every band."""

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() == _TYPE.band:
            node = node.band_set_ast_build_options(isl.UnionSet.read_from_str(node.get_ctx(), "{ }"))
        for position in range(node.n_children()):
            node = visit(node.child(position)).parent()
        return node

    return visit(tree.get_root()).get_schedule()


def mark_coverage(text: str) -> tuple[LoopMark, range] | None:
    """The loop mark that an AST mark node carries, and the schedule dimensions it speaks of."""
    mark = LoopMark.from_text(text)
    words = dict(word.split("=", 1) for word in text.split()[1:] if "=" in word)
    if mark is None or "depth" not in words:
        return None
    first = int(words["depth"])
    return mark, range(first, first + int(words["members"]))
