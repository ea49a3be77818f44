"""Dependences as HTML: an arrow per pair, a row per pair of accesses."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.scheduling.schedule import Schedule
from polysched.scop.c_frontend.frontend import from_c_text
from tests.html_reader import Page

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


def smooth() -> Schedule:
    scop = from_c_text(STENCIL)
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def rows(page: Page) -> int:
    return page.counts["tr"] - page.counts["thead"]


def test_dependences_show_an_arrow_per_pair_in_the_picture_and_a_row_per_pair_of_accesses():
    dependences = smooth().dependences
    page = Page(dependences._repr_html_())
    assert page.counts["line"] == len(arrows_by_hand())
    assert rows(page) == len(dependences.pairs)


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
