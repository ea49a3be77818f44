"""Winograd's rule takes the convolutions that it knows, and no others; `test_rules` holds their values."""

from __future__ import annotations

import random

import numpy as np
import pytest

from polysched.scop.expression import axis, compute, placeholder
from polysched.scop.expression import sum as sum_over
from polysched.search.rewriting.errors import error_bound
from polysched.search.rewriting.terms import inputs, stages
from polysched.search.rewriting.winograd import convolution, winograd
from tests.search.rewriting.programs import plane, windows


def convolved(rows=4, columns=4, window=3, dtype="float32", stride=1, read=None):
    image, kernel = placeholder("A", (16, 16), dtype), placeholder("W", (window, window), dtype)
    r, s = axis("r", window), axis("s", window)
    read = read or (lambda i, j, r, s: image[stride * i + r, j + s])
    return compute((rows, columns), lambda i, j: sum_over(read(i, j, r, s) * kernel[r, s], over=(r, s)), name="O")


@pytest.mark.parametrize("stage", [
    convolved(rows=3), convolved(columns=5), convolved(window=5), convolved(stride=2), convolved(dtype="uint32"),
    convolved(dtype="int32"),
    convolved(read=lambda i, j, r, s: placeholder("A", (16, 16))[i + r, j + r] * 1),
    convolved(read=lambda i, j, r, s: placeholder("A", (16, 16))[i + r, i + s]),
    convolved(read=lambda i, j, r, s: placeholder("A", (16, 16))[i + r, s + r]),
    convolved(read=lambda i, j, r, s: placeholder("A", (16, 16, 16))[i + r, j + s, r]),
    convolved(read=lambda i, j, r, s: placeholder("A", (16, 16))[i + r, j + s + 1]),
])
def test_winograd_refuses_other_convolutions(stage):
    assert convolution(stage) is None
    assert not list(winograd(stage))


def test_what_is_a_convolution():
    found = convolution(windows(random.Random(4), "float64"))
    assert found is not None
    assert (found.image.tensor.name, found.kernel.tensor.name, found.image_first) == ("A", "W", True)
    assert [c.name for c in found.channels] == ["o"]
    assert [(out.name, window.name) for out, window in found.places] == [("i", "r"), ("j", "s")]
    assert not convolution(plane(random.Random(4), "float32")).image_first


def test_sixteen_products_for_four_outputs():
    output = windows(random.Random(4), "float64")
    (new,) = winograd(output)
    (products,) = [s for s in stages(new) if s.name == "O_tiles"]
    per_channel = [tuple(e.value for e in s.shape) for s in (products, output)]
    assert np.prod(per_channel[0]) == 4 * np.prod(per_channel[1])
    channels = next(e.value for e in inputs(output)[0].shape)
    assert error_bound(new).roundings <= channels + 20
