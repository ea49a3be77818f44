"""A region as a function of MLIR's `affine` dialect.

    func.func @product(%n: index, %C: memref<?x?xf64>, ...) attributes {extents = [affine_map<()[s0] -> (s0, s0)>]} {
      affine.for %i0 = 0 to affine_map<()[s0] -> (s0)>()[%n] {
        ...
      }
      return
    }

Parameters are arguments of type `index`, arrays and scalars memrefs, temporaries among them.  Loops are those of the
schedule tree; what only C is told, such as lanes and packed copies, is left out.  `affine.if` has its generic form.
The attribute has the extents of every memref, as `scop.mlir_frontend` reads them; MLIR itself carries it along.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from polysched.emit_c.generation.ast_build import PLACEHOLDER
from polysched.emit_c.loop_ir.index import variable
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Node, StatementInstance
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.lowering import scan
from polysched.emit_c.mlir.affine_maps import Operands, affine_map, bound, expression, integer_set, of_function
from polysched.emit_c.mlir.arithmetic import Body, type_text
from polysched.emit_c.mlir.names import array_name, distinct_names, free_prefix
from polysched.emit_c.mlir.places import refusing_to_write
from polysched.errors import UnsupportedScopError
from polysched.scop.scop import Array, Scop
from polysched.tiling.tiled_schedule import TiledSchedule


def affine_text(tiled: TiledSchedule) -> str:
    """The region as one function.

    Raises
    ------
    UnsupportedScopError : it has a part that the dialects do not have: a loop over pieces, a body with conditions on
        data, a type without a counterpart.
    BudgetExceededError, NoLoopsError : as for `emit_c.lowering.scan`.
    """
    scop = tiled.schedule.scop
    with refusing_to_write(scop):
        writer = _Writer(scop)
        arguments = [*(f"%{p.name}: index" for p in scop.parameters),
                     *(f"%{array_name(a.name)}: {writer.arrays[a.name]}" for a in scop.arrays)]
        lines = [f"func.func @{array_name(scop.name)}({', '.join(arguments)}){writer.extents()} {{",
                 *(f"  {line}" for line in writer.lines(scan(tiled).loops)), "  return", "}"]
    return "\n".join(lines) + "\n"


class _Writer:
    """Nodes of the loop IR to lines."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        self.symbols = [p.name for p in scop.parameters]
        self.arrays = {array.name: _memref(array) for array in scop.arrays}
        taken = distinct_names((*self.symbols, *self.arrays), array_name)
        self.loop_prefix = free_prefix("i", taken)
        value_prefix = free_prefix("v", taken)
        self.values = (f"{value_prefix}{number}" for number in itertools.count())

    def extents(self) -> str:
        """The attribute with the extents of all arrays; nothing where one has no affine form, or all are constants."""
        if not any("?" in kind for kind in self.arrays.values()):
            return ""
        maps = [_extents_map(array, self.symbols) for array in self.scop.arrays]
        return "" if None in maps else f" attributes {{extents = [{', '.join(map(str, maps))}]}}"

    def lines(self, node: Node) -> Iterator[str]:
        match node:
            case Block():
                for child in node.children:
                    yield from self.lines(child)
            case For():
                yield from self._loop(node)
            case If():
                yield from self._condition(node)
            case Let():
                name = self._name(node.variable)
                body = substitute_node(node.body, {node.variable: variable(name)})
                yield f"%{name} = affine.apply {affine_map([node.value], self.symbols)}"
                yield from self.lines(body)
            case StatementInstance():
                yield from Body(self.scop, self.scop.statement(node.statement), node.iterators, self.arrays,
                                self.values).write()
            case _:
                raise UnsupportedScopError("the affine dialect has no such node",
                                           witness=type(node).__name__, hint="write the region without tiles")

    def _loop(self, loop: For) -> Iterator[str]:
        if loop.guard is not None:
            raise UnsupportedScopError("a loop of the affine dialect has one upper bound", witness=str(loop.guard)[:80])
        name = self._name(loop.variable)
        step = f" step {loop.step}" if loop.step != 1 else ""
        yield (f"affine.for %{name} = {bound(loop.lower, 'max', self.symbols)} to "
               f"{bound(loop.upper, 'min', self.symbols)}{step} {{")
        body = substitute_node(loop.body, {loop.variable: variable(name)})
        yield from (f"  {line}" for line in self.lines(body))
        yield "}"

    def _condition(self, node: If) -> Iterator[str]:
        values, operands = integer_set(node.condition, self.symbols)
        types = ", ".join(["index"] * (operands.count("%")))
        yield f'"affine.if"({operands}) ({{'
        yield from (f"  {line}" for line in self.lines(node.then))
        yield "  affine.yield"
        yield "}, {"
        if node.otherwise is not None:
            yield from (f"  {line}" for line in self.lines(node.otherwise))
            yield "  affine.yield"
        yield f"}}) {{condition = {values}}} : ({types}) -> ()"

    def _name(self, loop_variable: str) -> str:
        """A loop variable that is no parameter's and no array's name."""
        return f"{self.loop_prefix}{loop_variable.removeprefix(PLACEHOLDER)}"


def _extents_map(array: Array, symbols: Sequence[str]) -> str | None:
    """The extents over the parameters, but for leading ones that nobody knows; None where one has no affine form."""
    names = [f"s{position}" for position in range(len(symbols))]
    known = list(itertools.dropwhile(lambda extent: extent is None, array.extents))
    texts = []
    for extent in known:
        pieces = [] if extent is None else extent.get_pieces()
        if len(pieces) != 1:
            return None
        operands = Operands(symbols)
        operands.symbols = list(symbols)
        texts.append(expression(of_function(pieces[0][1], ()), operands))
    return f"affine_map<(){'[' + ', '.join(names) + ']' if names else ''} -> ({', '.join(texts)})>"


def _memref(array: Array) -> str:
    extents = []
    for extent in array.extents:
        size = None if extent is None or not extent.is_cst() else extent.max_val()
        extents.append(str(size) if size is not None and size.is_int() else "?")
    return f"memref<{''.join(f'{size}x' for size in extents)}{type_text(array.dtype)}>"
