"""Two loops over the same lanes, one right behind the other -> one loop, where each lane has only to do with itself.

Rewrite:  for lane in range(64): t[p, lane] = a[p, lane] * 3      ->  for lane in range(64):
          for lane1 in range(64): a[p, lane1] = t[p, lane1] >> 2        t[p, lane] = a[p, lane] * 3
                                                                        a[p, lane] = t[p, lane] >> 2

What only such a loop has then needs no tile: it becomes a variable (`emit_c.nests.array_contraction`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class LaneNest:
    """Loops over the lanes of a shape.

    Parameters
    ----------
    first, end : of its lines.
    depth : of its outermost loop.
    shape : edges; those of 1 have no loop.
    names : of the lanes; `0` for an edge of 1.
    body : the lines inside, as they stand in no loop.
    """

    first: int
    depth: int
    shape: tuple[int, ...]
    names: tuple[str, ...]
    body: tuple[str, ...]
    end: int = -1


def joined_bodies(first: LaneNest, second: LaneNest, temporaries: Collection[str],
                  own: Sequence[str]) -> tuple[str, ...] | None:
    """Both bodies in the loops of the first nest; None where a lane of one has to do with another lane of the other.

    Parameters
    ----------
    temporaries : arrays with one tile per program.
    own : the subscripts of the element of such an array that belongs to a lane.
    """
    if first.shape != second.shape:
        return None
    renamed = {old: new for old, new in zip(second.names, first.names, strict=True) if old != "0"}
    behind = tuple(re.sub(r"\b[A-Za-z_]\w*\b", lambda m: renamed.get(m[0], m[0]), line) for line in second.body)
    before, after = (_Uses.of(body) for body in (first.body, behind))
    at_home = f"({', '.join(own)})" if len(own) > 1 else own[0]
    for name in before.written | after.written:
        places = [use.place for use in (*before.uses, *after.uses) if use.name == name]
        in_both = {name} <= before.names & after.names
        if in_both and (name not in temporaries or any(place != at_home for place in places)):
            return None
    return first.body + behind


@dataclass(frozen=True)
class _Use:
    """An array with the text of its subscripts, or a variable."""

    name: str
    place: str
    written: bool


@dataclass(frozen=True)
class _Uses:
    uses: tuple[_Use, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(use.name for use in self.uses)

    @property
    def written(self) -> frozenset[str]:
        return frozenset(use.name for use in self.uses if use.written)

    @staticmethod
    def of(lines: Sequence[str]) -> _Uses:
        return _Uses(tuple(_uses(ast.parse("\n".join(lines)))))


def _uses(tree: ast.AST) -> Iterator[_Use]:
    """Every array and variable; the name of an array has no use of its own."""
    bases = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=place, ctx=context):
                yield _Use(name, ast.unparse(place), isinstance(context, ast.Store))
            case ast.Name(id=name, ctx=context) if id(node) not in bases:
                yield _Use(name, "", isinstance(context, ast.Store))
