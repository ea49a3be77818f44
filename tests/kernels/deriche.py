"""Deriche's recursive smoothing of an image, in single precision."""

# ruff: noqa: F821 - the annotations name sizes

import numpy as np


def deriche(w: int, h: int, alpha: np.float32, image: "float32[w, h]",
            out: "float32[w, h]", u: "float32[w, h]", v: "float32[w, h]"):
    k = (1 - np.exp(-1.0 * alpha)) * (1 - np.exp(-1.0 * alpha)) / (
        1 + 2 * alpha * np.exp(-1.0 * alpha) - np.exp(-2.0 * alpha))
    c0 = k
    c1 = k * np.exp(-1.0 * alpha) * (alpha - 1)
    c2 = k * np.exp(-1.0 * alpha) * (alpha + 1)
    c3 = -k * np.exp(-2.0 * alpha)
    g1 = 2 * np.exp(-1.0 * alpha)
    g2 = -np.exp(-2.0 * alpha)

    for i in range(w):
        x1 = 0.0
        u2 = x1
        u1 = u2
        for j in range(h):
            u[i, j] = c0 * image[i, j] + c1 * x1 + g1 * u1 + g2 * u2
            x1 = image[i, j]
            u2 = u1
            u1 = u[i, j]
    for i in range(w):
        x2 = 0.0
        x1 = x2
        v2 = x1
        v1 = v2
        for j in range(h - 1, -1, -1):
            v[i, j] = c2 * x1 + c3 * x2 + g1 * v1 + g2 * v2
            x2 = x1
            x1 = image[i, j]
            v2 = v1
            v1 = v[i, j]
    for i in range(w):
        for j in range(h):
            out[i, j] = u[i, j] + v[i, j]
    for j in range(h):
        x1 = 0.0
        u2 = x1
        u1 = u2
        for i in range(w):
            u[i, j] = c0 * out[i, j] + c1 * x1 + g1 * u1 + g2 * u2
            x1 = out[i, j]
            u2 = u1
            u1 = u[i, j]
    for j in range(h):
        x2 = 0.0
        x1 = x2
        v2 = x1
        v1 = v2
        for i in range(w - 1, -1, -1):
            v[i, j] = c2 * x1 + c3 * x2 + g1 * v1 + g2 * v2
            x2 = x1
            x1 = out[i, j]
            v2 = v1
            v1 = v[i, j]
    for i in range(w):
        for j in range(h):
            out[i, j] = u[i, j] + v[i, j]
