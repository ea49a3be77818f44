"""Stencils and filters as tensor expressions: updates in place under loops over time."""

from polysched.scop.expression import (
    axis,
    build,
    equal,
    exp,
    loop,
    placeholder,
    scalar,
    symbols,
    temporary,
    update,
    when,
)
from polysched.scop.expression.tensors import Expression, Tensor
from polysched.scop.expression.updates import Step
from polysched.scop.scop import Scop
from tests.kernels.expressions.products import doubles

M, N, STEPS, SWEEPS = symbols("m n steps sweeps")


def jacobi_1d() -> Scop:
    a, b = placeholder("a", (N,)), placeholder("b", (N,))
    t, i = axis("t", STEPS), axis("i", 1, N - 1)
    return build(loop(t,
                      loop(i, update(b[i], (a[i - 1] + a[i] + a[i + 1]) / 3)),
                      loop(i, update(a[i], (b[i - 1] + b[i] + b[i + 1]) / 3))))


def jacobi_2d() -> Scop:
    a, b = doubles(("a", M, N), ("b", M, N))
    t, i, j = axis("t", 1, STEPS + 1), axis("i", 1, M - 1), axis("j", 1, N - 1)

    def mean(x: Tensor) -> Expression:
        return 0.2 * (x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i - 1, j] + x[i + 1, j])

    return build(loop(t, loop(i, j, update(b[i, j], mean(a))), loop(i, j, update(a[i, j], mean(b)))))


def heat_3d() -> Scop:
    a, b = doubles(("a", N, N, N), ("b", N, N, N))
    t, i, j, k = axis("t", STEPS), axis("i", 1, N - 1), axis("j", 1, N - 1), axis("k", 1, N - 1)

    def second(x: Tensor, di: int, dj: int, dk: int) -> Expression:
        return x[i + di, j + dj, k + dk] - 2.0 * x[i, j, k] + x[i - di, j - dj, k - dk]

    def step(x: Tensor) -> Expression:
        return (x[i, j, k] + 0.125 * second(x, 1, 0, 0) + 0.125 * second(x, 0, 1, 0) + 0.125 * second(x, 0, 0, 1))

    return build(loop(t, loop(i, j, k, update(b[i, j, k], step(a))), loop(i, j, k, update(a[i, j, k], step(b)))))


def seidel_2d() -> Scop:
    (a,) = doubles(("a", N, N))
    t, i, j = axis("t", SWEEPS), axis("i", 1, N - 1), axis("j", 1, N - 1)
    rows = [a[r, j - 1] + a[r, j] + a[r, j + 1] for r in (i - 1, i, i + 1)]
    return build(loop(t, i, j, update(a[i, j], (rows[0] + rows[1] + rows[2]) / 9.0)))


def red_black() -> Scop:
    (a,) = doubles(("a", N, N))
    t, i = axis("t", SWEEPS), axis("i", 1, N - 1)

    def colour(first: Expression) -> Step:
        j = axis("j", first, N - 1, 2)
        return loop(i, j, update(a[i, j], 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])))

    return build(loop(t, colour(1 + i % 2), colour(2 - i % 2)))


def fdtd_2d() -> Scop:
    X, Y = symbols("nx ny")
    ex, ey, hz, src = doubles(("ex", X, Y), ("ey", X, Y), ("hz", X, Y), ("src", STEPS))
    t, i, j = axis("t", STEPS), axis("i", X), axis("j", Y)
    i1, j1, i2, j2 = axis("i", 1, X), axis("j", 1, Y), axis("i", X - 1), axis("j", Y - 1)
    return build(loop(t,
                      loop(j, update(ey[0, j], src[t])),
                      loop(i1, j, update(ey[i1, j], 0.5 * (hz[i1, j] - hz[i1 - 1, j]), op="-")),
                      loop(i, j1, update(ex[i, j1], 0.5 * (hz[i, j1] - hz[i, j1 - 1]), op="-")),
                      loop(i2, j2, update(hz[i2, j2], 0.7 * (
                          ex[i2, j2 + 1] - ex[i2, j2] + ey[i2 + 1, j2] - ey[i2, j2]), op="-"))))


