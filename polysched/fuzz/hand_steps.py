"""Random sequences of schedule primitives: those that are legal are applied, refusals are passed over."""

from __future__ import annotations

import random
from collections.abc import Callable

from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling.primitives import (
    ComputeAt,
    Distribute,
    Fuse,
    Interchange,
    Loop,
    Parallel,
    Peel,
    Privatize,
    Reorder,
    Reverse,
    Scale,
    Shift,
    Skew,
    SplitAt,
    Step,
    Stitch,
    StripMine,
    Tile,
    Unroll,
    UnrollAndJam,
    Vectorize,
    loops,
)
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.steps import apply, loop_tree
from polysched.scop.scop import Scop

TRIES_PER_STEP = 4


def random_steps(schedule: Schedule, *, seed: int, count: int) -> Schedule:
    """The schedule after up to `count` random legal steps."""
    source = random.Random(f"steps {seed}")
    for _ in range(TRIES_PER_STEP * count):
        if len(schedule.steps) == count:
            break
        around = loops(loop_tree(schedule.tree))
        if not around:
            break
        try:
            schedule = apply(schedule, random_step(schedule.scop, around, source))
        except (IllegalScheduleError, UsageError):
            continue
    return schedule


def random_step(scop: Scop, all_loops: tuple[Loop, ...], source: random.Random) -> Step:
    """One step at a random place; it need not be legal, or even possible, there."""
    loop = source.choice(all_loops)
    around = [other.position for other in all_loops if any(band is other.band for band in loop.outer_bands)]
    outer = source.choice(around) if around else loop.position
    here, small = loop.position, source.randint(2, 4)
    last = all_loops[-1].position
    temporaries = [array.name for array in scop.arrays if array.is_temporary] or [scop.arrays[0].name]
    nest = [*sorted(around), here]
    makers: tuple[Callable[[], Step], ...] = (
        lambda: Tile(loops=(outer, here) if outer != here else (here,),
                     sizes=tuple(source.randint(1, 5) for _ in range(1 + (outer != here)))),
        lambda: Tile(loops=tuple(nest), sizes=tuple(source.randint(1, 5) for _ in nest)),
        lambda: Interchange(outer=outer, inner=here),
        lambda: Reorder(order=tuple(source.sample(nest, len(nest)))),
        lambda: Skew(loop=here, by=outer, factor=source.choice((-1, 1, 2))),
        lambda: Reverse(loop=here),
        lambda: Shift(loop=here, statement=source.choice(loop.statements), amount=source.choice((-1, 1, 2))),
        lambda: Scale(loop=here, factor=small),
        lambda: StripMine(loop=here, size=small),
        lambda: SplitAt(loop=here, at=small),
        lambda: Peel(loop=here, count=source.randint(1, 2), where=source.choice(("first", "last"))),
        lambda: Distribute(loop=here),
        lambda: Fuse(first=here, second=source.randint(here, last)),
        lambda: Unroll(loop=here, factor=small),
        lambda: UnrollAndJam(loop=here, factor=small),
        lambda: Parallel(loop=here),
        lambda: Vectorize(loop=here),
        lambda: Privatize(array=source.choice(temporaries), loop=here),
        lambda: ComputeAt(producer=source.choice(scop.statements).name, loop=here),
        lambda: Stitch(dominant=source.choice(scop.statements).name, most_again=source.choice((50, 1000)),
                       sizes=tuple(source.randint(1, 5) for _ in range(source.randint(1, 2)))),
    )
    return source.choice(makers)()
