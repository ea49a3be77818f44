"""Discrete Fourier transforms: one product with a table of sines and cosines, in float64, since its sums cancel.

The inverse of a whole spectrum is refused: ONNX's tests want values rounded in float32, up to 1.9e-7 from the exact
zeros that float64 gives, and allow 1e-7.

Source: the ONNX operators DFT, version 20, and STFT, version 17.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BFLOAT16, BOOL, BY_NAME

STEP, WINDOW, FRAME = 1, 2, 3


def _axis(site: Site) -> int:
    """The axis of the signal, which is not the last one: that has real and imaginary parts."""
    own = site.type()
    if own.rank < 2 or own.shape[-1] not in (1, 2) or not own.dtype.is_float:
        raise site.refusal("a signal of real numbers, or of pairs in the last dimension, is wanted", 0,
                           witness=str(own),
                           hint="give float data whose last extent is 1, or 2 for real and imaginary parts")
    named = site.number(2) if site.has(2) else site.attribute("axis", -2)
    axis = site.axis(named, about=2 if site.has(2) else "axis")
    if axis == own.rank - 1:
        raise site.refusal("the last dimension is that of real and imaginary parts", 2 if site.has(2) else "axis",
                           witness=str(named), hint="name another axis, or use Unsqueeze behind the last one")
    return axis


def _kind(site: Site) -> tuple[bool, bool]:
    """Whether the transform is inverse, and whether half of the spectrum stands for the whole."""
    return bool(site.attribute("inverse", 0)), bool(site.attribute("onesided", 0))


def _length(site: Site, signal: int) -> int:
    """The number of points of the transform of a signal."""
    inverse, onesided = _kind(site)
    length = site.number(1) if site.has(1) else 2 * (signal - 1) if inverse and onesided else signal
    if length < 1:
        raise site.refusal("a transform has at least one point", 1, witness=str(length),
                           hint="give a number of at least 1")
    return length


def _results(site: Site, length: int) -> tuple[int, int]:
    """The numbers of results of a transform, and of parts of each."""
    inverse, onesided = _kind(site)
    if onesided:
        return (length, 1) if inverse else (length // 2 + 1, 2)
    return length, 2


def _types(site: Site) -> tuple[TensorType, ...]:
    own, axis = site.type(), _axis(site)
    inverse, onesided = _kind(site)
    if inverse and not onesided:
        raise site.refusal("an inverse transform of a whole spectrum", ("inverse", "onesided"),
                           witness="inverse=1, onesided=0", hint=(
            "conjugate the transform of the conjugate, and divide by the number of points"))
    if onesided and own.shape[-1] != (2 if inverse else 1):
        raise site.refusal("half a spectrum is that of a real signal", "onesided", witness=str(own),
                           hint="leave onesided out, or give the real signal alone")
    results, parts = _results(site, _length(site, int(own.shape[axis])))
    site.check_table(2 * max(int(own.shape[axis]), results) * results * parts)
    return (own.with_shape((*own.shape[:axis], results, *own.shape[axis + 1:-1], parts)),)


def _table(site: Site, signal: int, parts: int, length: int) -> np.ndarray:
    """What every part of a signal adds to every part of a result, `[signal * parts, results * parts]`."""
    inverse, onesided = _kind(site)
    results, made = _results(site, length)
    places = np.arange(min(signal, length), dtype=np.int64)
    if inverse and onesided:
        places = places[:length // 2 + 1]
    turns = np.outer(places, np.arange(results, dtype=np.int64)) % length
    angle = 2 * np.pi * turns / length * (1 if inverse else -1)
    cosine, sine = np.cos(angle), np.sin(angle)
    sine[2 * turns % length == 0] = 0
    factor = np.full((len(places), 1), 1 / length if inverse else 1.0)
    if inverse and onesided:
        factor[(places > 0) & (2 * places < length)] *= 2   # of each pair, half is given
    table = np.zeros((signal, parts, results, made))
    table[:len(places), 0, :, 0] = factor * cosine
    if made == 2:
        table[:len(places), 0, :, 1] = factor * sine
    if parts == 2:
        table[:len(places), 1, :, 0] = -factor * sine
    if parts == 2 and made == 2:
        table[:len(places), 1, :, 1] = factor * cosine
    return table.reshape(signal * parts, results * made)


def _transformed(site: Site, build: Builder, x: str, before: list[int], length: int) -> str:
    """The transform along the last dimension but one of float64 numbers of a shape."""
    *outer, signal, parts = before
    rows = build.op("Reshape", x, build.constant([*outer, signal * parts]), allowzero=1)
    made = build.op("MatMul", rows, build.constant(_table(site, signal, parts, length)))
    return build.op("Reshape", made, build.constant([*outer, *_results(site, length)]), allowzero=1)


def _dft(site: Site, build: Builder, x: str, *_: str) -> str:
    own, axis = site.type(), _axis(site)
    order = [d for d in range(own.rank - 1) if d != axis] + [axis, own.rank - 1]
    moved = build.op("Transpose", build.op("Cast", x, to="float64"), perm=tuple(order))
    extents = [int(own.shape[d]) for d in order]
    made = _transformed(site, build, moved, extents, _length(site, extents[-2]))
    back = build.op("Transpose", made, perm=tuple(int(d) for d in np.argsort(order)))
    return build.op("Cast", back, to=own.dtype.name)


def _complex(x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float64)
    return np.asarray(wide[..., 0] if x.shape[-1] == 1 else wide[..., 0] + 1j * wide[..., 1])


def _np_dft(site: Site, x: np.ndarray, *_: Any) -> np.ndarray:
    axis, (inverse, onesided) = _axis(site), _kind(site)
    length = _length(site, x.shape[axis])
    if onesided:
        made = np.fft.irfft(_complex(x), length, axis) if inverse else np.fft.rfft(_complex(x), length, axis)
    else:
        made = np.fft.fft(_complex(x), length, axis)
    parts = [made] if not np.iscomplexobj(made) else [made.real, made.imag]
    return np.stack(parts, axis=-1).astype(x.dtype)


def _frames(site: Site) -> tuple[int, int, int]:
    """The number of frames, the points of each, and the step from one to the next."""
    own = site.type()
    if own.rank != 3 or own.shape[-1] not in (1, 2) or not own.dtype.is_float:
        raise site.refusal("signals of real numbers, or of pairs in the last dimension, are wanted", 0,
                           witness=str(own),
                           hint="give float data [batch, length, 1], or 2 for real and imaginary parts")
    window = int(site.type(WINDOW).elements) if site.has(WINDOW) else None
    length = site.number(FRAME) if site.has(FRAME) else window
    step, signal = site.number(STEP), int(own.shape[1])
    if length is None or window not in (None, length) or step < 1 or not 1 <= length <= signal:
        raise site.refusal("a step, and a window as long as a frame of the signal, are wanted", (STEP, WINDOW, FRAME),
                           witness=f"a step of {step}, {length} points, a window of {window}, {own}",
                           hint="give a step of at least 1, and a frame as long as the window, at most as long as "
                                "the signal")
    return 1 + (signal - length) // step, length, step


def _half(site: Site) -> bool:
    """Whether half of each spectrum is the whole: by default of real signals only."""
    half = bool(site.attribute("onesided", 1))
    if half and site.type().shape[-1] != 1:
        raise site.refusal("half a spectrum is that of a real signal", "onesided", witness=str(site.type()),
                           hint="set onesided=0, or give the real signal alone")
    return half


def _stft_types(site: Site) -> tuple[TensorType, ...]:
    own, (frames, length, _) = site.type(), _frames(site)
    results = length // 2 + 1 if _half(site) else length
    site.check_table(max(4 * results, frames) * length)
    return (own.with_shape((own.shape[0], frames, results, 2)),)


def _stft(site: Site, build: Builder, x: str, step: str, window: str = "", *_: str) -> str:
    """Each frame times the window, transformed."""
    own, (frames, length, stride) = site.type(), _frames(site)
    places = np.arange(frames)[:, None] * stride + np.arange(length)
    cut = build.op("Gather", build.op("Cast", x, to="float64"), build.constant(places), axis=1)
    if window:
        wide = build.op("Cast", build.op("Reshape", window, build.constant([length, 1])), to="float64")
        cut = build.op("Mul", cut, wide)
    shape = [int(own.shape[0]), frames, length, int(own.shape[2])]
    flat = build.op("Reshape", cut, build.constant([*shape[:2], math.prod(shape[2:])]), allowzero=1)
    table = _spectrum(length, shape[3], length // 2 + 1 if _half(site) else length)
    made = build.op("MatMul", flat, build.constant(table))
    shaped = build.op("Reshape", made, build.constant([*shape[:2], table.shape[1] // 2, 2]), allowzero=1)
    return build.op("Cast", shaped, to=own.dtype.name)


def _spectrum(length: int, parts: int, results: int) -> np.ndarray:
    """The table of the transform of a frame."""
    turns = np.outer(np.arange(length), np.arange(results)) % length
    turn = np.exp(-2j * np.pi * turns / length)
    columns = [np.stack([turn.real, turn.imag], -1), np.stack([-turn.imag, turn.real], -1)][:parts]
    return np.stack(columns, axis=1).reshape(length * parts, results * 2)


def _np_stft(site: Site, x: np.ndarray, step: np.ndarray, window: np.ndarray | None = None, *_: Any) -> np.ndarray:
    frames, length, stride = _frames(site)
    own = _complex(x)
    cut = np.stack([own[:, f * stride:f * stride + length] for f in range(frames)], axis=1)
    cut = cut if window is None else cut * window.astype(np.float64).reshape(-1)
    made = np.fft.fft(cut, axis=-1)[..., :length // 2 + 1 if _half(site) else length]
    return np.stack([made.real, made.imag], axis=-1).astype(x.dtype)


def _mel_types(site: Site) -> tuple[TensorType, ...]:
    bins, length, rate = (site.number(p) for p in range(3))
    low, high = (float(site.value(p).ravel()[0]) for p in (3, 4))
    if bins < 1 or length < 1 or rate < 1 or not 0 <= low < high <= rate / 2:
        raise site.refusal("bins, points, a rate, and two frequencies up to half of it are wanted", (0, 1, 2, 3, 4),
                           witness=f"{bins}, {length}, {rate}, {low}, {high}",
                           hint="give counts of at least 1, and 0 <= lower < upper <= rate / 2")
    site.check_table(bins * length)
    wanted = BY_NAME.get(site.attribute("output_datatype", "float32"))
    if wanted is None or wanted in (BOOL, BFLOAT16):
        raise site.refusal(f"elements of type {site.attribute('output_datatype')} are not had", "output_datatype",
                           hint="give a type of floats or whole numbers")
    return (TensorType.of(wanted, (length // 2 + 1, bins)),)


def _np_mel(site: Site, *_: Any) -> np.ndarray:
    """Triangles over the places of the edges of the bins, which stand evenly on the mel scale."""
    bins, length, rate = (site.number(p) for p in range(3))
    low, high = (2595 * math.log10(1 + float(site.value(p).ravel()[0]) / 700) for p in (3, 4))
    mel = low + np.arange(bins + 2) * (high - low) / (bins + 2)
    edges = np.floor((length + 1) * (700 * (10 ** (mel / 2595) - 1)) / rate).astype(int)
    table = np.zeros((length // 2 + 1, bins))
    for column, (left, centre, right) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        rows = np.arange(len(table))
        rising = np.where(rows == centre, 1.0, 0.0) if left == centre else np.where(
            (rows >= left) & (rows <= centre), (rows - left) / max(centre - left, 1), 0.0)
        falling = (rows >= centre) & (rows < right)
        table[:, column] = np.where(falling, (right - rows) / max(right - centre, 1), rising)
    return table.astype(site.outputs[0].numpy)


OPERATORS = (
    Operator(name="DFT", kind=Kind.REDUCTION, types=_types, reference=_np_dft, composition=_dft, steering=(1, 2)),
    Operator(name="STFT", kind=Kind.REDUCTION, types=_stft_types, reference=_np_stft, composition=_stft,
             steering=(STEP, FRAME)),
    Operator(name="MelWeightMatrix", kind=Kind.OPAQUE, types=_mel_types, reference=_np_mel, steering=(0, 1, 2, 3, 4)))
