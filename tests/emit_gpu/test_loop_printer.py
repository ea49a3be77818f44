"""Loops, branches and values as C."""

from polysched.emit_c.loop_ir.index import Comparison, constant, variable
from polysched.emit_c.loop_ir.loops import Block, If, Let, Node, StatementInstance
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_gpu.loop_printer import LoopPrinter
from polysched.emit_gpu.names import device_names
from tests.gpu.mapped import SCALE, mapped


class Names(LoopPrinter):
    """Prints the name of a statement."""

    def leaf(self, node: Node) -> list[str]:
        assert isinstance(node, StatementInstance)
        return [f"{node.statement};"]


def test_a_value_of_one_part_is_in_a_block_of_its_own() -> None:
    taken = device_names(mapped(SCALE).scop).taken
    printer = Names(index=IndexPrinter(parameters={}, spellings={}, macros=HelperMacros(taken)))
    first, second = (StatementInstance(name, ()) for name in ("S0", "S1"))
    branch = If(Comparison("<", variable("c"), constant(3)), first, second)
    assert printer.lines(Block((Let("c", constant(2), branch), second))) == [
        "{", "  const long c = 2;", "  if (c < 3) {", "    S0;", "  } else {", "    S1;", "  }", "}", "S1;"]
