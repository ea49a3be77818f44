"""BLAS of levels 1 and 2, and the triangular functions of level 3, described by the loops that they compute.

A step of a vector (`incx`) is that of `x[i * incx]`, at least one: BLAS counts backwards from the end for negative
steps, which the loops do not say.  A leading dimension is at least as long as a row.  A function with `alpha` or
`beta` also computes what has no such factor: the number one does not round.  Triangles and transpositions are variants.
Sums of BLAS are added in any order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from polysched.tensorize.description.intrinsic import Cost, Isa
from polysched.tensorize.description.library_function import LibraryFunction, Variant

ISA = Isa(name="cblas", machine="library", headers=("cblas.h",), flags=("-lopenblas",),
          manual="BLAS Technical Forum Standard (2001), appendix B.2")
COST = Cost(issue_cycles=1, latency_cycles=1000, source="per multiply-add at the machine's peak; calling overhead")
TYPES = {"s": "float", "d": "double"}


def _function(letter: str, name: str, section: str, variants: tuple[Variant, ...]) -> LibraryFunction:
    return LibraryFunction(name=f"cblas_{letter}{name}", variants=variants, isa=ISA, cost=COST, section=section,
                           reorders=True)


def _dot(letter: str, c_type: str) -> LibraryFunction:
    return _function(letter, "dot", "level 1, DOT", (Variant(f"""
void cblas_{letter}dot(int n, const {c_type} *x, int incx, const {c_type} *y, int incy, {c_type} *sum) {{
    for (int i = 0; i < n; i++)
        sum[0] += x[i * incx] * y[i * incy];
}}""", call=f"*({{sum}}) += cblas_{letter}dot({{n}}, {{x}}, {{incx}}, {{y}}, {{incy}});",
                                                             requires="incx >= 1 and incy >= 1"),))


def _axpy(letter: str, c_type: str) -> LibraryFunction:
    return _function(letter, "axpy", "level 1, AXPY", (Variant(f"""
void cblas_{letter}axpy(int n, {c_type} alpha, const {c_type} *x, int incx, {c_type} *y, int incy) {{
    for (int i = 0; i < n; i++)
        y[i * incy] += alpha * x[i * incx];
}}""", requires="incx >= 1 and incy >= 1"),))


def _scal(letter: str, c_type: str) -> LibraryFunction:
    return _function(letter, "scal", "level 1, SCAL", (Variant(f"""
void cblas_{letter}scal(int n, {c_type} alpha, {c_type} *x, int incx) {{
    for (int i = 0; i < n; i++)
        x[i * incx] = alpha * x[i * incx];
}}""", requires="incx >= 1"),))


def _ger(letter: str, c_type: str) -> LibraryFunction:
    return _function(letter, "ger", "level 2, GER", (Variant(f"""
void cblas_{letter}ger(int m, int n, {c_type} alpha, const {c_type} *x, int incx, const {c_type} *y, int incy,
                       {c_type} *A, int lda) {{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            A[i * lda + j] += alpha * x[i * incx] * y[j * incy];
}}""", call=(f"cblas_{letter}ger(CblasRowMajor, {{m}}, {{n}}, {{alpha}}, {{x}}, {{incx}}, {{y}}, {{incy}}, "
             "{A}, {lda});"),
                                                             requires="incx >= 1 and incy >= 1 and lda >= n"),))


def _syrk(letter: str, c_type: str) -> LibraryFunction:
    """Both triangles, both transpositions, with and without a factor of the old result."""
    variants = []
    for scaled, (uplo, columns), transposed in itertools.product(
            (True, False), (("Lower", "int j = 0; j <= i; j++"), ("Upper", "int j = i; j < n; j++")), (False, True)):
        left, right = ("A[p * lda + i]", "A[p * lda + j]") if transposed else ("A[i * lda + p]", "A[j * lda + p]")
        scale = f"""
    for (int i = 0; i < n; i++)
        for ({columns})
            C[i * ldc + j] = beta * C[i * ldc + j];""" if scaled else ""
        beta = f", {c_type} beta" if scaled else ""
        variants.append(Variant(f"""
