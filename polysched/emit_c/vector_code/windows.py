"""Pointers to what a register tile reads through a window whose loops are unrolled.

    __typeof__(&X[c][y]) X_window = (__typeof__(&X[c][y]))&X[c][y][x];
    __asm__("" : "+r"(X_window));
    for r, s unrolled: .. X_window[r][s] .. X_window[r][s + 1] ..

Without it gcc 12 keeps an address for every element that the unrolled iterations read, and has no registers for them.
Rows of the pointer's type begin at the window, not where rows of the array do; it reads what the source reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from polysched.emit_c.loop_ir.facts import depends_on
from polysched.emit_c.loop_ir.index import Linear, constant, substitute
from polysched.emit_c.loop_ir.names import identifier_of
from polysched.emit_c.register_tiles.accumulators import TileAccess
from polysched.emit_c.register_tiles.tile_accesses import Reach
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.expressions import element_template, fill_element
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.vector_code.tile_scope import Piece
from polysched.records import dataclass
from polysched.scop.scop import Array


@dataclass(frozen=True, kw_only=True)
class Window:
    """One access through a pointer.

    Parameters
    ----------
    name : of the pointer.
    array : what is read.
    access : where, per point.
    template : how an element of the array is spelled.
    first : the element that it points to.
    outer : how many of its subscripts the others stand behind; the pointer's own begin there.
    """

    name: str
    array: Array
    access: TileAccess
    template: str
    first: tuple[Linear, ...]
    outer: int

    def declaration(self, index: IndexPrinter) -> list[str]:
        """The pointer, of which a compiler does not know where it comes from."""
        texts = [index.form(form).text for form in self.first]
        row = fill_element(self.template[:_end_of_field(self.template, self.outer + 1)], texts[:self.outer + 1])
        kind, element = f"__typeof__(&{row})", fill_element(self.template, texts)
        cast = f"({kind})" if self.outer + 1 < len(texts) else ""
        return [f"{kind} {self.name} = {cast}&{element};", f'__asm__("" : "+r"({self.name}));']

    def elements(self, index: IndexPrinter) -> Iterator[tuple[Reach, Piece]]:
        """The text of each element."""
        for key in self.access.keys:
            inside = [form - first for form, first in zip(key.subscripts or (), self.first, strict=True)]
            text = "".join(f"[{index.form(form).text}]" for form in inside[self.outer:])
            yield key, Piece(CText(f"{self.name}{text}"), self.array.dtype, False)


def windows(accesses: Sequence[TileAccess], unrolled: frozenset[str], *, rows: frozenset[str],
            array: Callable[[str], Array], fresh: Callable[[str, frozenset[str]], str],
            local_names: Mapping[str, str]) -> tuple[Window, ...]:
    """A pointer for each access whose elements are spelled so that one can stand for its first subscripts.

    Parameters
    ----------
    unrolled : the variables of the loops.
    rows : those of the edges, which say what varies where no loop is unrolled.
    array : an array by its name.
    fresh : makes a name, beside those that were made here.
    """
    found: dict[Reach, Window] = {}
    for access in accesses:
        reach = access.generic
        where = next((n for n, form in enumerate(reach.subscripts or ()) if depends_on(form, unrolled or rows)), None)
        if where is None or reach in found or reach.subscripts is None:
            continue
        at_first = {name: constant(0) for name in unrolled}
        first = tuple(substitute(form, at_first) for form in reach.subscripts)
        read = array(reach.array)
        template = element_template(read, len(reach.subscripts), local_names)
        if not template.endswith("[{}]" * (len(first) - where)) or not _all_inside(access, first, where, unrolled):
            continue
        name = fresh(f"{identifier_of(reach.array)}_window", frozenset(w.name for w in found.values()))
        found[reach] = Window(name=name, array=read, access=access, template=template, first=first,
                              outer=where)
    return tuple(found.values())


def _all_inside(access: TileAccess, first: Sequence[Linear], where: int, unrolled: frozenset[str]) -> bool:
    """Whether all elements of an access have the first subscripts of its first one, and others a number from its."""
    steps = [[form - start for form, start in zip(key.subscripts or (), first, strict=True)] for key in access.keys]
    return all(f == constant(0) for step in steps for f in step[:where]) and all(
        _is_inside(f, unrolled) for step in steps for f in step[where:])


def _is_inside(step: Linear, unrolled: frozenset[str]) -> bool:
    """Whether a distance from the pointer is a number in every unrolled iteration."""
    return substitute(step, {name: constant(0) for name in unrolled}).is_constant


def _end_of_field(template: str, count: int) -> int:
    """Behind the bracket of a field of an element's template."""
    end = 0
    for _ in range(count):
        end = template.index("{}]", end) + len("{}]")
    return end
