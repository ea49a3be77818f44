"""Which configurations a program is tried with: drawn by its number, so that every one appears often in a campaign."""

from __future__ import annotations

import random
from dataclasses import replace

from polysched.fuzz.configuration import STRATEGY, Build, Configuration, Sizes
from polysched.pipeline.options import BEST
from polysched.scheduling.options import FUSION_POLICIES
from polysched.tensorize.registry import INTRINSICS

VECTOR_BITS = (0, 0, 128, 256, 512)
TEMPORARIES = ("keep", "expand", "exact")
OTHERS = {"isl": 5, "original": 4, "feautrier": 4, STRATEGY: 5, BEST: 1}
"""Schedulers besides Pluto's, and how often each is drawn."""
BUILDS = {Build.O3: 4, Build.O2: 3, Build.CLANG: 3}
LARGEST_EDGE = 7
INSTRUCTION_BLOCK, INSTRUCTION_PERIOD = 16, 5
"""Blocks of so many programs, every so manieth with instructions: a process first tries which the machine executes."""


def random_configurations(seed: int) -> tuple[Configuration, ...]:
    """Pluto tiled; another scheduler; and random primitives, or Pluto by another policy, or an instruction.

    Of every other program one of them, in turn, is compiled with optimisations.
    """
    source = random.Random(f"configuration {seed}")
    other = source.choices(list(OTHERS), weights=list(OTHERS.values()))[0]
    drawn = [_automatic(source, "pluto", tiled=1.0), _automatic(source, other, tiled=0.5)]
    if other == STRATEGY:  # which names the statements as they are before index sets are split
        drawn[1] = replace(drawn[1], strategy_seed=seed, split=False)
    third = source.random()
    with_instructions = seed // INSTRUCTION_BLOCK % INSTRUCTION_PERIOD == 0
    if third < (0.35 if with_instructions else 0.6):
        scheduler, sizes = source.choice(("original", "original", "pluto")), _sizes(source, 0.25)
        drawn.append(Configuration(scheduler=scheduler, steps=source.randint(1, 5), steps_seed=seed, sizes=sizes,
                                   vector_bits=source.choice(VECTOR_BITS)))
    elif third < 0.93 and with_instructions:
        drawn.append(_whole_pipeline(source, intrinsic=source.choice(("auto", *BY_NAME))
                                     if source.random() < 0.5 else "auto"))
    elif third < 0.93:
        drawn.append(_automatic(source, "pluto", tiled=0.5, fusion=source.choice(FUSION_POLICIES)))
    else:
        drawn.append(replace(_whole_pipeline(source, intrinsic=""), safe=True))
    distinct = list({c.label: c for c in drawn}.values())
    chosen = seed // 2 % len(distinct)
    if seed % 2:
        build = source.choices(list(BUILDS), weights=list(BUILDS.values()))[0]
        distinct[chosen] = replace(distinct[chosen], build=build)
    return tuple(distinct)


BY_NAME = tuple(name for name, intrinsic in INTRINSICS.items() if not intrinsic.library)
"""A call of a library needs the library."""


def _automatic(source: random.Random, scheduler: str, *, tiled: float, fusion: str = "smart") -> Configuration:
    """A scheduler with everything else at random."""
    sizes = _sizes(source, tiled)
    given = not isinstance(sizes, str)
    temporaries = source.choices(TEMPORARIES, weights=(6, 3, 1))[0]
    return _with_orders(Configuration(
        scheduler=scheduler, fusion=fusion, sizes=sizes, vector_bits=source.choice(VECTOR_BITS),
        outer_sizes=(max(source.randint(2, 3 * LARGEST_EDGE), *_edges_of(sizes)),)
        if given and source.random() < 0.15 else (),
        nested=source.random() < 0.3, parallel=source.random() < 0.92,
        expand=temporaries == "expand", reductions="exact" if temporaries == "exact" else "keep",
        reassociate=source.random() < 0.1, split=source.random() < 0.1,
        concurrent_start=source.choice((1, 1, 2)) if scheduler == "pluto" and source.random() < 0.15 else 0,
        parallel_degrees=source.choice((1, 1, 1, 1, 2, 3)), packing=source.random() < 0.8,
        guard=source.random() < 0.15))


def _with_orders(configuration: Configuration) -> Configuration:
    """Some orders by hand where there are tiles; drawn from the rest, so that everything else stays as it is drawn."""
    source = random.Random(configuration.label)
    orders = [tuple(source.sample(range(4), source.randint(1, 4))) if source.random() < 0.3 else () for _ in range(2)]
    return configuration if configuration.sizes == "off" else replace(
        configuration, order=orders[0], point_order=orders[1])


def _sizes(source: random.Random, tiled: float) -> Sizes:
    """Random edges, or those of the model."""
    if source.random() >= tiled:
        return "off"
    kind = source.random()
    if kind < 0.2:
        return "auto"
    if kind < 0.4:
        return source.randint(2, LARGEST_EDGE)
    return tuple(source.randint(1, LARGEST_EDGE) for _ in range(source.randint(1, 4)))


def _edges_of(sizes: Sizes) -> tuple[int, ...]:
    """The numbers among them: tiles around them have to be as large."""
    return () if isinstance(sizes, str) else sizes if isinstance(sizes, tuple) else (sizes,)


def _whole_pipeline(source: random.Random, *, intrinsic: str) -> Configuration:
    """What `polysched c2c` offers."""
    return Configuration(scheduler=source.choice(("pluto", "pluto", "isl", "original")), sizes=_sizes(source, 0.7),
                         vector_bits=source.choice(VECTOR_BITS), expand=source.random() < 0.5, intrinsic=intrinsic,
                         guard=source.random() < 0.15, parallel=source.random() < 0.9)
