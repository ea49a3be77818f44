"""Kernels that stop behind every tile, called directly; arguments that do not fit are refused."""

import ctypes

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.runtime import preemptible
from polysched.scop import from_c_text
from tests.runtime.kernels import product, sweeps

RNG = np.random.default_rng(1)


def factors() -> dict[str, np.ndarray]:
    return {"a": RNG.random((19, 23), dtype=np.float32), "b": RNG.random((23, 17), dtype=np.float32)}


def run(kernel, arguments, flag: int) -> int:
    packed, stop, done = kernel.packed(arguments), ctypes.c_int(flag), ctypes.c_long(0)
    calls = 1
    while kernel.entry(packed.addresses, stop, done) == 1:
        assert done.value == calls
        calls += 1
    assert done.value == 0
    return calls


def result_name(kernel) -> str:
    return next(a.name for a in kernel.scop.arrays if a.name not in ("a", "b"))


def test_a_product_that_is_stopped_behind_every_tile_is_the_same() -> None:
    kernel, given = product(), factors()
    name = result_name(kernel)
    plain, stopped = np.empty((19, 17), np.float32), np.empty((19, 17), np.float32)
    assert run(kernel, {**given, name: plain}, 0) == 1
    assert run(kernel, {**given, name: stopped}, 1) > 3
    assert plain.tobytes() == stopped.tobytes()
    assert np.allclose(plain, given["a"] @ given["b"], rtol=1e-5)


def test_a_stencil_in_place_goes_on_where_it_was() -> None:
    start = RNG.random((21, 21))
    plain, stopped = start.copy(), start.copy()
    assert run(sweeps(), {"steps": 4, "a": plain}, 0) == 1
    assert run(sweeps(), {"steps": 4, "a": stopped}, 1) > 3
    assert plain.tobytes() == stopped.tobytes()
    assert plain.tobytes() != start.tobytes()


@pytest.mark.parametrize(("change", "said"), [
    ({"a": np.zeros((19, 23))}, "a has to be an array of float"),
    ({"a": np.zeros((23, 19), np.float32).T}, "an array without gaps is needed"),
    ({"a": np.zeros((19, 22), np.float32)}, "product"),
    ({"c": np.zeros((19, 22), np.float32)}, "no such argument"),
    ({"a": [[1.0]]}, "a has to be an array"),
])
def test_arguments_that_do_not_fit_are_refused(change, said) -> None:
    kernel = product()
    given = {**factors(), result_name(kernel): np.empty((19, 17), np.float32), **change}
    with pytest.raises(UsageError, match=said):
        kernel.packed(given)


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(UsageError, match="needs another argument"):
        product().packed(factors())
    with pytest.raises(UsageError, match="no shape says what steps is"):
        sweeps().packed({"a": np.zeros((9, 9))})


def test_an_array_that_is_read_only_is_not_written() -> None:
    fixed = np.zeros((9, 9))
    fixed.flags.writeable = False
    with pytest.raises(UsageError, match="a"):
        sweeps().packed({"a": fixed, "steps": 1})


def test_subscripts_from_memory_are_refused() -> None:
    scop = from_c_text("void f(int n, double a[restrict n], const int p[restrict n]) {\n#pragma scop\n"
                       "for (int i = 0; i < n; i++)\n  a[p[i]] += 1.0;\n#pragma endscop\n}\n")
    with pytest.raises(UsageError, match="affine subscripts"):
        preemptible(scop)
