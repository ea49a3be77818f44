"""The order as written: statements in loops and sequences, before the parameters are settled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import islpy as isl
from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.body import BodyStatement, Expr
from polysched.scop.c_frontend.subscripts.polynomials import Polynomial
from polysched.scop.scop import AccessKind


@dataclass(frozen=True, eq=False, kw_only=True)
class OpenAccess:
    """An access before the parameters of the Scop are settled; relation over the unit set.

    `polynomial` is the value of a single subscript, for arrays that may have to be delinearised; `count` is how many
    elements are reached from there on, where it is not one.
    """

    reference: str
    array: str
    kind: AccessKind
    relation: isl.Map
    subscripts: tuple[Expr, ...]
    exact: bool
    node: c_ast.Node
    domain: isl.Set
    polynomial: Polynomial | None = None
    count: isl.PwAff | None = None


@dataclass(frozen=True, eq=False)
class OpenStatement:
    """A statement before the parameters are settled; iterators as (isl name, shown name)."""

    name: str
    line: int
    domain: isl.Set
    iterators: tuple[tuple[str, str], ...]
    body: tuple[BodyStatement, ...]
    accesses: tuple[OpenAccess, ...]


@dataclass(frozen=True, eq=False)
class Leaf:
    """One statement of the order as written."""

    statement: OpenStatement


@dataclass(frozen=True, eq=False)
class Sequence:
    """Children one after the other."""

    children: tuple[Tree, ...]


@dataclass(frozen=True, eq=False)
class LoopTree:
    """A loop: its depth, whether its counter grows, and what it repeats."""

    depth: int
    forward: bool
    child: Tree


Tree: TypeAlias = Leaf | Sequence | LoopTree


def sequence(children: Iterable[Tree | None]) -> Tree | None:
    """The children in order; one alone stands for itself."""
    present = tuple(c for c in children if c is not None)
    if not present:
        return None
    return present[0] if len(present) == 1 else Sequence(present)
