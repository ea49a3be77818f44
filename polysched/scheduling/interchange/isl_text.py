"""Text in isl's notation, and what is wrong with it, in words: isl itself names a line of its own source."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import islpy as isl

from polysched.errors import BudgetExceededError, UsageError
from polysched.scheduling.interchange.dates import MOST_DATES
from polysched.scheduling.interchange.tree_syntax import fault_of_syntax
from polysched.scop.budget import ISL_OPERATIONS, in_words, require_budget, with_budget
from polysched.scop.schedule_nodes import NodeKind, kind_of

Value = TypeVar("Value")

_TREE = re.compile(r'\s*\{?\s*"?(domain|context)"?\s*:')
_QUOTED = re.compile(r'(\w+)"?\s*:\s*"([^"]*)"')
_TUPLE = re.compile(rf"\[[^][{{}}\";,]*(?:,[^][{{}}\";,]*){{{MOST_DATES}}}")
_PIECE = re.compile(r"[{};]")
_QUOTIENT = re.compile(r"\b(?:floor[dr]?|ceild?|mod)\b|%|\]\s*/")
_QUANTIFIED = re.compile(r"\bexists\b([^:]*)")
MOST_QUOTIENTS = 100
"""Of one relation; isl looks at no budget while it joins the equations of coprime ones."""
_PAIRS = {")": "(", "]": "[", "}": "{"}


_READERS: dict[str, tuple[str, Callable[[isl.Context, str], object]]] = {
    "domain": ("a set of instances", isl.UnionSet.read_from_str),
    "filter": ("a set of instances", isl.UnionSet.read_from_str),
    "schedule": ("a tuple of affine functions of instances", isl.MultiUnionPwAff.read_from_str),
    "options": ("a set of options", isl.UnionSet.read_from_str),
    "context": ("a set of parameters", isl.Set.read_from_str)}


def is_tree(text: str) -> bool:
    """Whether a text begins as a schedule tree does, and no map."""
    return _TREE.match(text) is not None


def read_tree(text: str) -> isl.Schedule:
    """A schedule tree.

    Raises
    ------
    UsageError : it is none; the witness is the first part that is wrong.
    BudgetExceededError : isl cannot read it within the budget.
    """
    fault = _unbalanced(text) or fault_of_syntax(text)   # before isl reads it, which crashes on some
    if not fault:
        try:
            tree = _read_in_budget("schedule tree", isl.Schedule.read_from_str, text)
            fault = _foreign_node(tree.get_root())
        except isl.Error:
            fault = _fault_of_parts(text)
        if not fault:
            return tree
    raise UsageError("the schedule tree cannot be read", witness=fault,
                     hint="Schedule.to_text writes one; isl's own notation is read too")


def read_map(text: str) -> isl.UnionMap:
    """A union map from instances to dates.

    Raises
    ------
    UsageError : it is none; the witness is the first relation that is wrong.
    BudgetExceededError : isl cannot read it within the budget.
    """
    try:
        return _read_in_budget("schedule map", isl.UnionMap.read_from_str, text)
    except isl.Error:
        raise UsageError("the schedule map cannot be read", witness=_fault_of_map(text),
                         hint="for instance [n] -> { S0[i, j] -> [j, i]; S1[i] -> [i, 0] }") from None


def read_relation(text: str, what: str) -> isl.Map | None:
    """A relation without names of tuples; a set is one from nothing.  None where the text is neither.

    Raises
    ------
    BudgetExceededError : isl cannot read it within the budget.
    """
    if _unbalanced(text):
        return None
    readers = (isl.Map.read_from_str, lambda context, own: isl.Map.from_range(isl.Set.read_from_str(context, own)))
    for read in readers if "->" in text.partition("{")[2] else readers[1:]:
        try:
            found = _read_in_budget(what, read, text)
        except isl.Error:
            continue
        for side in (isl.dim_type.in_, isl.dim_type.out):
            found = found.reset_tuple_id(side) if found.has_tuple_id(side) else found
        return found
    return None


def _read_in_budget(what: str, read: Callable[[isl.Context, str], Value], text: str) -> Value:
    """What isl reads."""
    if (wide := _TUPLE.search(text)) is not None:
        raise UsageError(f"the {what} has a tuple of more than {MOST_DATES} dimensions", witness=_short(wide[0]),
                         hint="no program has so many loops or parameters")
    if (divided := next((p for p in _PIECE.split(text) if _quotients(p) > MOST_QUOTIENTS), "")):
        raise UsageError(f"a relation of the {what} has more than {MOST_QUOTIENTS} quotients and quantified variables",
                         witness=_short(divided), hint="isl would take minutes for it")
    found = with_budget(ISL_OPERATIONS, partial(read, isl.DEFAULT_CONTEXT, text))
    if found is None:
        require_budget()   # where that of the caller is spent, the caller says so
        raise BudgetExceededError(f"reading the {what} takes more than {in_words(ISL_OPERATIONS)}",
                                  witness=_short(text), hint="give fewer dimensions, or smaller numbers")
    return found


def _quotients(piece: str) -> int:
    """How many variables isl makes of a relation's quotients and of what it quantifies, at most."""
    quantified = sum(found[1].count(",") + 1 for found in _QUANTIFIED.finditer(piece))
    return len(_QUOTIENT.findall(piece)) + quantified


