"""C loops for a CopyPlan: array to buffer, or buffer to array.

The axis that the array is dense along becomes the innermost loop and the small axes behind it are written out, so that
the C compiler sees interleaved vector copies; what the padding excludes is left out by loop bounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from polysched.tensorize.emission.copy_plan import Axis, CopyPlan
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.software.sizes import is_general, least_of, may_exceed, same

PARALLEL_ELEMENTS = LIMITS.parallel_copy_elements
WRITTEN_OUT = LIMITS.written_out


def copy_loops(copy: CopyPlan, *, array: str, buffer: str, to_buffer: bool, parallel: bool,
               value: Callable[[str], str] = str) -> Iterator[str]:
    """The loops; the padding of a buffer is not touched and has to be zero already.

    Parameters
    ----------
    value : C of what the buffer gets, of the C of an element of the array.
    """
    joined = _joined(copy)
    loops, unrolled = _order(joined)
    if parallel and loops and int(joined.elements) >= PARALLEL_ELEMENTS:
        yield _on_threads(joined, loops)
    for depth, axis in enumerate(loops):
        yield "    " * depth + _for(joined, axis, [*loops[:depth]])
    pad = "    " * len(loops)
    for point in itertools.product(*(range(a.extent) for a in unrolled)):
        at = dict(zip((a.name for a in unrolled), point, strict=True))
        here, there = (_index(joined, loops, at, source=s) for s in (False, True))
        text = (f"{buffer}[{here}] = {value(f'{array}[{there}]')};" if to_buffer
                else f"{array}[{there}] = {buffer}[{here}];")
        guards = [f"{_position(joined, loops, at, c)} < {joined.coordinates[c].count}"
                  for c in sorted({a.coordinate for a in unrolled}) if joined.is_padded(c)]
        yield pad + (f"if ({' && '.join(guards)}) {text}" if guards else text)
    for depth in reversed(range(len(loops))):
        yield "    " * depth + "}"


def _on_threads(copy: CopyPlan, loops: Sequence[Axis]) -> str:
    """The pragma that shares the outer loops among threads: two where both have all iterations and others are left."""
    deep = len(loops) > 2 and not any(copy.is_padded(a.coordinate) for a in loops[:2])
    enough = f" if({copy.elements} >= {PARALLEL_ELEMENTS})" if is_general(copy.elements) else ""
    return "#pragma omp parallel for" + (" collapse(2)" if deep else "") + enough


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


def _for(copy: CopyPlan, axis: Axis, outside: list[Axis]) -> str:
    end = str(axis.extent)
    inner = any(a.coordinate == axis.coordinate for a in copy.axes if a not in (*outside, axis))
    if copy.is_padded(axis.coordinate) and not inner:
        rest = " - ".join([str(copy.coordinates[axis.coordinate].count),
                           *(f"{a.name} * {a.weight}" for a in outside if a.coordinate == axis.coordinate)])
        bound = f"({rest} + {axis.weight - 1}) / {axis.weight}" if axis.weight > 1 else f"({rest})"
        if not any(a.coordinate == axis.coordinate for a in outside):
            end = str(least_of(axis.extent, -(-copy.coordinates[axis.coordinate].count // axis.weight)))
        else:
            end = f"ps_{axis.name}"
            return (f"long ps_{axis.name} = {bound} < {axis.extent} ? {bound} : {axis.extent};\n"
                    f"for (long {axis.name} = 0; {axis.name} < {end}; {axis.name}++) {{")
    return f"for (long {axis.name} = 0; {axis.name} < {end}; {axis.name}++) {{"


def _index(copy: CopyPlan, loops: list[Axis], at: dict[str, int], *, source: bool) -> str:
    """Element of the array or of the buffer."""
    terms, constant = [], copy.start if source else 0
    for axis, stride in zip(copy.axes, copy.strides, strict=True):
        step = axis.weight * copy.coordinates[axis.coordinate].step if source else stride
        if axis in loops and step:
            terms.append(axis.name if step == 1 else f"{axis.name} * {step}")
        else:
            constant += at.get(axis.name, 0) * step
    terms += copy.moving if source else ()
    return " + ".join([*terms, *([str(constant)] if constant or not terms else [])])


def _position(copy: CopyPlan, loops: list[Axis], at: dict[str, int], coordinate: int) -> str:
    terms, constant = [], 0
    for axis in copy.axes:
        if axis.coordinate == coordinate and axis in loops:
            terms.append(axis.name if axis.weight == 1 else f"{axis.name} * {axis.weight}")
        elif axis.coordinate == coordinate:
            constant += at.get(axis.name, 0) * axis.weight
    return " + ".join([*terms, *([str(constant)] if constant or not terms else [])])
