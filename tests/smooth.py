"""A program whose pictures are small enough to be counted, for tests of what values show."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.scheduling import steps
from polysched.scheduling.primitives import Skew, Tile
from polysched.scheduling.schedule import Schedule
from polysched.scop.c_frontend.frontend import from_c_text

STENCIL = """\
void smooth(int steps, int n, double a[n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            a[i] = (a[i - 1] < a[i + 1]) ? a[i - 1] : a[i + 1];
#pragma endscop
}
"""
INSTANCES = 7 * (7 - 2)   # a picture takes steps = 7, n = 7


def smooth() -> Schedule:
    scop = from_c_text(STENCIL)
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def tiled_by_hand() -> Schedule:
    return steps.apply(smooth(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 3)))


def arrows_by_hand() -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """Flow, anti and output dependences of STENCIL by running through its instances."""
    order = [(t, i) for t in range(7) for i in range(1, 6)]
    found = set()
    written: dict[int, tuple[int, int]] = {}
    readers: dict[int, set[tuple[int, int]]] = {}
    for t, i in order:
        for element in (i - 1, i + 1):
            if element in written:
                found.add((written[element], (t, i)))
            readers.setdefault(element, set()).add((t, i))
        found |= {(reader, (t, i)) for reader in readers.pop(i, set())}
        if i in written:
            found.add((written[i], (t, i)))
        written[i] = (t, i)
    return found
