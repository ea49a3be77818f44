"""Smoothing of a byte image with a border rule."""

# ruff: noqa: F821 - the annotations name sizes

NAMES = {"image": "in"}


def smooth_border(h: int, w: int, image: "uint8[h, w]", out: "uint8[h, w]", mark: "uint8[h, w]"):
    for i in range(h):
        for j in range(w):
            if 0 < i < h - 1 and 0 < j < w - 1:
                out[i, j] = (4 * int(image[i, j]) + int(image[i - 1, j]) + int(image[i + 1, j]) + int(image[i, j - 1])
                             + int(image[i, j + 1])) // 8
            else:
                out[i, j] = image[i, j]
            if (i == 0 or i == h - 1) and (j == 0 or j == w - 1):
                mark[i, j] += 255
            if 2 * i == h - 1 or 2 * j == w - 1:
                mark[i, j] += 100
