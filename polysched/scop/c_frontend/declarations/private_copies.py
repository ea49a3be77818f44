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
from polysched.scop.c_frontend.declarations.liveness import Effect, Liveness, first_effect
from polysched.scop.c_frontend.declarations.scopes import Scope
from polysched.scop.c_frontend.parse import SyntaxRegion, place

_CLAUSE = re.compile(r"\b(?:first)?private\s*\(([^)]*)\)")
_Behind = tuple[Sequence[c_ast.Node], ...]


def check_private_copies(path: str, scope: Scope, region: SyntaxRegion) -> None:
    """Refuse a region with a pragma that makes copies of a variable whose own value is read later.

    Raises
    ------
    UnsupportedScopError : with the pragma.
    """
    liveness = Liveness(region)
    for pragma, name, behind in _copies(region.items, ()):
        effects = (first_effect(items, name) for items in behind)
        effect = next((e for e in effects if e is not Effect.NOTHING), Effect.NOTHING)
        symbol = scope.lookup(name)
        if effect is Effect.READ or (effect is Effect.NOTHING and symbol is not None and liveness.live_after(symbol)):
            raise UnsupportedScopError(
                f"the loop has copies of {name}, whose own value is read behind it", where=place(path, pragma),
                witness=f"#pragma {pragma.string}", hint=f"declare {name} inside the loop, without the clause")


def _copies(items: Sequence[c_ast.Node], behind: _Behind) -> Iterator[tuple[c_ast.Pragma, str, _Behind]]:
    """Each pragma with a variable that it makes copies of, and what runs after its loop, nearest first."""
    for at, item in enumerate(items):
        later = (items[at + 1:], *behind)
        if isinstance(item, c_ast.Pragma):
            after_loop = (items[at + 2:], *behind)
            for names in _CLAUSE.findall(item.string or ""):
                yield from ((item, name.strip(), after_loop) for name in names.split(",") if name.strip())
        elif isinstance(item, c_ast.For | c_ast.While | c_ast.DoWhile):
            yield from _copies([child for _, child in item.children()], ([item], *later))
        else:
            yield from _copies([child for _, child in item.children()] if not isinstance(item, c_ast.Compound)
                               else item.block_items or [], later)
