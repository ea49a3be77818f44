"""Products of matrices and vectors as tensor expressions."""

from polysched.scop.expression import axis, build, compute, loop, placeholder, scalar, sum, symbols, update
from polysched.scop.expression.tensors import Scalar, Tensor
from polysched.scop.scop import Scop

M, N, K, L, Q = symbols("m n k l q")


def doubles(*arrays: tuple[str, *tuple[Scalar, ...]]) -> list[Tensor]:
    """Arrays of doubles by name and extents."""
    return [placeholder(name, shape, "float64") for name, *shape in arrays]


def gemm() -> Scop:
    A, B, C = placeholder("A", (M, K)), placeholder("B", (K, N)), placeholder("C", (M, N))
    i, j, p = axis("i", M), axis("j", N), axis("p", K)
    return build(loop(i, j,
                      update(C[i, j], scalar("beta"), op="*"),
                      loop(p, update(C[i, j], scalar("alpha") * A[i, p] * B[p, j], op="+"))))


def mm2() -> Scop:
    A, B, C, D, T = doubles(("A", M, K), ("B", K, L), ("C", L, N), ("D", M, N), ("T", M, L))
    alpha, beta = scalar("alpha", "float64"), scalar("beta", "float64")
    i, j, h = axis("i", M), axis("j", N), axis("j", L)
    p, q = axis("p", K), axis("p", L)
    return build([
        loop(i, h, update(T[i, h], sum(alpha * A[i, p] * B[p, h], over=p))),
        loop(i, j, update(D[i, j], beta, op="*"), loop(q, update(D[i, j], T[i, q] * C[q, j], op="+")))])


def mm3() -> Scop:
    A, B, C, D = doubles(("A", M, K), ("B", K, L), ("C", L, Q), ("D", Q, N))
    k, q, p = axis("k", K), axis("q", Q), axis("l", L)
    E = compute((M, L), lambda i, j: sum(A[i, k] * B[k, j], over=k), name="E")
    F = compute((L, N), lambda i, j: sum(C[i, q] * D[q, j], over=q), name="F")
    return build([E, F, compute((M, N), lambda i, j: sum(E[i, p] * F[p, j], over=p), name="G")])


def atax() -> Scop:
    A, x, y, ax = doubles(("A", M, N), ("x", N), ("y", N), ("ax", M))
    i, j = axis("i", M), axis("j", N)
    return build([loop(j, update(y[j], 0)),
                  loop(i,
                       update(ax[i], sum(A[i, j] * x[j], over=j)),
                       loop(j, update(y[j], y[j] + A[i, j] * ax[i])))])


def bicg() -> Scop:
    A, s, q, p, r = doubles(("A", N, M), ("s", M), ("q", N), ("p", M), ("r", N))
    i, j = axis("i", N), axis("j", M)
    return build([loop(j, update(s[j], 0.0)),
                  loop(i, update(q[i], 0.0),
                       loop(j, update(s[j], r[i] * A[i, j], op="+"), update(q[i], A[i, j] * p[j], op="+")))])


def mvt() -> Scop:
    a, b, c, d = (placeholder(name, (N,)) for name in "abcd")
    matrix, i, j = placeholder("M", (N, N)), axis("i", N), axis("j", N)
    return build([loop(i, j, update(a[i], matrix[i, j] * b[j], op="+")),
                  loop(i, j, update(c[i], matrix[j, i] * d[j], op="+"))])


def gemver() -> Scop:
    A, u, v, s, t, x, y, z, w = doubles(("A", N, N), *((name, N) for name in "uvstxyzw"))
    alpha, beta = scalar("alpha", "float64"), scalar("beta", "float64")
    i, j = axis("i", N), axis("j", N)
    return build([loop(i, j, update(A[i, j], A[i, j] + u[i] * v[j] + s[i] * t[j])),
                  loop(j, loop(i, update(x[j], beta * A[i, j] * y[i], op="+")), update(x[j], z[j], op="+")),
                  loop(i, j, update(w[i], alpha * A[i, j] * x[j], op="+"))])


def gesummv() -> Scop:
    A, B, x, y, ax, bx = doubles(("A", M, N), ("B", M, N), ("x", N), ("y", M), ("ax",), ("bx",))
    alpha, beta = scalar("alpha", "float64"), scalar("beta", "float64")
    i, j = axis("i", M), axis("j", N)
    return build(loop(i, update(bx[()], 0.0), update(ax[()], bx[()]),
                      loop(j, update(ax[()], A[i, j] * x[j], op="+"), update(bx[()], B[i, j] * x[j], op="+")),
                      update(y[i], alpha * ax[()] + beta * bx[()])))


def symm() -> Scop:
    A, B, C = doubles(("A", M, M), ("B", M, N), ("C", M, N))
    alpha, beta = scalar("alpha", "float64"), scalar("beta", "float64")
    i, j = axis("i", M), axis("j", N)
    k = axis("k", i)
    return build(loop(i, j,
                      update(C[i, j], beta * C[i, j] + alpha * A[i, i] * B[i, j]),
                      loop(k,
                           update(C[i, j], alpha * A[i, k] * B[k, j], op="+"),
                           update(C[k, j], alpha * A[i, k] * B[i, j], op="+"))))


def syrk() -> Scop:
    C, A = doubles(("C", N, N), ("A", N, M))
    alpha, beta = scalar("alpha", "float64"), scalar("beta", "float64")
    i, k = axis("i", N), axis("k", M)
    j = axis("j", i, N)
    return build([loop(i, j, update(C[i, j], beta * C[i, j])),
                  loop(k, i, j, update(C[i, j], C[i, j] + alpha * A[i, k] * A[j, k]))])


def syr2k() -> Scop:
    C, A, B = doubles(("C", N, N), ("A", N, M), ("B", N, M))
    alpha, beta = scalar("alpha", "float64"), scalar("beta", "float64")
    i, k = axis("i", N), axis("k", M)
    j = axis("j", i + 1)
    return build(loop(i,
                      loop(j, update(C[i, j], beta, op="*")),
                      loop(k, j, update(C[i, j], alpha * (A[i, k] * B[j, k] + B[i, k] * A[j, k]), op="+"))))


def trmm() -> Scop:
    A, B = doubles(("A", M, M), ("B", M, N))
    i, j = axis("i", M), axis("j", N)
    k = axis("k", i + 1, M)
    return build(loop(i, j,
                      update(B[i, j], A[i, i], op="*"),
                      loop(k, update(B[i, j], A[i, k] * B[k, j], op="+")),
                      update(B[i, j], scalar("alpha", "float64") * B[i, j])))


def doitgen() -> Scop:
    R, Q, P = symbols("nr nq np")
    A, matrix, row = doubles(("A", R, Q, P), ("M", P, P), ("row", P))
    r, q, p, s = axis("r", R), axis("q", Q), axis("p", P), axis("s", P)
    return build(loop(r, q,
                      loop(p, update(row[p], sum(A[r, q, s] * matrix[s, p], over=s))),
                      loop(p, update(A[r, q, p], row[p]))))
