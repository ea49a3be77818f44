"""A region as a function of TVM's tensor IR, as TVMScript.

    @T.prim_func
    def product(n: T.int64, C: T.Buffer((n, n), "float64"), ...):
        for i0 in range(n):
            ...

Parameters are arguments of type int64, arrays buffers, temporaries among them.  Loops are those of the schedule tree;
what only C is told, such as lanes and packed copies, is left out.  `tvm.script.from_source(text, {"T": T})` reads it,
and so does `scop.tir_frontend.from_tir` behind that.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polysched.emit_c.generation.ast_build import PLACEHOLDER
from polysched.emit_c.loop_ir.index import Linear, variable
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Node, StatementInstance
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.lowering import scan
from polysched.emit_c.mlir.affine_maps import element_of, is_one_function, of_function
from polysched.emit_c.mlir.names import distinct_names, free_prefix
from polysched.emit_c.mlir.places import refusing_to_write
from polysched.emit_c.tir.expressions import Values
from polysched.emit_c.tir.indices import index, number, plain, test
from polysched.errors import UnsupportedScopError
from polysched.scop.body import Assign, Binary, Load
from polysched.scop.dtypes import INT64, common_type
from polysched.scop.scop import Array, Scop, Statement
from polysched.tiling.tiled_schedule import TiledSchedule

HEAD = "# from tvm.script import tirx as T\n@T.prim_func\n"
_WITHOUT = ("longdouble", "complex64", "complex128", "clongdouble")


def tir_text(tiled: TiledSchedule) -> str:
    """The region as one function.

    Raises
    ------
    UnsupportedScopError : it has a part that tensor IR has no form for.
    BudgetExceededError, NoLoopsError : as for `emit_c.lowering.scan`.
    """
    scop = tiled.schedule.scop
    with refusing_to_write(scop):
        writer = _Writer(scop)
        arguments = [*(f"{plain(p.name)}: T.int64" for p in scop.parameters), *map(writer.argument, scop.arrays)]
        lines = [f"def {plain(scop.name)}({', '.join(arguments)}):",
                 *(f"    {line}" for line in writer.lines(scan(tiled).loops))]
    return HEAD + "\n".join(lines) + "\n"


class _Writer:
    """Nodes of the loop IR to lines."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        names = (*(p.name for p in scop.parameters), *(a.name for a in scop.arrays))
        self.prefix = free_prefix("i", distinct_names(names, plain))

    def argument(self, array: Array) -> str:
        """`A: T.Buffer((n, T.int64(8)), "float32")`; an extent that nobody knows is a variable of its own."""
        if array.dtype.name in _WITHOUT:
            raise UnsupportedScopError("tensor IR has no such type of elements", witness=array.dtype.c_name)
        extents = [f'"{plain(array.name)}_{position}"' if extent is None else self._extent(array, extent)
                   for position, extent in enumerate(array.extents)]
        inside = ", ".join(extents) + ("," if len(extents) == 1 else "")
        return f'{plain(array.name)}: T.Buffer(({inside}), "{array.dtype.name}")'

    def _extent(self, array: Array, extent: isl.PwAff) -> str:
        pieces = extent.get_pieces()
        if len(pieces) != 1:
            raise UnsupportedScopError("an extent is no single affine function",
                                       witness=f"{array.name}: {extent}")
        return index(of_function(pieces[0][1], ()))

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
                yield from self.lines(substitute_node(node.body, {node.variable: node.value}))
            case StatementInstance():
                yield from self._statement(node)
            case _:
                raise UnsupportedScopError("tensor IR has no such node",
                                           witness=type(node).__name__, hint="write the region without tiles")

    def _loop(self, loop: For) -> Iterator[str]:
        """A loop; one with a step, or that may begin below zero, counts its iterations.

        TVM 0.27 leaves out iterations of nested loops that begin below zero, or runs others.
        """
        if loop.guard is not None:
            raise UnsupportedScopError("a loop of tensor IR has one upper bound", witness=str(loop.guard)[:80])
        name = f"{self.prefix}{loop.variable.removeprefix(PLACEHOLDER)}"
        value, first, end = variable(name), index(loop.lower), index(loop.upper)
        if loop.step != 1 or loop.lower.terms or loop.lower.constant < 0:
            value = loop.lower + variable(name) * loop.step
            first, end = number(0), index(loop.upper - loop.lower + (loop.step - 1))
        if loop.step != 1:
            end = f"({end}) // {number(loop.step)}"
        yield f"for {name} in T.serial({first}, {end}):"
        body = list(self.lines(substitute_node(loop.body, {loop.variable: value})))
        yield from (f"    {line}" for line in body or ["T.evaluate(0)"])

    def _condition(self, node: If) -> Iterator[str]:
        yield f"if {test(node.condition)}:"
        yield from (f"    {line}" for line in self.lines(node.then))
        if node.otherwise is not None:
            yield "else:"
            yield from (f"    {line}" for line in self.lines(node.otherwise))

    def _statement(self, node: StatementInstance) -> Iterator[str]:
        statement = self.scop.statement(node.statement)

        def element(reference: str) -> str:
            return self._element(statement, reference, node.iterators)

        values = Values(statement, node.iterators, element)
        for item in statement.body:
            if not isinstance(item, Assign):
                raise UnsupportedScopError(f"a condition or loop on data of {statement.name} has no form in tensor IR",
                                           witness=type(item).__name__)
            value = item.value
            if item.op is not None and item.read is not None:
                common = common_type(item.op, item.dtype, value.dtype)
                value = Binary(item.op, Load(item.read, item.dtype), value, common)
            yield f"{element(item.target)} = {values.converted(value, item.dtype)}"

    def _element(self, statement: Statement, reference: str, iterators: tuple[Linear, ...]) -> str:
        """An element; subscripts that are data, or functions in pieces, are as the program writes them."""
        access = statement.access(reference)
        if len(access.subscripts) == len(self.scop.array(access.array).extents) and not is_one_function(access):
            values = Values(statement, iterators, lambda inner: self._element(statement, inner, iterators))
            texts = [values.converted(subscript, INT64) for subscript in access.subscripts]
            return f"{plain(access.array)}[{', '.join(texts)}]"
        array, forms = element_of(statement, reference, iterators)
        return f"{plain(array)}[{', '.join(map(index, forms)) or '()'}]"
