"""Statements that compute nothing and tell the compiler something: assumptions, and values that nobody uses.

`__pencil_assume` and `__pencil_kill` are PENCIL's (Baghdadi et al., "PENCIL: A Platform-Neutral Compute Intermediate
Language for Accelerator Programming", PACT 2015), `__builtin_assume` is clang's.
"""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import describe
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Pointer, Scalar
from polysched.scop.c_frontend.extraction import Extraction, NotAffine
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.affine import condition

ASSUMPTIONS = frozenset({"__pencil_assume", "__builtin_assume"})
POSITIVE_STEP = "__polysched_positive_step"
"""What `rewrites.parameter_steps` states of a loop."""
GOES_FORWARD = "__polysched_goes_forward"
"""What `rewrites.induction` states of the loops that step a variable."""
REMARKS = ASSUMPTIONS | {"__pencil_kill", POSITIVE_STEP, GOES_FORWARD}


_WITHOUT_EFFECT = (c_ast.Constant, c_ast.UnaryOp, c_ast.BinaryOp, c_ast.TernaryOp, c_ast.ArrayRef)
_OPERATORS_WITHOUT_EFFECT = frozenset({"+", "-", "~", "!", "*", "&"})


def is_remark(x: Extraction, node: c_ast.Node) -> bool:
    """Whether a statement has no effect at run time: such a call (no function that the file defines), or `(void)x`.

    Calls that were inlined and whose result nobody uses leave casts to other types.
    """
    if isinstance(node, c_ast.Cast):
        return _has_no_effect(x, node.expr)
    return (isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.name.name in REMARKS
            and node.name.name not in x.functions)


def _has_no_effect(x: Extraction, node: c_ast.Node) -> bool:
    """Whether nobody can tell if an expression is evaluated: no assignment, call or volatile object is in it."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof":
        return True
    if isinstance(node, c_ast.ID):
        return _is_plain(x.bindings.symbol(node).ctype)
    if isinstance(node, c_ast.Cast):
        return _has_no_effect(x, node.expr)
    if isinstance(node, c_ast.UnaryOp) and node.op not in _OPERATORS_WITHOUT_EFFECT:
        return False
    return isinstance(node, _WITHOUT_EFFECT) and all(_has_no_effect(x, operand) for _, operand in node.children())


def _is_plain(ctype: CType) -> bool:
    """Whether a type is made of numbers that only the program changes."""
    while isinstance(ctype, Pointer | ArrayOf):
        ctype = ctype.target if isinstance(ctype, Pointer) else ctype.element
    return isinstance(ctype, Scalar) and not ctype.volatile


def assume(x: Extraction, node: c_ast.FuncCall | c_ast.Cast, domain: isl.Set) -> None:
    """Take an affine condition that the program states for granted; what depends on data says nothing here.

    Raises
    ------
    UnsupportedScopError : the condition contradicts what is known already.
    """
    if not isinstance(node, c_ast.FuncCall) or node.name.name not in (*ASSUMPTIONS, POSITIVE_STEP, GOES_FORWARD):
        return
    if node.name.name == POSITIVE_STEP:
        with x.bound():
            holds = condition(x, node.args.exprs[0], domain)
            positive = condition(x, node.args.exprs[0].left, domain)
        x.steps |= {str(name) for name in positive.get_var_names(isl.dim_type.param)
                    if positive.involves_dims(isl.dim_type.param, polyhedra.position(positive, str(name)), 1)}
        x.require(domain, holds, kind="terminates", node=node,
                  text=f"`{describe(node.args.exprs[0].left)}` where the loop that it steps runs")
        return
    if node.name.name == GOES_FORWARD:
        try:
            with x.bound():
                holds = condition(x, node.args.exprs[0], domain)
        except NotAffine as error:
            raise x.refuse(f"how far a loop steps a variable is not known: {error.reason}", error.node,
                           hint="put the loop's bound into a variable in front of the region") from None
        x.require(domain, holds, kind="terminates", node=node,
                  text=f"`{describe(node.args.exprs[0])}`, so that variables which the loop steps go on")
        return
    for stated in node.args.exprs if node.args else ():
        try:
            with x.attempt(strict=True):
                holds = condition(x, stated, domain)
        except NotAffine:
            continue
        x.require(domain, holds, kind="stated", node=node, text=f"`{describe(stated)}`, as the program states")