def _foreign_node(node: isl.ScheduleNode, dates: int = 0) -> str:
    """What an extension adds to the program, or the loops that no program has; empty where there are none.

    Parameters
    ----------
    dates : members of bands above.
    """
    kind = kind_of(node)
    if kind == NodeKind.extension:
        return f"an extension adds instances that the program has not: {node.extension_get_extension()}"
    if kind == NodeKind.band:
        dates += node.band_n_member()
    if dates > MOST_DATES:
        return f"more than {MOST_DATES} members of bands are inside each other"
    return next(filter(None, (_foreign_node(node.child(k), dates) for k in range(node.n_children()))), "")


def _fault_of_parts(text: str) -> str:
    for key, value in _QUOTED.findall(text):
        what, reader = _READERS.get(key, ("", None))
        if reader is not None and not _reads(reader, value):
            return f'the {key} "{_short(value)}" is not {what}'
    return "its parts are right, but they are not put together as a tree: a domain, and below it one child"


def _fault_of_map(text: str) -> str:
    if fault := _unbalanced(text):
        return fault
    head, brace, rest = text.partition("{")
    body = rest.rpartition("}")[0]
    if not brace:
        return f"`{_short(text)}` has no relation in braces"
    for piece in body.split(";"):
        if not _reads(isl.UnionMap.read_from_str, f"{head}{{ {piece} }}"):
            return f"`{_short(piece)}` is no affine relation: every name has to be an iterator of it or a parameter"
    return f"`{_short(head)}` is no list of parameters like [n, m] ->"


def _reads(reader: Callable[[isl.Context, str], object], text: str) -> bool:
    try:
        reader(isl.DEFAULT_CONTEXT, text)
    except isl.Error:
        return False
    return True


def _unbalanced(text: str) -> str:
    """The first bracket without its partner; empty where there is none."""
    open_at: list[int] = []
    for position, character in enumerate(text):
        if character in _PAIRS.values():
            open_at.append(position)
        elif character in _PAIRS:
            if not open_at or text[open_at[-1]] != _PAIRS[character]:
                return f"`{character}` at character {position + 1}, behind `{_short(text[:position], end=True)}`, " \
                       "closes nothing that is open there"
            open_at.pop()
    if open_at:
        return f"`{text[open_at[-1]]}` at character {open_at[-1] + 1} is never closed: `{_short(text[open_at[-1]:])}`"
    return ""


def _short(text: str, *, end: bool = False, longest: int = 40) -> str:
    """As many characters of a text as a message has room for."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    return f"...{text[-longest:]}" if end else f"{text[:longest]}..."
