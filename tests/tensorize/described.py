"""Units that tests describe: plain memory, no instruction, executed by their emulator."""

import re

from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register

ISA = Isa(name="mine", machine="none", manual="none")
LANES = Register(c_type="int", load="", store="", zero="")


def unit(text: str) -> Intrinsic:
    """The unit of a text; its operands are packed."""
    name = re.search(r"void (\w+)\(", text)
    assert name is not None
    header = text[text.index("(") + 1:text.index(")")]
    modes = {p.split("[")[0].split()[-1]: LoadMode.PACKED if "const" in p else LoadMode.DIRECT
             for p in header.split(",")}
    return Intrinsic(name=name[1], isa=ISA, section="none", template="-", semantics=text,
                     cost=Cost(issue_cycles=1, latency_cycles=1),
                     operands=tuple(Operand(name=n, register=LANES, mode=m) for n, m in modes.items()))


def program(parameters: str, body: str) -> Scop:
    """A program of fixed sizes."""
    return from_c_text(f"#include <stdint.h>\n#include <stdlib.h>\nvoid f({parameters}) {{\n#pragma scop\n{body}\n"
                       "#pragma endscop\n}\n")
