"""Factorisations, solvers and dynamic programs as tensor expressions: updates in place under loops."""

from polysched.scop.expression import (
    axis,
    build,
    equal,
    loop,
    maximum,
    placeholder,
    sqrt,
    symbols,
    temporary,
    update,
    when,
    where,
)
from polysched.scop.scop import Scop
from tests.kernels.expressions.products import doubles

(N,) = symbols("n")


def lu() -> Scop:
    (A,) = doubles(("A", N, N))
    k = axis("k", N)
    i, j = axis("i", k + 1, N), axis("j", k + 1, N)
    return build(loop(k, i, update(A[i, k], A[k, k], op="/"), loop(j, update(A[i, j], A[i, k] * A[k, j], op="-"))))


def ludcmp() -> Scop:
    A, b, x, y = doubles(("A", N, N), ("b", N), ("x", N), ("y", N))
    total = temporary("sum", (), "float64")[()]
    i, back = axis("i", N), axis("i", N - 1, -1, -1)
    left, right = axis("j", i), axis("j", i, N)
    k, h = axis("k", left), axis("k", i)
    above, below = axis("j", i), axis("j", back + 1, N)
    return build([
        loop(i,
             loop(left, update(total, A[i, left]),
                  loop(k, update(total, A[i, k] * A[k, left], op="-")),
                  update(A[i, left], total / A[left, left])),
             loop(right, update(total, A[i, right]),
                  loop(h, update(total, A[i, h] * A[h, right], op="-")),
                  update(A[i, right], total))),
        loop(i, update(total, b[i]), loop(above, update(total, A[i, above] * y[above], op="-")), update(y[i], total)),
        loop(back, update(total, y[back]),
             loop(below, update(total, A[back, below] * x[below], op="-")),
             update(x[back], total / A[back, back]))])


def cholesky() -> Scop:
    (A,) = doubles(("A", N, N))
    j = axis("j", N)
    k, i = axis("k", j), axis("i", j + 1, N)
    return build(loop(j,
                      loop(k, update(A[j, j], A[j, k] * A[j, k], op="-")),
                      update(A[j, j], sqrt(A[j, j])),
                      loop(i, loop(k, update(A[i, j], A[i, k] * A[j, k], op="-")), update(A[i, j], A[j, j], op="/"))))


def gramschmidt() -> Scop:
    A, Q, R = doubles(("A", N + 2, N), ("Q", N + 2, N), ("R", N, N))
    norm = temporary("norm", (), "float64")[()]
    k, i = axis("k", N), axis("i", N + 2)
    j = axis("j", k + 1, N)
    return build(loop(k,
                      update(norm, 0.0),
                      loop(i, update(norm, A[i, k] * A[i, k], op="+")),
                      update(R[k, k], sqrt(norm)),
                      loop(i, update(Q[i, k], A[i, k] / R[k, k])),
                      loop(j,
                           update(R[k, j], 0.0),
                           loop(i, update(R[k, j], Q[i, k] * A[i, j], op="+")),
                           loop(i, update(A[i, j], Q[i, k] * R[k, j], op="-")))))


def trisolv() -> Scop:
    L, x, b = doubles(("L", N, N), ("x", N), ("b", N))
    i = axis("i", N)
    j = axis("j", i)
    return build(loop(i,
                      update(x[i], b[i]),
                      loop(j, update(x[i], L[i, j] * x[j], op="-")),
                      update(x[i], x[i] / L[i, i])))


def durbin() -> Scop:
    r, y, z = doubles(("r", N), ("y", N), ("z", N))
    a, e, total = (temporary(name, (), "float64")[()] for name in ("a", "e", "sum"))
    k = axis("k", 1, N)
    i = axis("i", k)
    return build([update(a, -r[0] / (2 * N)),
                  update(y[0], a),
                  update(e, (1.0 - a * a) * (2 * N)),
                  loop(k,
                       update(total, r[k]),
                       loop(i, update(total, r[k - 1 - i] * y[i], op="+")),
                       update(a, -total / e),
                       loop(i, update(z[i], y[i] + a * y[k - 1 - i])),
                       loop(i, update(y[i], z[i])),
                       update(y[k], a),
                       update(e, 1.0 - a * a, op="*"))])


def floyd_warshall() -> Scop:
    d = placeholder("d", (N, N), "int32")
    k, i, j = axis("k", N), axis("i", N), axis("j", N)
    through = d[i, k] + d[k, j]
    return build(loop(k, i, j, update(d[i, j], where(d[i, j] < through, d[i, j], through))))


def nussinov() -> Scop:
    base, t = placeholder("base", (N,), "int32"), placeholder("t", (N, N), "int32")
    i = axis("i", N - 1, -1, -1)
    j = axis("j", i + 1, N)
    k = axis("k", i + 1, j)
    pairs = where(equal((base[i] & 3) + (base[j] & 3), 3), 1, 0)
    return build(loop(i, j,
                      update(t[i, j], maximum(t[i, j], t[i, j - 1])),
                      update(t[i, j], maximum(t[i, j], t[i + 1, j])),
                      when(j > i + 1, update(t[i, j], maximum(t[i, j], t[i + 1, j - 1] + pairs)),
                           otherwise=[update(t[i, j], maximum(t[i, j], t[i + 1, j - 1]))]),
                      loop(k, update(t[i, j], maximum(t[i, j], t[i, k] + t[k + 1, j])))))
