"""The graphs that the experiment places: models as matrix products, a convolution with its input unfolded."""

from __future__ import annotations

import random

from polysched.mesh import Message, Operator, OperatorGraph

ITEM = 4
"""Bytes of a float."""


def product(name: str, m: int, n: int, k: int, *, weights: bool = True) -> Operator:
    """A matrix product `m x k` by `k x n`, the right operand in place or not."""
    return Operator(name=name, work=2.0 * m * n * k, extents=(m, n), weights=ITEM * k * n if weights else 0,
                    result=ITEM * m * n)


def encoder() -> OperatorGraph:
    """One layer of BERT base: 128 words, 768 features, 12 heads, 3072 inside (Devlin et al., 2019)."""
    words, width, heads, inner = 128, 768, 12, 3072
    narrow = width // heads
    operators = [product(name, words, width, width) for name in ("query", "key", "value", "output")]
    operators += [product(f"scores{h}", words, words, narrow, weights=False) for h in range(heads)]
    operators += [product(f"context{h}", words, narrow, words, weights=False) for h in range(heads)]
    operators += [product("widen", words, inner, width), product("narrow", words, width, inner)]
    head, whole = ITEM * words * narrow, ITEM * words * width
    messages = [Message(source="output", sink="widen", bytes=whole, cut="rows"),
                Message(source="widen", sink="narrow", bytes=ITEM * words * inner, cut="rows"),
                Message(source="output", sink="narrow", bytes=whole)]
    for h in range(heads):
        messages += [Message(source="query", sink=f"scores{h}", bytes=head, cut="rows"),
                     Message(source="key", sink=f"scores{h}", bytes=head, cut="columns"),
                     Message(source=f"scores{h}", sink=f"context{h}", bytes=ITEM * words * words, cut="rows"),
                     Message(source="value", sink=f"context{h}", bytes=head, cut="columns"),
                     Message(source=f"context{h}", sink="output", bytes=head, cut="rows")]
    return OperatorGraph(name="encoder", operators=tuple(operators), messages=tuple(messages))


def inception() -> OperatorGraph:
    """Block 3a of GoogLeNet on 28 x 28 points as products of unfolded images (Szegedy et al., 2015, table 1)."""
    points, given = 28 * 28, 192
    sizes = {"one": (given, 64), "three_reduced": (given, 96), "three": (96 * 9, 128), "five_reduced": (given, 16),
             "five": (16 * 25, 32), "pooled": (given, 32)}
    operators = [Operator(name="given", work=points * given, extents=(points, given), result=ITEM * points * given)]
    operators += [product(name, points, n, k) for name, (k, n) in sizes.items()]
    operators.append(Operator(name="joined", work=points * 256, extents=(points, 256), result=ITEM * points * 256))
    whole = ITEM * points
    messages = [Message(source="given", sink=name, bytes=whole * given, cut="rows")
                for name in ("one", "three_reduced", "five_reduced", "pooled")]
    messages += [Message(source=f"{name}_reduced", sink=name, bytes=whole * sizes[f"{name}_reduced"][1], cut="rows")
                 for name in ("three", "five")]
    messages += [Message(source=name, sink="joined", bytes=whole * sizes[name][1])
                 for name in ("one", "three", "five", "pooled")]
    return OperatorGraph(name="inception", operators=tuple(operators), messages=tuple(messages))


def single_cores() -> OperatorGraph:
    """Forty operators of one core each, with 58 messages."""
    draw = random.Random(1)
    operators = tuple(Operator(name=f"o{n}", work=1e6) for n in range(40))
    pairs = [(draw.randrange(max(0, n - 6), n), n) for n in range(1, 40)]
    while len(pairs) < 58:
        sink = draw.randrange(2, 40)
        pair = draw.randrange(max(0, sink - 6), sink), sink
        pairs += [pair] if pair not in pairs else []
    return OperatorGraph(name="single_cores", operators=operators, messages=tuple(
        Message(source=f"o{s}", sink=f"o{t}", bytes=1000 * draw.randint(1, 64)) for s, t in pairs))


def decoder() -> OperatorGraph:
    """One layer of a decoder: 64 words, 1024 features, 16 query heads on 4 key heads, a gated feed-forward part.

    Sizes as in small models of the Llama family (Touvron et al., 2023), grouped heads as in Ainslie et al., 2023.
    """
    words, width, heads, shared, inner = 64, 1024, 16, 4, 2816
    narrow = width // heads
    operators = [product("query", words, width, width), product("output", words, width, width)]
    operators += [product(name, words, shared * narrow, width) for name in ("key", "value")]
    operators += [product(f"attended{g}", words, heads // shared * narrow, 2 * words, weights=False)
                  for g in range(shared)]
    operators += [product(name, words, inner, width) for name in ("gate", "up")]
    operators.append(product("down", words, width, inner))
    part, whole = ITEM * words * narrow, ITEM * words * width
    messages = [Message(source="output", sink=name, bytes=whole, cut="rows") for name in ("gate", "up")]
    messages += [Message(source=name, sink="down", bytes=ITEM * words * inner, cut="rows") for name in ("gate", "up")]
    messages.append(Message(source="output", sink="down", bytes=whole))
    for g in range(shared):
        messages += [Message(source="query", sink=f"attended{g}", bytes=heads // shared * part, cut="rows"),
                     Message(source="key", sink=f"attended{g}", bytes=part, cut="columns"),
                     Message(source="value", sink=f"attended{g}", bytes=part, cut="columns"),
                     Message(source=f"attended{g}", sink="output", bytes=heads // shared * part, cut="rows")]
    return OperatorGraph(name="decoder", operators=tuple(operators), messages=tuple(messages))


def resnet50() -> OperatorGraph:
    """The 53 convolutions and the last product of ResNet-50 on 224 x 224 points (He et al., 2016), in bytes.

    Additions and activations belong to the convolution before them; pooling to the one before it.
    """
    operators, messages = [], []
    made: dict[str, int] = {}

    def convolution(name: str, side: int, given: int, features: int, kernel: int, *sources: tuple[str, str]) -> str:
        points = side * side
        operators.append(Operator(name=name, work=2.0 * points * features * given * kernel * kernel,
                                  extents=(points, features), weights=given * features * kernel * kernel,
                                  result=points * features))
        made[name] = points * features
        messages.extend(Message(source=s, sink=name, bytes=made[s], cut=cut) for s, cut in sources)
        return name

    last, width = convolution("first", 112, 3, 64, 7), 64
    made[last] = 56 * 56 * 64   # behind the pooling
    for stage, (blocks, side) in enumerate(((3, 56), (4, 28), (6, 14), (3, 7))):
        inner = 64 << stage
        for block in range(blocks):
            name = f"s{stage}b{block}"
            given, before = width, last
            one = convolution(f"{name}_1", side if block or not stage else 2 * side, given, inner, 1, (before, "rows"))
            three = convolution(f"{name}_3", side, inner, inner, 3, (one, "rows"))
            skipped = before if block else convolution(f"{name}_s", side, given, 4 * inner, 1, (before, "rows"))
            last = convolution(f"{name}_2", side, inner, 4 * inner, 1, (three, "rows"), (skipped, "cells"))
            width = 4 * inner
    made[last] = width
    convolution("last", 1, width, 1000, 1, (last, "rows"))
    return OperatorGraph(name="resnet50", operators=tuple(operators), messages=tuple(messages))


GRAPHS = {"resnet50": resnet50, "encoder": encoder, "decoder": decoder, "inception": inception,
          "single_cores": single_cores}