def adi() -> Scop:
    u, v, p, q = doubles(("u", N, N), ("v", N, N), ("p", N, N), ("q", N, N))
    dx, dt, a, b, ca, da, cb, db = (temporary(name, (), "float64")[()]
                                    for name in ("dx", "dt", "a", "b", "ca", "da", "cb", "db"))
    t, i, j, back = axis("t", 1, STEPS + 1), axis("i", 1, N - 1), axis("j", 1, N - 1), axis("j", N - 2, 0, -1)

    def eliminate(diagonal: Expression, off: Expression, second: Expression) -> Step:
        pivot = off * p[i, j - 1] + diagonal
        return loop(j, update(p[i, j], -off / pivot), update(q[i, j], (second - off * q[i, j - 1]) / pivot))

    columns = -cb * u[j, i - 1] + (1.0 + 2.0 * cb) * u[j, i] - cb * u[j, i + 1]
    rows = -ca * v[i - 1, j] + (1.0 + 2.0 * ca) * v[i, j] - ca * v[i + 1, j]
    return build([
        update(dx, 1.0 / N), update(dt, 1.0 / (STEPS + 1)), update(a, dt / (dx * dx)), update(b, 0.5 * a),
        update(ca, -a / 2.0), update(da, 1.0 + a), update(cb, -b / 2.0), update(db, 1.0 + b),
        loop(t,
             loop(i, update(v[0, i], 1.0), update(p[i, 0], 0.0), update(q[i, 0], v[0, i]),
                  eliminate(da, ca, columns),
                  update(v[N - 1, i], 1.0),
                  loop(back, update(v[back, i], p[i, back] * v[back + 1, i] + q[i, back]))),
             loop(i, update(u[i, 0], 1.0), update(p[i, 0], 0.0), update(q[i, 0], u[i, 0]),
                  eliminate(db, cb, rows),
                  update(u[i, N - 1], 1.0),
                  loop(back, update(u[i, back], p[i, back] * u[i, back + 1] + q[i, back]))))])


def deriche() -> Scop:
    W, H = symbols("w h")
    image, out, u, v = (placeholder(name, (W, H)) for name in ("image", "out", "u", "v"))
    alpha = scalar("alpha")
    k, c0, c1, c2, c3, g1, g2, x1, x2, u1, u2, v1, v2 = (temporary(name)[()] for name in (
        "k", "c0", "c1", "c2", "c3", "g1", "g2", "x1", "x2", "u1", "u2", "v1", "v2"))

    def decay(times: float) -> Expression:
        return exp(-times * alpha)

    i, j, up, left = axis("i", W), axis("j", H), axis("i", W - 1, -1, -1), axis("j", H - 1, -1, -1)

    def causal(line: Expression, inner: Expression, source: Tensor, *, by_row: bool) -> Step:
        row, column = (line, inner) if by_row else (inner, line)
        return loop(line, update(x1, 0.0), update(u2, x1), update(u1, u2), loop(
            inner,
            update(u[row, column], c0 * source[row, column] + c1 * x1 + g1 * u1 + g2 * u2),
            update(x1, source[row, column]), update(u2, u1), update(u1, u[row, column])))

    def anticausal(line: Expression, inner: Expression, source: Tensor, *, by_row: bool) -> Step:
        row, column = (line, inner) if by_row else (inner, line)
        return loop(line, update(x2, 0.0), update(x1, x2), update(v2, x1), update(v1, v2), loop(
            inner,
            update(v[row, column], c2 * x1 + c3 * x2 + g1 * v1 + g2 * v2),
            update(x2, x1), update(x1, source[row, column]), update(v2, v1), update(v1, v[row, column])))

    together = loop(i, j, update(out[i, j], u[i, j] + v[i, j]))
    again = loop(i, j, update(out[i, j], u[i, j] + v[i, j]))
    return build([
        update(k, (1 - decay(1.0)) * (1 - decay(1.0)) / (1 + 2 * alpha * decay(1.0) - decay(2.0))),
        update(c0, k), update(c1, k * decay(1.0) * (alpha - 1)), update(c2, k * decay(1.0) * (alpha + 1)),
        update(c3, -k * decay(2.0)), update(g1, 2 * decay(1.0)), update(g2, -decay(2.0)),
        causal(i, j, image, by_row=True), anticausal(i, left, image, by_row=True), together,
        causal(j, i, out, by_row=False), anticausal(j, up, out, by_row=False), again])


def fir_decimate() -> Scop:
    (taps,) = symbols("taps")
    c, x, y = placeholder("c", (taps,)), placeholder("x", (3 * N + taps,)), placeholder("y", (N,))
    i, k = axis("i", 3 * N - 3, -1, -3), axis("k", taps - 1, -1, -1)
    return build(loop(i, update(y[i // 3], 0.0), loop(k, update(y[i // 3], c[k] * x[i + k], op="+"))))


def smooth_border() -> Scop:
    H, W = symbols("h w")
    image, out, mark = (placeholder(name, (H, W), "uint8") for name in ("in", "out", "mark"))
    i, j = axis("i", H), axis("j", W)

    def wide(di: int, dj: int) -> Expression:
        return image[i + di, j + dj].astype("int32")

    inside = (i > 0) & (i < H - 1) & (j > 0) & (j < W - 1)
    corner = (equal(i, 0) | equal(i, H - 1)) & (equal(j, 0) | equal(j, W - 1))
    central = equal(2 * i, H - 1) | equal(2 * j, W - 1)
    return build(loop(i, j,
                      when(inside,
                           update(out[i, j], (4 * wide(0, 0) + wide(-1, 0) + wide(1, 0)
                                              + wide(0, -1) + wide(0, 1)) // 8),
                           otherwise=[update(out[i, j], image[i, j])]),
                      when(corner, update(mark[i, j], 255, op="+")),
                      when(central, update(mark[i, j], 100, op="+"))))
