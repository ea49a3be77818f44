"""Statistics of data as tensor expressions."""

from polysched.scop.expression import axis, build, loop, placeholder, sqrt, sum, symbols, temporary, update, where
from polysched.scop.scop import Scop
from tests.kernels.expressions.products import doubles

M, N = symbols("m n")
TINY = 0.001


def covariance() -> Scop:
    x, cov, mean = doubles(("x", N, M), ("cov", M, M), ("mean", M))
    i, j = axis("i", N), axis("j", M)
    k = axis("k", j, M)
    return build([
        loop(j, update(mean[j], sum(x[i, j], over=i)), update(mean[j], N, op="/")),
        loop(i, j, update(x[i, j], mean[j], op="-")),
        loop(j, k,
             update(cov[j, k], sum(x[i, j] * x[i, k], over=i)),
             update(cov[k, j], cov[j, k] / (N - 1.0)),
             update(cov[j, k], cov[k, j]))])


def correlation() -> Scop:
    x, corr, mean, sd = doubles(("x", N, M), ("corr", M, M), ("mean", M), ("sd", M))
    i, j = axis("i", N), axis("j", M)
    k = axis("k", j)
    return build([
        loop(j, update(mean[j], sum(x[i, j], over=i)), update(mean[j], mean[j] / N)),
        loop(j,
             update(sd[j], sum((x[i, j] - mean[j]) * (x[i, j] - mean[j]), over=i)),
             update(sd[j], sqrt(sd[j] / N)),
             update(sd[j], where(sd[j] < TINY, 1.0, sd[j]))),
        loop(i, j, update(x[i, j], (x[i, j] - mean[j]) / (sqrt(N) * sd[j]))),
        loop(j,
             update(corr[j, j], 1.0),
             loop(k, update(corr[j, k], sum(x[i, j] * x[i, k], over=i)), update(corr[k, j], corr[j, k])))])


def row_statistics() -> Scop:
    x, y, total = doubles(("x", M, N), ("y", M, N), ("total", 1))
    count = placeholder("count", (1,), "int64")
    span = temporary("span", (M,), "float64")
    lo, hi = temporary("lo", (), "float64")[()], temporary("hi", (), "float64")[()]
    i, j, rest = axis("i", M), axis("j", N), axis("j", 1, N)
    return build([
        update(total[0], 0.0), update(count[0], 0),
        loop(i,
             update(lo, x[i, 0]), update(hi, x[i, 0]),
             loop(rest, update(lo, where(x[i, rest] < lo, x[i, rest], lo)),
                  update(hi, where(x[i, rest] > hi, x[i, rest], hi))),
             update(span[i], hi - lo + 1.0),
             loop(j,
                  update(y[i, j], (x[i, j] - lo) / span[i]),
                  update(total[0], y[i, j], op="+"),
                  update(count[0], 1, op="+")))])
