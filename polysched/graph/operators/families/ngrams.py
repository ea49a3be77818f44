"""Counts of n-grams: windows over tokens are compared with those of a pool, which the attributes hold.

Source: the ONNX operator TfIdfVectorizer, version 9, as `onnx.reference` and ONNX Runtime have it: weights stand at the
places of the result, single tokens are counted once whatever is skipped, the last of equal n-grams counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32, INT32, INT64


@dataclass(frozen=True, eq=False)
class Grams:
    """The n-grams of one length: `[count, n]` tokens, and where each is counted in the result."""

    tokens: np.ndarray
    places: np.ndarray


def _grams(site: Site) -> list[Grams]:
    """Those that are looked for, by their length."""
    pool = np.array(site.required("pool_int64s"), np.int64)
    starts, places = list(site.required("ngram_counts")), list(site.required("ngram_indexes"))
    ends = [*starts[1:], len(pool)]
    least, most = site.required("min_gram_length"), site.required("max_gram_length")
    if not starts or starts[0] < 0 or any(low > high for low, high in zip(starts, ends, strict=True)):
        raise site.refusal("the n-grams of each length begin in the pool, one length behind the other", "ngram_counts",
                           witness=f"{starts} of {len(pool)}",
                           hint="give starts in pool_int64s that do not fall, from 0 on")
    counts = [(high - low) // (n + 1) for n, (low, high) in enumerate(zip(starts, ends, strict=True))]
    if not places or min(places) < 0 or sum(counts) > len(places):
        raise site.refusal("every n-gram has a place in the result", "ngram_indexes",
                           witness=f"{sum(counts)} n-grams, {places}", hint="give one place of at least 0 per n-gram")
    found, number = [], 0
    for n, (low, count) in enumerate(zip(starts, counts, strict=True), 1):
        own = {tuple(pool[low + i * n:low + (i + 1) * n].tolist()): places[number + i] for i in range(count)}
        number += count
        if own and least <= n <= most:
            found.append(Grams(np.array(list(own), np.int64), np.array(list(own.values()), np.int64)))
    return found


def _windows(site: Site) -> Iterator[tuple[Grams, int, int]]:
    """N-grams, the distance of their tokens in a row, and how many windows a row has at it."""
    row = int(site.type().shape[-1])
    for grams in _grams(site):
        n = grams.tokens.shape[1]
        for distance in range(1, 2 if n == 1 else min(site.required("max_skip_count"), row) + 2):
            if row - (n - 1) * distance > 0:
                yield grams, distance, row - (n - 1) * distance


def _types(site: Site) -> tuple[TensorType, ...]:
    own, places = site.type(), site.required("ngram_indexes")
    if own.dtype not in (INT32, INT64) or own.rank not in (1, 2) or not own.shape[-1].is_constant:
        raise site.refusal("a row of whole numbers, or several, of known length are wanted", 0, witness=str(own),
                           hint="put a Cast to int64 ahead of it, give it one or two dimensions, and fix its length "
                                "by sizes=")
    if site.attribute("pool_strings") is not None or site.required("max_skip_count") < 0:
        raise site.refusal("whole numbers, and a number of tokens that are skipped, are wanted",
                           ("pool_strings", "max_skip_count"),
                           hint="give pool_int64s and a max_skip_count of at least 0: strings are not had")
    _grams(site)
    size, weights = max(places) + 1, site.attribute("weights", ())
    site.check_table(size)
    if weights and len(weights) != size:
        raise site.refusal("a weight per place of the result is wanted", "weights",
                           witness=f"{len(weights)} for {size}", hint=f"leave them out, or give {size}")
    if len(list(itertools.islice(_windows(site), LIMITS.most_unrolled_nodes + 1))) > LIMITS.most_unrolled_nodes:
        raise site.refusal("too many distances of tokens", "max_skip_count",
                           hint=f"at most {LIMITS.most_unrolled_nodes}")
    return (TensorType.of(FLOAT32, (*own.shape[:-1], size)),)


def _vectors(site: Site, build: Builder, x: str) -> str:
    """Per length and distance: every window equals every n-gram, or not; sums over windows; sums at their places."""
    size = int(site.output.shape[-1])
    rows = build.op("Cast", x, to=INT64.name)
    if site.type().rank == 1:
        rows = build.op("Unsqueeze", rows, build.constant([0]))
    shape = build.op("Concat", build.constant([size]), build.op("Shape", rows, start=0, end=1), axis=0)
    total = build.op("Expand", build.constant(np.float32(0)), shape)
    for grams, distance, count in _windows(site):
        hits = []
        for j, token in enumerate(grams.tokens.T):
            ends = [build.constant([v]) for v in (j * distance, j * distance + count, 1)]
            window = build.op("Unsqueeze", build.op("Slice", rows, *ends), build.constant([0]))
            hits.append(build.op("Equal", window, build.constant(token.reshape(-1, 1, 1))))
        hit = hits[0]
        for other in hits[1:]:
            hit = build.op("And", hit, other)
        counted = build.op("ReduceSum", build.op("Cast", hit, to=FLOAT32.name), build.constant([2]), keepdims=0)
        total = build.op("ScatterND", total, build.constant(grams.places.reshape(-1, 1)), counted, reduction="add")
    mode, zero = site.attribute("mode", "TF"), build.constant(np.float32(0))
    weights = build.constant(np.array(site.attribute("weights", ()) or (1,), np.float32).reshape(-1, 1))
    if mode == "IDF":
        total = build.op("Where", build.op("Greater", total, zero), weights, zero)
    elif mode == "TFIDF":
        total = build.op("Mul", total, weights)
    result = build.op("Transpose", total, perm=(1, 0))
    return build.op("Squeeze", result, build.constant([0])) if site.type().rank == 1 else result


def _np_vectors(site: Site, x: np.ndarray) -> np.ndarray:
    """One window after the other."""
    rows = np.atleast_2d(x)
    total = np.zeros((len(rows), max(site.attribute("ngram_indexes")) + 1), np.float32)
    for grams, distance, count in _windows(site):
        known = {tuple(t): place for t, place in zip(grams.tokens.tolist(), grams.places, strict=True)}
        length = grams.tokens.shape[1]
        for number, row in enumerate(rows.tolist()):
            for start in range(count):
                place = known.get(tuple(row[start:start + (length - 1) * distance + 1:distance]))
                if place is not None:
                    total[number, place] += 1
    mode, weights = site.attribute("mode", "TF"), np.array(site.attribute("weights", ()) or (1,), np.float32)
    if mode == "IDF":
        total = np.where(total > 0, weights, np.float32(0))
    elif mode == "TFIDF":
        total *= weights
    return total.reshape(*x.shape[:-1], total.shape[1])


OPERATORS = (
    Operator(name="TfIdfVectorizer", kind=Kind.OPAQUE, types=_types, reference=_np_vectors, composition=_vectors,
             words={"mode": ("TF", "IDF", "TFIDF")}),)
