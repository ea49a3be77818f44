"""How the C function around a region is called: its parameters in order, with their C types.

A runner that allocates and fills the arguments needs nothing else from the source.
"""

from __future__ import annotations

from enum import Enum

from polysched.records import dataclass
from polysched.scop.dtypes import DType


class ParameterKind(Enum):
    """What a caller has to pass."""

    INTEGER = "integer"    # an integer by value
    FLOATING = "floating"  # a floating-point number by value
    ARRAY = "array"        # a pointer to `dtype` elements: `double A[n][m]`, `double *A`, `double (*A)[m]`
    OTHER = "other"        # a struct, a pointer to pointers, a function: nothing that a runner can make up


@dataclass(frozen=True, kw_only=True)
class FunctionParameter:
    """One parameter of a function.

    Parameters
    ----------
    name : as declared.
    kind : what a caller passes.
    dtype : the type of the value or of one element; None for `other`.
    c_declaration : the declaration as C spells it, macros expanded (`double A[1000][n]`).
    c_extents : elements per dimension of an array as C expressions over earlier parameters, outermost first;
        the first is None where the declaration does not say (`double *A`).
    constant : the elements may not be written through it.
    restrict : declared `restrict`.
    """

    name: str
    kind: ParameterKind
    dtype: DType | None
    c_declaration: str
    c_extents: tuple[str | None, ...] = ()
    constant: bool = False
    restrict: bool = False


@dataclass(frozen=True, kw_only=True)
class FunctionSignature:
    """A function definition's head.

    Parameters
    ----------
    name : of the function.
    parameters : in order.
    return_type : as C spells it.
    static : has internal linkage.
    takes_more : it has parameters without a name, or a variable number of arguments.
    inline : compilers are asked to put its body where it is called.
    """

    name: str
    parameters: tuple[FunctionParameter, ...]
    return_type: str = "void"
    static: bool = False
    takes_more: bool = False
    inline: bool = False
