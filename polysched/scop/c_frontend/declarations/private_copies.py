"""Variables that a pragma gives every thread a copy of: what holds a value from before the loop still holds it after.

    t = 5;
    #pragma omp parallel for private(t)
    for (...) { t = b[i]; a[i] = 2 * t; }
    return t;                                (5: the loop wrote copies)

Without the pragma the loop writes the variable itself, so it may go only where nothing reads the variable before it is
set again.

Source: OpenMP 4.5, sections 2.15.3.3 (private) and 2.15.3.4 (firstprivate).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.liveness import JUMPS, Effect, Liveness, first_effect, next_iteration
from polysched.scop.c_frontend.declarations.scopes import Scope
from polysched.scop.c_frontend.parse import SyntaxRegion, everything, place

_CLAUSE = re.compile(r"\b(first)?private\s*\(([^)]*)\)")


def check_private_copies(path: str, scope: Scope, region: SyntaxRegion) -> None:
    """Refuse a region with a pragma that makes copies of a variable whose own value is read later.

    Raises
    ------
    UnsupportedScopError : with the pragma.
    """
    liveness = Liveness(region)
    jumps = any(isinstance(n, JUMPS) for item in region.items for n in everything(item))
    copies = tuple(_copies(region.items, ()))
    for copy in copies:
        if _is_read_later(copy, scope, liveness) or (jumps and _is_named_beside(region, copy, copies)):
            raise UnsupportedScopError(
                f"the loop has copies of {copy.name}, whose own value is read behind it",
                where=place(path, copy.pragma), witness=f"#pragma {copy.pragma.string}",
                hint=f"declare {copy.name} inside the loop, without the clause")


@dataclass(frozen=True)
class _Copy:
    """A variable that a pragma makes copies of.

    Parameters
    ----------
    starts_with_value : they start with the variable's own value.
    loop : what stands behind the pragma.
    behind : what runs after that, nearest first.
    """

    pragma: c_ast.Pragma
    name: str
    starts_with_value: bool
    loop: c_ast.Node | None
    behind: tuple[Sequence[c_ast.Node], ...]


def _is_read_later(copy: _Copy, scope: Scope, liveness: Liveness) -> bool:
    effects = (first_effect(items, copy.name) for items in copy.behind)
    effect = next((e for e in effects if e is not Effect.NOTHING), Effect.NOTHING)
    symbol = scope.lookup(copy.name)
    return effect is Effect.READ or (effect is Effect.NOTHING and symbol is not None and liveness.live_after(symbol))


def _is_named_beside(region: SyntaxRegion, copy: _Copy, copies: Sequence[_Copy]) -> bool:
    """Whether the function names the variable itself outside of the loop: jumps may go to any such place."""
    others = (c.loop for c in copies if c.name == copy.name and not c.starts_with_value)
    apart = [copy.loop, *(loop for loop in others if all(n is not copy.pragma for n in everything(loop)))]
    inside = {id(n) for loop in apart for n in everything(loop)}
    return any(n.name == copy.name and id(n) not in inside for n in everything(region.function.body, c_ast.ID))


def _copies(items: Sequence[c_ast.Node], behind: tuple[Sequence[c_ast.Node], ...]) -> Iterator[_Copy]:
    """Every copy that pragmas in these statements make."""
    for at, item in enumerate(items):
        later = (items[at + 1:], *behind)
        match item:
            case c_ast.Pragma():
                yield from _of_pragma(item, items[at + 1:], behind)
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                yield from _copies([item.stmt], (next_iteration(item), *later))
            case c_ast.If():
                for branch in (item.iftrue, item.iffalse):
                    yield from _copies([] if branch is None else [branch], later)
            case c_ast.Compound():
                yield from _copies(item.block_items or [], later)
            case _:
                yield from _copies([child for _, child in item.children()], later)


def _of_pragma(pragma: c_ast.Pragma, after: Sequence[c_ast.Node],
               behind: tuple[Sequence[c_ast.Node], ...]) -> Iterator[_Copy]:
    """The copies that one pragma makes for the loop behind it and behind further pragmas."""
    at = next((k for k, node in enumerate(after) if not isinstance(node, c_ast.Pragma)), len(after))
    loop = after[at] if at < len(after) else None
    for first, names in _CLAUSE.findall(pragma.string or ""):
        for name in filter(None, map(str.strip, names.split(","))):
            yield _Copy(pragma, name, bool(first), loop, (after[at + 1:], *behind))
