"""Calls that compute nothing and tell the compiler something: assumptions, and values that are no longer needed.

`__pencil_assume` and `__pencil_kill` are PENCIL's (Baghdadi et al., "PENCIL: A Platform-Neutral Compute Intermediate
Language for Accelerator Programming", PACT 2015), `__builtin_assume` is clang's.
"""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polysched.scop.c_frontend.affine import condition
from polysched.scop.c_frontend.bindings import describe
from polysched.scop.c_frontend.extraction import Extraction, NotAffine

ASSUMPTIONS = frozenset({"__pencil_assume", "__builtin_assume"})
REMARKS = ASSUMPTIONS | {"__pencil_kill"}


def is_remark(x: Extraction, node: c_ast.Node) -> bool:
    """Whether a statement is a call without an effect at run time; a function that the file defines is none."""
    return (isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.name.name in REMARKS
            and node.name.name not in x.functions)


def assume(x: Extraction, node: c_ast.FuncCall, domain: isl.Set) -> None:
    """Take an affine condition that the program states for granted; what depends on data says nothing here.

    Raises
    ------
    UnsupportedScopError : the condition contradicts what is known already.
    """
    if node.name.name not in ASSUMPTIONS:
        return
    for stated in node.args.exprs if node.args else ():
        try:
            with x.attempt(strict=True):
                holds = condition(x, stated, domain)
        except NotAffine:
            continue
        x.require(domain, holds, kind="stated", node=node, text=f"`{describe(stated)}`, as the program states")
