"""A unit of several stages by its instructions where the processor has them, by its text elsewhere: one function.

    static void f(...) { the text }   target: static void f_native(...) { load; template; store }
    static void f_chosen(...) { if (polysched_has_ISA()) f_native(...); else f(...); }
"""

from __future__ import annotations

from polysched.emit_c.alternatives.dispatch import MACROS, Dispatch, dispatch
from polysched.errors import UsageError
from polysched.tensorize.conformance.conformance import instruction_c
from polysched.tensorize.description.emulator import declaration
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode


def has_native_code(intrinsic: Intrinsic) -> bool:
    """Whether its instructions can stand in a file: of a machine that compilers name, operands at any address."""
    return intrinsic.isa.machine in MACROS and _dispatch(intrinsic) is not None and all(
        o.alignment_bytes == 1 and o.mode is not LoadMode.SCRATCHPAD and o.register.c_type for o in intrinsic.operands)


def _dispatch(intrinsic: Intrinsic) -> Dispatch | None:
    try:
        return dispatch(intrinsic.isa)
    except UsageError:   # no test at run time is known
        return None


def chosen_name(intrinsic: Intrinsic) -> str:
    """The function that asks the processor."""
    return f"{intrinsic.parsed.name}_chosen"


def chosen_c(intrinsic: Intrinsic) -> str:
    """That function, and the one with the instructions; behind the text."""
    found, name = dispatch(intrinsic.isa), intrinsic.parsed.name
    operands = intrinsic.parsed.operands
    parameters = ", ".join(("" if v.written else "const ") + declaration(v) for v in operands)
    given = ", ".join(v.name for v in operands)
    native = instruction_c(intrinsic, name=f"{name}_native")
    if intrinsic.configure or intrinsic.finish:
        head, _, body = native.partition("{\n")
        native = f"{head}{{\n    {intrinsic.configure}\n{body.rstrip().removesuffix('}')}    {intrinsic.finish}\n}}\n"
    headers = "".join(f"#include <{h}>\n" for h in intrinsic.isa.headers)
    guard = f"POLYSCHED_CHOSEN_{name.upper()}"
    here = found.only_there(f"{headers}{found.helper}{found.compiled_for(native)}")
    lines = (f"    if ({found.condition}) {{", f"        {name}_native({given});", "        return;", "    }")
    asked = found.only_there("".join(f"{line}\n" for line in lines))
    return (f"#ifndef {guard}\n#define {guard}\n{here}static void {chosen_name(intrinsic)}({parameters})\n{{\n{asked}"
            f"    {name}({given});\n}}\n#endif\n")
