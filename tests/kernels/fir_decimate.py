"""A finite impulse response filter that keeps every third sample."""

# ruff: noqa: F821 - the annotations name sizes


def fir_decimate(n: int, taps: int, c: "float32[taps]", x: "float32[3 * n + taps]", y: "float32[n]"):
    for i in range(3 * n - 3, -1, -3):
        y[i // 3] = 0.0
        for k in range(taps - 1, -1, -1):
            y[i // 3] += c[k] * x[i + k]
