"""The buffers that operands of register tiles are copied into, as the finished loops have them.

The schedule tree says which there are to be (`tiling.rewriting.copies`), `packing` and `shared_panels` make them; here
stands what a user wants to know of those that were made: size, place, layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from polysched.emit_c.loop_ir.loops import For, Node, Packed
from polysched.emit_c.loop_ir.traversal import child_nodes, walk_nodes
from polysched.emit_c.register_tiles.packing import arrays_of
from polysched.emit_c.scalar_code.heap import ALIGNMENT_BYTES
from polysched.emit_c.scalar_code.size_text import without_least
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.scop.serialise import expression_text
from polysched.tiling.explain import byte_text


@dataclass(frozen=True, kw_only=True)
class PackedBuffer:
    """A contiguous copy of an operand.

    Parameters
    ----------
    name : in the emitted C.
    arrays : what it is copied from.
    value : what an element of it is, as C in terms of the statement's iterators.
    extents : elements per dimension, outermost first, as C where parameters decide.
    outer_count : how many of them stand for tiles.
    part_bytes : its size for one of these tiles.
    bytes : its size; None where parameters decide.
    around : the loops that fill it anew in each iteration, outermost first; none where it is filled once.
    band : number of the band whose tiles read it.
    reused_by : the loop whose iterations read it again.
    shared : all threads fill and read it; else each thread has its own.
    in_lanes : vectors read neighbours along the last dimension, whose end is filled up with zeros; else the rows of
        a block share its elements.
    """

    name: str
    arrays: tuple[str, ...]
    value: str
    extents: tuple[str, ...]
    outer_count: int
    part_bytes: int
    bytes: int | None
    around: tuple[str, ...]
    band: int
    reused_by: str
    shared: bool
    in_lanes: bool

    def to_json(self) -> dict[str, object]:
        """Plain values, for scripts."""
        return {"name": self.name, "arrays": list(self.arrays), "value": self.value, "extents": list(self.extents),
                "bytes": self.bytes, "part_bytes": self.part_bytes, "alignment": ALIGNMENT_BYTES,
                "around": list(self.around), "band": self.band, "reused_by": self.reused_by, "shared": self.shared,
                "in_lanes": self.in_lanes}


def buffer_text(buffer: PackedBuffer) -> str:
    """The buffer in one line, for people."""
    size = byte_text(buffer.bytes) if buffer.bytes is not None else " x ".join(
        [byte_text(buffer.part_bytes), *(f"({extent})" for extent in buffer.extents[:buffer.outer_count])])
    who = "by all threads" if buffer.shared else "for each thread"
    when = f"in every iteration of {', '.join(buffer.around)}" if buffer.around else "once"
    lanes = "vectors along the last dimension" if buffer.in_lanes else "one element for all lanes"
    return (f"{buffer.value} in {buffer.name}[{']['.join(buffer.extents)}] ({size}, aligned to {ALIGNMENT_BYTES}; "
            f"{lanes}), filled {who} {when}, read again by {buffer.reused_by}")


def packed_buffers(scop: Scop, loops: Node) -> tuple[PackedBuffer, ...]:
    """Every buffer once, in the order of the text."""
    found: dict[str, PackedBuffer] = {}
    for node, above in _packed(loops, ()):
        found.setdefault(node.panel.name, _buffer(scop, node, above))
    return tuple(found.values())


def _packed(node: Node, above: tuple[For, ...]) -> Iterator[tuple[Packed, tuple[For, ...]]]:
    if isinstance(node, Packed):
        yield node, above
    inside = (*above, node) if isinstance(node, For) else above
    for child in child_nodes(node):
        yield from _packed(child, inside)


def _buffer(scop: Scop, node: Packed, above: tuple[For, ...]) -> PackedBuffer:
    panel = node.panel
    reuse = next((n for n in walk_nodes(node.body) if isinstance(n, For)), None)
    statement = scop.statement(panel.statement)
    known = all(extent.isdecimal() for extent in panel.outer)
    return PackedBuffer(
        name=panel.name, arrays=tuple(sorted(arrays_of(scop, panel.statement, panel.value))),
        value=expression_text(scop, statement, panel.value),
        extents=(*map(without_least, panel.outer), *map(str, panel.extents)), outer_count=len(panel.outer),
        part_bytes=panel.bytes, bytes=panel.bytes * prod(map(int, panel.outer)) if known else None,
        around=tuple(loop.variable for loop in above), band=0 if reuse is None else reuse.mark.band,
        reused_by="" if reuse is None else reuse.variable, shared=bool(panel.shared), in_lanes=panel.in_lanes)
