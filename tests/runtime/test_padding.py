"""What the model says of bandwidth, and what follows for a latency."""

from functools import cache

import numpy as np
import pytest

from polysched.runtime.kernels import PreemptibleKernel, preemptible
from polysched.runtime.padding import demand, rise
from polysched.scop import from_c_text
from polysched.scop.expression import build, placeholder, symbols
from polysched.scop.expression.operators import matmul
from polysched.target import Costs, Target


@cache
def product() -> PreemptibleKernel:
    m, n, k = symbols("m n k")
    return preemptible(build(matmul(placeholder("a", (m, k), "float32"), placeholder("b", (k, n), "float32")),
                             name="product"))


def squares(size: int) -> dict[str, np.ndarray]:
    return {a.name: np.zeros((size, size), np.float32) for a in product().scop.arrays}


@cache
def added() -> PreemptibleKernel:
    return preemptible(from_c_text("""void f(int n, double a[n], double b[n], double c[n]) {
#pragma scop
for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
#pragma endscop
}"""))


def vectors(size: int) -> dict[str, np.ndarray]:
    return {a.name: np.zeros(size) for a in added().scop.arrays}


def test_a_stream_wants_more_than_a_product() -> None:
    stream, much = demand(added(), vectors(1 << 24)), demand(product(), squares(1024))
    assert 0.5 < stream <= 1
    assert much < stream / 2


def test_what_the_model_does_not_know_takes_all() -> None:
    assert demand(object(), {}) == 1


def test_little_bandwidth_disturbs_nobody() -> None:
    assert rise(0.4, 0.4, 1) == 0
    assert rise(0.0, 1.0, 60) == 0


@pytest.mark.parametrize("cores", [1.0, 1.3])
@pytest.mark.parametrize("beside", [1, 2, 3])
def test_a_latency_rises_by_its_wait_for_memory(beside: int, cores: float) -> None:
    machine = Target(costs=Costs(memory_cores=cores))
    assert rise(1.0, 1.0, beside, machine) == pytest.approx((1 + beside) / cores - 1)
    assert rise(0.5, 1.0, beside, machine) == pytest.approx(0.5 * ((0.5 + beside) / cores - 1))


def test_memory_that_serves_every_core_makes_nobody_wait() -> None:
    assert rise(1.0, 1.0, 3, Target(costs=Costs(memory_cores=4.0))) == 0
