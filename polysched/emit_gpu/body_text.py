"""The loops of a work item as text."""

from __future__ import annotations

from polysched.emit_c.loop_ir.loops import For, Local, Node, StatementInstance, Temporary
from polysched.emit_c.register_tiles.tile_accesses import Point, iterators_at
from polysched.emit_c.scalar_code.statements import print_body
from polysched.emit_gpu.dialect import DevicePrinter
from polysched.emit_gpu.interface import Interface
from polysched.emit_gpu.limits import LIMITS
from polysched.emit_gpu.loop_printer import LoopPrinter
from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.scop import Scop


@dataclass(frozen=True, eq=False, kw_only=True)
class BodyPrinter(LoopPrinter):
    """Prints the nodes of a kernel."""

    scop: Scop
    interface: Interface

    def lines(self, node: Node) -> list[str]:
        """The lines of a node; of a loop that is copied, under a line that says so (OpenCL C and CUDA C++ alike)."""
        return [*["#pragma unroll"] * self._is_unrolled(node), *super().lines(node)]

    def _is_unrolled(self, node: Node) -> bool:
        """Whether a short loop updates elements of a buffer: as copies they stay in registers in loops around it."""
        match node:
            case For(guard=None, body=StatementInstance(statement=name, temporaries=temporaries)):
                iterations = node.upper - node.lower
                statement = self.scop.statement(name)
                updated = {a.array for a in statement.writes} & {a.array for a in statement.reads}
                return (iterations.is_constant and iterations.constant // node.step <= LIMITS.unrolled_iterations
                        and any(own.extents and own.array in updated for own in temporaries))
            case _:
                return False

    def leaf(self, node: Node) -> list[str]:
        match node:
            case Local():
                return [*map(self._declaration, node.temporaries), *self.lines(node.body)]
            case StatementInstance():
                return self._instance(node)
            case _:
                raise UnsupportedScopError(f"no device code for {type(node).__name__}", where=self.scop.name)

    def _declaration(self, temporary: Temporary) -> str:
        extents = "".join(f"[{extent}]" for extent in temporary.extents)
        return f"{self.scop.array(temporary.array).dtype.c_name} {temporary.name}{extents};"

    def _instance(self, node: StatementInstance) -> list[str]:
        printer = DevicePrinter(scop=self.scop, statement=self.scop.statement(node.statement),
                                float_functions=self.interface.float_functions,
                                iterators=iterators_at(self.scop, node, Point(())), index=self.index, local_names={},
                                temporaries=node.temporaries)
        return print_body(printer.statement.body, printer)
