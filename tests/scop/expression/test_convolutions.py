"""Convolutions and pooling: the interpreter against a direct NumPy computation."""

import itertools

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.scop.expression import build, placeholder, symbols
from polysched.scop.expression.convolutions import (
    average_pool,
    convolution,
    depthwise_convolution,
    max_pool,
    transposed_convolution,
)
from tests.scop.expression.running import random, run
from tests.tiers import and_campaign

RNG = np.random.default_rng(6)


def reference(x, w, stride, padding, dilation, groups=1):
    """A convolution by shifted and strided windows of the padded input."""
    rank = x.ndim - 2
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *[(padding, padding)] * rank])
    out = [(n - dilation * (r - 1) - 1) // stride + 1 for n, r in zip(padded.shape[2:], w.shape[2:], strict=True)]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    per_group = w.shape[0] // groups
    for k in range(w.shape[0]):
        channels = slice((k // per_group) * w.shape[1], (k // per_group + 1) * w.shape[1])
        for offset in itertools.product(*map(range, w.shape[2:])):
            window = tuple(slice(dilation * o, dilation * o + stride * (n - 1) + 1, stride)
                           for o, n in zip(offset, out, strict=True))
            part = padded[(slice(None), channels, *window)]
            y[:, k] += np.einsum("nc...,c->n...", part, w[(k, slice(None), *offset)])
    return y


def transposed_reference(x, w, stride, padding, dilation, output_padding):
    """Scatter every input element over the outputs that it reaches, then crop."""
    rank = x.ndim - 2
    full = [(n - 1) * stride + dilation * (r - 1) + 1 + output_padding for n, r in
            zip(x.shape[2:], w.shape[2:], strict=True)]
    y = np.zeros((x.shape[0], w.shape[1], *full))
    for place in itertools.product(*map(range, x.shape[2:])):
        for offset in itertools.product(*map(range, w.shape[2:])):
            target = tuple(p * stride + o * dilation for p, o in zip(place, offset, strict=True))
            y[(slice(None), slice(None), *target)] += x[(slice(None), slice(None), *place)].astype(float) @ w[
                (slice(None), slice(None), *offset)]
    crop = tuple(slice(padding, n - padding) for n in full)
    return y[(slice(None), slice(None), *crop)] if rank else y


CASES = [(1, 1, 0, 1), (1, 2, 1, 1), (1, 1, 2, 2), (2, 1, 0, 1), (2, 1, 1, 1), (2, 2, 1, 1), (2, 1, 2, 2), (2, 3, 0, 2),
         (3, 1, 1, 1), (3, 2, 0, 1)]
SPATIAL = {1: (9,), 2: (6, 7), 3: (4, 5, 4)}
WINDOW = {1: (3,), 2: (3, 2), 3: (2, 3, 2)}


@pytest.mark.parametrize(("rank", "stride", "padding", "dilation"), CASES)
def test_convolution(rank: int, stride: int, padding: int, dilation: int) -> None:
    few = rank == 3   # the interpreter visits every element of every window
    x = random(RNG, (1 if few else 2, 2 if few else 3, *SPATIAL[rank]))
    w = random(RNG, (2 if few else 4, x.shape[1], *WINDOW[rank]))
    y = convolution(placeholder("X", x.shape), placeholder("W", w.shape), stride=stride, padding=padding,
                    dilation=dilation)
    np.testing.assert_allclose(run(y, {"X": x, "W": w}), reference(x, w, stride, padding, dilation), atol=1e-4)


@pytest.mark.parametrize("groups", and_campaign([2], [4]))
def test_grouped_convolution(groups: int) -> None:
    x, w = random(RNG, (1, 4, 5, 5)), random(RNG, (8, 4 // groups, 2, 3))
    y = convolution(placeholder("X", x.shape), placeholder("W", w.shape), groups=groups, padding=1)
    np.testing.assert_allclose(run(y, {"X": x, "W": w}), reference(x, w, 1, 1, 1, groups), atol=1e-4)


@pytest.mark.parametrize(("rank", "stride", "padding", "dilation"), [
    (1, 1, 1, 1), (2, 2, 1, 1), (2, 1, 0, 2), (3, 1, 0, 1)])
def test_depthwise_convolution(rank: int, stride: int, padding: int, dilation: int) -> None:
    x, w = random(RNG, (2, 3, *SPATIAL[rank])), random(RNG, (3, *WINDOW[rank]))
    y = depthwise_convolution(placeholder("X", x.shape), placeholder("W", w.shape), stride=stride, padding=padding,
                              dilation=dilation)
    expected = reference(x, w[:, None], stride, padding, dilation, groups=3)
    np.testing.assert_allclose(run(y, {"X": x, "W": w}), expected, atol=1e-4)


@pytest.mark.parametrize(("rank", "stride", "padding", "dilation", "extra"), [
    (1, 1, 0, 1, 0), (1, 3, 1, 1, 1), (2, 2, 1, 1, 0), (2, 1, 1, 2, 0), (2, 2, 0, 1, 1), (3, 2, 1, 1, 0)])
def test_transposed_convolution(rank: int, stride: int, padding: int, dilation: int, extra: int) -> None:
    spatial = {1: (5,), 2: (3, 4), 3: (2, 3, 2)}[rank]
    x, w = random(RNG, (2, 3, *spatial)), random(RNG, (3, 2, *WINDOW[rank]))
    y = transposed_convolution(placeholder("X", x.shape), placeholder("W", w.shape), stride=stride, padding=padding,
                               dilation=dilation, output_padding=extra)
    expected = transposed_reference(x, w, stride, padding, dilation, extra)
    np.testing.assert_allclose(run(y, {"X": x, "W": w}), expected, atol=1e-4)


def test_int8_convolution_accumulates_in_int32() -> None:
    x, w = RNG.integers(0, 256, (1, 4, 4, 4)).astype("uint8"), RNG.integers(-128, 128, (3, 4, 2, 2)).astype("int8")
    y = convolution(placeholder("X", x.shape, "uint8"), placeholder("W", w.shape, "int8"), padding=1,
                    accumulate="int32")
    result = run(y, {"X": x, "W": w})
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, reference(x, w, 1, 1, 1))


def test_symbolic_spatial_extents() -> None:
    n, h, v = symbols("n h v")
    y = convolution(placeholder("X", (n, 2, h, v)), placeholder("W", (3, 2, 3, 3)))
    x, w = random(RNG, (2, 2, 5, 6)), random(RNG, (3, 2, 3, 3))
    np.testing.assert_allclose(run(y, {"X": x, "W": w}, {"n": 2, "h": 5, "v": 6}), reference(x, w, 1, 0, 1), atol=1e-4)
    assert "no extent of Y is negative" in [a.text for a in build(y).assumptions]


def pool_reference(x, window, stride, padding, reduce, outside):
    padded = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * (x.ndim - 2)], constant_values=outside)
    views = np.lib.stride_tricks.sliding_window_view(padded, (window,) * (x.ndim - 2), tuple(range(2, x.ndim)))
    views = views[(slice(None), slice(None), *[slice(None, None, stride)] * (x.ndim - 2))]
    return reduce(views, axis=tuple(range(x.ndim, 2 * x.ndim - 2)))


@pytest.mark.parametrize(("rank", "window", "stride", "padding"), [
    (1, 2, None, 0), (2, 3, 2, 1), (2, 2, 1, 0), (3, 2, 1, 1)])
def test_pooling(rank: int, window: int, stride: int | None, padding: int) -> None:
    x = random(RNG, (1 if rank == 3 else 2, 2, *SPATIAL[rank]))
    source, options = placeholder("X", x.shape), {"stride": stride, "padding": padding}
    step = window if stride is None else stride
    np.testing.assert_array_equal(run(max_pool(source, window, **options), {"X": x}),
                                  pool_reference(x, window, step, padding, np.max, -np.inf))
    np.testing.assert_allclose(run(average_pool(source, window, **options), {"X": x}),
                               pool_reference(x, window, step, padding, np.mean, 0), atol=1e-6)


def test_max_pool_of_integers_pads_with_the_least_value() -> None:
    x = RNG.integers(-128, 0, (1, 1, 4, 4)).astype("int8")
    np.testing.assert_array_equal(run(max_pool(placeholder("X", x.shape, "int8"), 3, stride=1, padding=1), {"X": x}),
                                  pool_reference(x, 3, 1, 1, np.max, -128))


@pytest.mark.parametrize(("call", "message"), [
    (lambda: convolution(placeholder("X", (1, 3, 5)), placeholder("W", (2, 4, 3))),
     "the channels of the input and of the weights differ"),
    (lambda: convolution(placeholder("X", (1, 3)), placeholder("W", (2, 3))),
     "1 to 3 spatial dimensions, the input X has 0"),
    (lambda: convolution(placeholder("X", (1, 3, 5)), placeholder("W", (2, 1, 3)), groups=2),
     "2 groups do not divide the channels"),
    (lambda: convolution(placeholder("X", (1, symbols("C")[0], 5)), placeholder("W", (2, 1, 3)), groups=2),
     "a grouped convolution needs constant channel extents"),
    (lambda: convolution(placeholder("X", (1, 3, 5)), placeholder("W", (2, 3, 3)), stride=0),
     "the stride is one number per dimension, each at least 1"),
    (lambda: max_pool(placeholder("X", (1, 3)), 2), "pooling has 1 to 3 spatial dimensions"),
])
def test_options_that_do_not_fit_are_refused(call, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()
