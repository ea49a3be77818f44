"""C loops for a CopyPlan: array to buffer, or buffer to array.

The axis that the array is dense along becomes the innermost loop and the small axes behind it are written out, so that
the C compiler sees interleaved vector copies.  What the padding excludes is left out: blocks that lie inside as a whole
are copied by loops of constant length, neighbours that stay neighbours by `memcpy`; others test where they end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from polysched.records import dataclass
from polysched.target import Target
from polysched.tensorize.emission.copy_plan import Axis, CopyPlan
from polysched.tensorize.emission.team import NEVER, SHARED, worth_from
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.software.sizes import is_general, least_of, may_exceed, same

WRITTEN_OUT = LIMITS.written_out


def copy_loops(copy: CopyPlan, *, array: str, buffer: str, to_buffer: bool, team: Target | None,
               value: Callable[[str], str] = str) -> Iterator[str]:
    """The loops; the padding of a buffer is not touched and has to be zero already.

    Parameters
    ----------
    team : the machine whose threads share a copy that is worth it; None where one thread copies.  All of them call
        the function.
    value : C of what the buffer gets, of the C of an element of the array.
    """
    joined = _joined(copy)
    loops, unrolled = _order(joined)
    nest = _Nest(copy=joined, array=array, buffer=buffer, to_buffer=to_buffer, value=value)
    if team is not None and worth_threads(copy, team) != NEVER:
        yield _on_threads(joined, loops)
    depth = _depth_of_blocks(joined, loops)
    if not depth:
        yield from nest.inside([], loops, unrolled)
        return
    outside, within = loops[:depth], loops[depth:]
    whole = frozenset(a.coordinate for a in outside if _is_cut(joined, a.coordinate, outside))
    for at, axis in enumerate(outside):
        yield from _indented(at, _for(joined, axis, outside[:at]))
    pad = "    " * depth
    yield f"{pad}if ({' && '.join(_fits(joined, outside, c) for c in sorted(whole))}) {{"
    yield from (f"{pad}    {line}" for line in nest.inside(outside, within, unrolled, whole=whole))
    yield f"{pad}}} else {{"
    yield from (f"{pad}    {line}" for line in nest.inside(outside, [*within, *unrolled], []))
    yield f"{pad}}}"
    for at in reversed(range(depth)):
        yield "    " * at + "}"


def _is_cut(copy: CopyPlan, coordinate: int, outside: Sequence[Axis]) -> bool:
    """Whether a coordinate with padding counts blocks outside and elements of them inside."""
    return copy.is_padded(coordinate) and any(a.coordinate == coordinate for a in copy.axes if a not in outside)


def _depth_of_blocks(copy: CopyPlan, loops: Sequence[Axis]) -> int:
    """Loops around the copy of one block, of which most lie inside as a whole; 0 where there are no such blocks."""
    depth = 0
    for c in {a.coordinate for a in loops if copy.is_padded(a.coordinate)}:
        if sum(a.coordinate == c for a in copy.axes) > 1:
            depth = max(depth, 1 + next(at for at, a in enumerate(loops) if a.coordinate == c))
    cut = any(_is_cut(copy, a.coordinate, loops[:depth]) for a in loops[:depth])
    return depth if cut and depth < len(loops) else 0


def _fits(copy: CopyPlan, outside: Sequence[Axis], coordinate: int) -> str:
    """C that says whether all elements of a block have positions of a coordinate."""
    reach = sum(a.weight * (a.extent - 1) for a in copy.axes if a.coordinate == coordinate and a not in outside)
    first = " + ".join(_times(a.name, a.weight) for a in outside if a.coordinate == coordinate)
    return f"{first} + {reach} < {copy.coordinates[coordinate].count}"


def _times(name: str, factor: int) -> str:
    return name if same(factor, 1) else f"{name} * {factor}"


@dataclass(frozen=True, eq=False, kw_only=True)
class _Nest:
    """What copies elements, and how their values become those of the buffer."""

    copy: CopyPlan
    array: str
    buffer: str
    to_buffer: bool
    value: Callable[[str], str]

    def inside(self, outside: Sequence[Axis], loops: Sequence[Axis], unrolled: Sequence[Axis], *,
               whole: frozenset[int] = frozenset()) -> Iterator[str]:
        """The loops inside of others.

        Parameters
        ----------
        unrolled : axes that are written out.
        whole : coordinates of which no position is padding here.
        """
        run = loops[-1] if loops and not unrolled and self._is_run(loops[-1], whole) else None
        around = [*loops[:-1]] if run is not None else [*loops]
        for depth, axis in enumerate(around):
            if whole and depth == len(loops) - 1 and (is_general(axis.extent) or axis.extent > WRITTEN_OUT):
                yield "    " * depth + "#pragma omp simd"   # a function of threads no longer knows what is apart
            yield from _indented(depth, _for(self.copy, axis, [*outside, *loops[:depth]], whole))
        pad = "    " * len(around)
        if run is not None:
            here, there = (_index(self.copy, [*outside, *around], {}, source=s) for s in (False, True))
            size = f"{run.extent} * sizeof *{self.buffer}"
            yield f"{pad}memcpy(&{self.buffer}[{here}], &{self.array}[{there}], {size});"
        else:
            yield from (pad + line for line in self._elements([*outside, *loops], unrolled, whole))
        for depth in reversed(range(len(around))):
            yield "    " * depth + "}"

    def _is_run(self, axis: Axis, whole: frozenset[int]) -> bool:
        """Whether neighbours along an axis, always as many, are neighbours on both sides and stay as they are."""
        bounded = self.copy.is_padded(axis.coordinate) and axis.coordinate not in whole
        in_array = axis.weight * self.copy.coordinates[axis.coordinate].step
        return self.to_buffer and not bounded and not is_general(axis.extent) and self.value("x") == "x" \
            and same(in_array, 1) and same(self.copy.stride_of(axis.name), 1)

    def _elements(self, loops: Sequence[Axis], unrolled: Sequence[Axis], whole: frozenset[int]) -> Iterator[str]:
        """One assignment per place of the axes that are written out, tested where it may be padding."""
        for point in itertools.product(*(range(a.extent) for a in unrolled)):
            at = dict(zip((a.name for a in unrolled), point, strict=True))
            here, there = (_index(self.copy, loops, at, source=s) for s in (False, True))
            text = (f"{self.buffer}[{here}] = {self.value(f'{self.array}[{there}]')};" if self.to_buffer
                    else f"{self.array}[{there}] = {self.buffer}[{here}];")
            guards = [f"{_position(self.copy, loops, at, c)} < {self.copy.coordinates[c].count}"
                      for c in sorted({a.coordinate for a in unrolled} - whole) if self.copy.is_padded(c)]
            yield f"if ({' && '.join(guards)}) {text}" if guards else text


def worth_threads(copy: CopyPlan, target: Target) -> str:
    """The condition under which a copy pays for a team."""
    joined, costs = _joined(copy), target.costs
    cycles = costs.turned_element_cycles if is_turned(joined) else costs.copied_element_cycles
    return worth_from(joined.elements, target.team_iterations(cycles)) if _order(joined)[0] else NEVER


def _on_threads(copy: CopyPlan, loops: Sequence[Axis]) -> str:
    """The pragma that shares the outer loops among threads: two where both have all iterations and others are left."""
    deep = len(loops) > 2 and not any(copy.is_padded(a.coordinate) for a in loops[:2])
    return SHARED + (" collapse(2)" if deep else "") + " nowait"


def is_turned(copy: CopyPlan) -> bool:
    """Whether neighbours in the array lie far apart in the buffer, so that elements are copied one by one."""
    joined = _joined(copy)
    loops, unrolled = _order(joined)
    apart = [axis for axis in joined.axes if axis not in unrolled]
    return bool(loops) and apart[-1] is not loops[-1]


def _joined(copy: CopyPlan) -> CopyPlan:
    """Neighbouring axes that count one coordinate without a gap are one; axes of one place are dropped."""
    axes: list[Axis] = []
    for axis in copy.axes:
        last = axes[-1] if axes else None
        if same(axis.extent, 1):
            continue
        if last is not None and last.coordinate == axis.coordinate and same(last.weight, axis.weight * axis.extent):
            axes[-1] = Axis(name=axis.name, coordinate=axis.coordinate, weight=axis.weight,
                            extent=last.extent * axis.extent)
        else:
            axes.append(axis)
    return CopyPlan(coordinates=copy.coordinates, axes=tuple(axes), start=copy.start, moving=copy.moving)


def _order(copy: CopyPlan) -> tuple[list[Axis], list[Axis]]:
    """Loops, outermost first, and the axes that are written out inside them."""
    axes = list(copy.axes)
    dense = next((a for a in reversed(axes) if abs(a.weight * copy.coordinates[a.coordinate].step) == 1), None)
    unrolled: list[Axis] = []
    size = 1
    while axes and axes[-1] is not dense and not may_exceed(size * axes[-1].extent, WRITTEN_OUT) and len(axes) > 1:
        size *= axes[-1].extent
        unrolled.insert(0, axes.pop())
    if dense is not None:
        axes.remove(dense)
        axes.append(dense)
    return axes, unrolled


def _indented(depth: int, lines: Iterable[str]) -> Iterator[str]:
    return ("    " * depth + line for line in lines)


def _for(copy: CopyPlan, axis: Axis, outside: Sequence[Axis], whole: frozenset[int] = frozenset()) -> Iterator[str]:
    """The head of a loop inside of others, which ends where padding begins; not of coordinates without any here."""
    end = str(axis.extent)
    inner = any(a.coordinate == axis.coordinate for a in copy.axes if a not in (*outside, axis))
    if copy.is_padded(axis.coordinate) and axis.coordinate not in whole and not inner:
        rest = " - ".join([str(copy.coordinates[axis.coordinate].count),
                           *(f"{a.name} * {a.weight}" for a in outside if a.coordinate == axis.coordinate)])
        bound = f"({rest} + {axis.weight - 1}) / {axis.weight}" if axis.weight > 1 else f"({rest})"
        if not any(a.coordinate == axis.coordinate for a in outside):
            end = str(least_of(axis.extent, -(-copy.coordinates[axis.coordinate].count // axis.weight)))
        else:
            end = f"ps_{axis.name}"
            yield f"long {end} = {bound} < {axis.extent} ? {bound} : {axis.extent};"
    yield f"for (long {axis.name} = 0; {axis.name} < {end}; {axis.name}++) {{"


def _index(copy: CopyPlan, loops: Sequence[Axis], at: dict[str, int], *, source: bool) -> str:
    """Element of the array or of the buffer."""
    terms, constant = [], copy.start if source else 0
    for axis, stride in zip(copy.axes, copy.strides, strict=True):
        step = axis.weight * copy.coordinates[axis.coordinate].step if source else stride
        if axis in loops and step:
            terms.append(_times(axis.name, step))
        else:
            constant += at.get(axis.name, 0) * step
    terms += copy.moving if source else ()
    return " + ".join([*terms, *([str(constant)] if is_general(constant) or constant or not terms else [])])


def _position(copy: CopyPlan, loops: Sequence[Axis], at: dict[str, int], coordinate: int) -> str:
    terms, constant = [], 0
    for axis in copy.axes:
        if axis.coordinate == coordinate and axis in loops:
            terms.append(_times(axis.name, axis.weight))
        elif axis.coordinate == coordinate:
            constant += at.get(axis.name, 0) * axis.weight
    return " + ".join([*terms, *([str(constant)] if is_general(constant) or constant or not terms else [])])
