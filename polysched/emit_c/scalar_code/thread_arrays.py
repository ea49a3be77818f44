"""Arrays that last and belong to one thread, under a pointer that compilers keep.

    static _Thread_local float A_panel_memory[64][128];
    float (*A_panel)[128] = A_panel_memory;
    __asm__("" : "+r"(A_panel));

In a shared object the address of such an array is the result of a call (`__tls_get_addr`), which gcc repeats rather
than keep an address where registers are short: also in the middle of a loop whose sums fill the vector registers, all
of which it then stores and loads around the call.  The empty assembly leaves nothing to repeat.

Source: U. Drepper, "ELF Handling For Thread-Local Storage", version 0.21, 2013, section 4.1 (general dynamic).
"""

from __future__ import annotations

from collections.abc import Sequence

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.heap import ALIGNMENT_BYTES


def array_of_thread(element: str, name: str, extents: Sequence[object], taken: TakenNames) -> list[str]:
    """The declarations.

    Parameters
    ----------
    element : the C type of an element.
    extents : of every dimension, outermost first; at least one.
    """
    memory = taken.fresh(f"{name}_memory")
    inner = "".join(f"[{extent}]" for extent in extents[1:])
    pointer = f"(*{name}){inner}" if inner else f"*{name}"
    return [f"static _Thread_local {element} {memory}[{extents[0]}]{inner} "
            f"__attribute__((aligned({ALIGNMENT_BYTES})));",
            f"{element} {pointer} = {memory};",
            f'__asm__("" : "+r"({name}));']
