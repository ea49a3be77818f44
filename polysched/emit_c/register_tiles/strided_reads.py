"""Every second or third element of memory, as whole vectors of neighbours and shuffles.

Rewrite:  {x[3i], x[3i + 3], x[3i + 6], x[3i + 9], ...}
      ->  the vectors at x[3i], x[3i + W - 1], x[3i + 2(W - 1)];  lane by lane from one of them;  lanes put in order

The last vector ends with the last element that is asked for, so nothing is read outside of what lies between the first
and the last one.  Lanes stay where they are while vectors are merged, where no two elements want the same lane: that
is a blend, which is one instruction with AVX.

Source: D. Nuzman, I. Rosen, A. Zaks, "Auto-vectorization of interleaved data for SIMD", PLDI 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import product

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.scalar_code.c_text import CText, Level, call
from polysched.records import dataclass

MOST_APART = LIMITS.most_apart


@dataclass(frozen=True)
class Cover:
    """Vectors that hold the elements, and which of its lanes each element has there.

    Parameters
    ----------
    offsets : where each vector starts, in elements from the lowest one.
    lanes : for every element, in the order of memory, its vector and its lane there.
    """

    offsets: tuple[int, ...]
    lanes: tuple[tuple[int, int], ...]

    @property
    def collisions(self) -> int:
        """Elements that want the same lane as another one."""
        return len(self.lanes) - len({lane for _, lane in self.lanes})


@cache
def cover(step: int, lanes: int) -> Cover:
    """The vectors for `lanes` elements that are `step` apart, with as few collisions as there can be."""
    span = (lanes - 1) * step
    last = span - (lanes - 1)
    for between in range(step - 1):
        starts = {(0, *sorted(inner), last) for inner in product(range(last + 1), repeat=between)}
        covers = [found for offsets in starts if (found := _covered(offsets, range(0, span + 1, step), lanes))]
        if covers:
            return min(covers, key=lambda c: (c.collisions, c.offsets))
    raise AssertionError(f"{step} vectors of {lanes} hold as many elements {step} apart")


def _covered(offsets: tuple[int, ...], elements: range, lanes: int) -> Cover | None:
    """Each element from the first vector that has it; None where one has none."""
    found: list[tuple[int, int]] = []
    for element in elements:
        own = next((v for v, offset in enumerate(offsets) if 0 <= element - offset < lanes), None)
        if own is None:
            return None
        found.append((own, element - offsets[own]))
    return Cover(offsets, tuple(found))


def strided_vector(lowest: CText, step: int, lanes: int, kind: str, named: Callable[[CText], CText]) -> CText:
    """The vector of `lanes` elements.

    Parameters
    ----------
    lowest : the element with the lowest address.
    step : how many elements of the row lie from lane to lane; negative where the last lane is the lowest element.
    kind : the name of the vector type.
    named : a variable with a value, declared in front of the statement.
    """
    found = cover(abs(step), lanes)
    order = range(lanes) if step > 0 else range(lanes - 1, -1, -1)
    address = f"&{lowest.at(Level.UNARY)}"
    vectors = [CText(f"*({kind} *)({address} + {offset})" if offset else f"*({kind} *){address}", Level.UNARY)
               for offset in found.offsets]
    if found.collisions and len(vectors) > 2:
        return _placed(vectors, found, order, lanes, named)
    if len(vectors) == 2:
        return _shuffled(vectors[0], vectors[1], [v * lanes + lane for v, lane in (found.lanes[n] for n in order)])
    merged = vectors[0]
    owner = {lane: v for v, lane in found.lanes}
    for number in range(1, len(vectors)):
        merged = named(_shuffled(merged, vectors[number], _blend(owner, number, lanes)))
    return _shuffled(merged, merged, [found.lanes[n][1] for n in order])


def _blend(owner: Mapping[int, int], number: int, lanes: int) -> list[int]:
    """Every lane from where it is: out of the second vector those that it brings."""
    return [lanes + lane if owner.get(lane) == number else lane for lane in range(lanes)]


def _placed(vectors: list[CText], found: Cover, order: range, lanes: int, named: Callable[[CText], CText]) -> CText:
    """Each element put into its final lane as soon as its vector comes."""
    wanted = [found.lanes[n] for n in order]
    merged = _shuffled(vectors[0], vectors[1], [v * lanes + lane if v < 2 else 0 for v, lane in wanted])
    for number in range(2, len(vectors)):
        merged = _shuffled(named(merged), vectors[number],
                           [lanes + lane if v == number else n for n, (v, lane) in enumerate(wanted)])
    return merged


def _shuffled(first: CText, second: CText, lanes: list[int]) -> CText:
    return call("__builtin_shufflevector", [first, second, *(CText(str(lane)) for lane in lanes)])
