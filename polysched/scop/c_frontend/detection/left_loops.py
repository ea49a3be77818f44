"""What `--autodetect` leaves as written: a line for every loop that is in no region, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set

from pycparser import c_ast

from polysched.errors import PolyschedError, SourceLocation
from polysched.scop.c_frontend.declarations.written_loops import named_loop
from polysched.scop.c_frontend.parse import LOOPS, everything


def left_loops(node: c_ast.Node, is_own: Callable[[c_ast.Node], bool], taken: Set[c_ast.Node],
               reasons: Mapping[c_ast.Node, PolyschedError]) -> Iterator[str]:
    """The lines for the loops below a node, outermost loops only where nothing inside them is in a region.

    Parameters
    ----------
    is_own : whether a node was written where it stands; what replaced a call was not.
    taken : the statements of all regions.
    reasons : why a statement makes no region.
    """
    if node in taken:
        return
    if not isinstance(node, LOOPS) or _is_block(node) or not is_own(node):
        for _, child in node.children():
            yield from left_loops(child, is_own, taken, reasons)
        return
    if any(below in taken for below in everything(node)):
        if own := reasons.get(node):
            yield _line(node, "stays around loops that are transformed", own)
        for _, child in node.children():
            yield from left_loops(child, is_own, taken, reasons)
        return
    found = [reason for below in everything(node) if (reason := reasons.get(below))]
    yield _line(node, "stays as it is", _deepest(node, reasons) if found else None)


def _is_block(node: c_ast.Node) -> bool:
    """Whether a node is `do ... while (0)`: a block as macros write it, and no loop."""
    return isinstance(node, c_ast.DoWhile) and isinstance(node.cond, c_ast.Constant) and node.cond.value == "0"


def _deepest(node: c_ast.Node, reasons: Mapping[c_ast.Node, PolyschedError]) -> PolyschedError | None:
    """The reason of the first innermost statement below a node: it says more than that of the whole."""
    for _, child in node.children():
        if found := _deepest(child, reasons):
            return found
    return reasons.get(node)


def _line(loop: c_ast.Node, becomes: str, reason: PolyschedError | None) -> str:
    where = SourceLocation(str(loop.coord.file), int(loop.coord.line))
    if reason is None:
        return f"{where}: {named_loop(loop)} {becomes}: it is no statement of a block"
    return left_line(where, f"{named_loop(loop)} {becomes}", reason)


def left_line(where: SourceLocation, becomes: str, reason: PolyschedError) -> str:
    """The line for a part of a file that stays as written.

    Parameters
    ----------
    becomes : the part and what becomes of it, `the region stays as it is`.
    """
    place = reason.where
    known = isinstance(place, SourceLocation) and place.line not in (0, where.line)
    elsewhere = f"line {place.line}: " if known and isinstance(place, SourceLocation) else ""
    witness = f" (`{' '.join(reason.witness.split())}`)" if reason.witness else ""
    return f"{where}: {becomes}: {elsewhere}{reason.problem}{witness}"