void cblas_{letter}syrk(int n, int k, {c_type} alpha, const {c_type} *A, int lda{beta}, {c_type} *C, int ldc) {{{scale}
    for (int i = 0; i < n; i++)
        for ({columns})
            for (int p = 0; p < k; p++)
                C[i * ldc + j] += alpha * {left} * {right};
}}""", call=(f"cblas_{letter}syrk(CblasRowMajor, Cblas{uplo}, Cblas{'Trans' if transposed else 'NoTrans'}, "
             f"{{n}}, {{k}}, {{alpha}}, {{A}}, {{lda}}, {'{beta}' if scaled else '1'}, {{C}}, {{ldc}});"),
            requires=f"lda >= {'n' if transposed else 'k'} and ldc >= n and k >= 1"))
    return _function(letter, "syrk", "level 3, SYRK", tuple(variants))


def _substitution(*, transposed: bool, lower: bool, unit: bool, down: bool, side: str) -> str:
    """The loops that solve for one right-hand side; side is `Left`, `Right`, or `` for a vector.

    Parameters
    ----------
    lower : forward substitution: unknown i needs those before it.
    transposed : the matrix is read as `L[k][i]`.
    down : a sum runs from its last term on.
    """
    size = "n" if side == "Right" else "m"
    solved = f"int i = 0; i < {size}; i++" if lower else f"int i = {size} - 1; i >= 0; i--"
    others = "int k = 0; k < i; k++" if lower else f"int k = i + 1; k < {size}; k++"
    if down:
        others = f"int k = {size} - 1; k > i; k--"
    element = "L[k * lda + i]" if transposed else "L[i * lda + k]"
    own, other = {"Left": ("B[i * ldb + j]", "B[k * ldb + j]"), "Right": ("B[j * ldb + i]", "B[j * ldb + k]"),
                  "": ("x[i * incx]", "x[k * incx]")}[side]
    division = "" if unit else f"\n            {own} = {own} / L[i * lda + i];"
    return f"""for ({solved}) {{
            for ({others})
                {own} -= {element} * {other};{division}
        }}"""


def _shapes() -> Iterator[tuple[bool, bool, bool, bool]]:
    """Transposed, lower, unit and down."""
    for transposed, lower, unit, down in itertools.product((False, True), (True, False), (False, True), (False, True)):
        if not (lower and down):   # forward substitution subtracts in the order in which it solves
            yield transposed, lower, unit, down


def _how(*, transposed: bool, lower: bool, unit: bool, side: str) -> str:
    """The triangle in memory, whether the function reads it as its transpose, and the diagonal, as BLAS says it."""
    swapped = transposed != (side == "Right")   # X * op(A) = B reads A[k][i] where A is not transposed
    return (f"Cblas{'Lower' if lower != transposed else 'Upper'}, Cblas{'Trans' if swapped else 'NoTrans'}, "
            f"Cblas{'Unit' if unit else 'NonUnit'}")


def _trsm(letter: str, c_type: str) -> LibraryFunction:
    """Both sides, both orders, a matrix or its transpose, with and without ones on the diagonal and alpha."""
    variants = []
    for side, (transposed, lower, unit, down), scaled in itertools.product(
            ("Left", "Right"), _shapes(), (False, True)):
        order, free = ("m", "n") if side == "Left" else ("n", "m")
        own = "B[i * ldb + j]" if side == "Left" else "B[j * ldb + i]"
        scale = f"""
    for (int j = 0; j < {free}; j++)
        for (int i = 0; i < {order}; i++)
            {own} = alpha * {own};""" if scaled else ""
        inner = _substitution(transposed=transposed, lower=lower, unit=unit, down=down, side=side)
        alpha = f"{c_type} alpha, " if scaled else ""
        how = _how(transposed=transposed, lower=lower, unit=unit, side=side)
        variants.append(Variant(f"""
void cblas_{letter}trsm(int m, int n, {alpha}const {c_type} *L, int lda, {c_type} *B, int ldb) {{{scale}
    for (int j = 0; j < {free}; j++)
        {inner}
}}""", call=(f"cblas_{letter}trsm(CblasRowMajor, Cblas{side}, {how}, {{m}}, {{n}}, {'{alpha}' if scaled else '1'}, "
             "{L}, {lda}, {B}, {ldb});"), requires=f"lda >= {order} and ldb >= n"))
    return _function(letter, "trsm", "level 3, TRSM", tuple(variants))


def _trsv(letter: str, c_type: str) -> LibraryFunction:
    variants = []
    for transposed, lower, unit, down in _shapes():
        inner = _substitution(transposed=transposed, lower=lower, unit=unit, down=down, side="")
        how = _how(transposed=transposed, lower=lower, unit=unit, side="")
        variants.append(Variant(f"""
void cblas_{letter}trsv(int m, const {c_type} *L, int lda, {c_type} *x, int incx) {{
    {inner}
}}""", call=f"cblas_{letter}trsv(CblasRowMajor, {how}, {{m}}, {{L}}, {{lda}}, {{x}}, {{incx}});",
            requires="lda >= m and incx >= 1"))
    return _function(letter, "trsv", "level 2, TRSV", tuple(variants))


ALL = tuple(make(letter, c_type) for make in (_dot, _axpy, _scal, _ger, _syrk, _trsm, _trsv)
            for letter, c_type in TYPES.items())
