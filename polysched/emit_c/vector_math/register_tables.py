"""Functions of which a part comes from a table that one register of AVX-512 holds.

    exp(x) = 2**floor(k) * table[16 (k - floor(k))] * exp(r),      k = x / ln(2) rounded to a multiple of 1/16

so that r is 16 times less than without the table, and three coefficients do where six were needed (P. T. P. Tang,
"Table-driven implementation of the exponential function in IEEE floating-point arithmetic", ACM TOMS 15(2), 1989).  One
instruction takes sixteen entries by the low four bits of as many integers (Intel SDM, volume 2, VPERMPS); here these
are the last bits of what rounds k, and VSCALEFPS takes the floor of k by itself.  Narrower vectors use the low lanes of
the same registers, so that every number of lanes gives the same results.
"""

from __future__ import annotations

import numpy as np

from polysched.scop.dtypes import FLOAT32, DType

TABLE_BITS = 512    # of a register that holds a table
BY_REGISTER: dict[tuple[str, DType], str] = {("exp_core", FLOAT32): "exp_core_by_register"}
"""Programs that have a form by such a table, and its name."""

_SIXTEENTHS = ", ".join(f"{value:.9g}f" if value % 1 else "1.0f"
                        for value in np.exp2(np.arange(16) / 16).astype(np.float32))
TABLES = frozenset({"sixteenth_powers"})


def table_definition(macro: str) -> list[str]:
    """The lines that define `macro(R, t)`: 2**(i/16) for the last four bits i of each element."""
    # clang knows the wider name (%g) of the first sixteen registers only, which are those of the constraint x.
    parts = [f"  __extension__ ({{ R polysched_r; __asm__(\"vpermps %2, {index}, {result}\" "
             f": \"={register}\"(polysched_r) : \"{register}\"(t), \"v\"(polysched_powers)); polysched_r; }})"
             for register, index, result in (("v", "%1", "%0"), ("x", "%g1", "%g0"))]
    return [f"#define {macro}(R, t) __extension__ ({{ \\",
            f"  const float polysched_powers __attribute__((vector_size({TABLE_BITS // 8}))) = {{{_SIXTEENTHS}}}; \\",
            f"  __builtin_choose_expr(sizeof(R) == {TABLE_BITS // 8}, \\", f"{parts[0]}, \\", f"{parts[1]}); }})"]


def by_register(macro: str, letters: str, wide: str, wide_letters: str, other: str, other_letters: str) -> list[str]:
    """The lines that choose between the program by a table and the one without.

    Parameters
    ----------
    letters : of the types that the macro takes first.
    wide, wide_letters, other, other_letters : the macros of the two programs, and the types that these take.
    """
    def call(name: str, taken: str) -> str:
        return f"{name}({', '.join([*taken, 'x_'])})"
    head = f"#define {call(macro, letters)}"
    return ["#if defined(__AVX512VL__)", f"{head} {call(wide, wide_letters)}", "#else",
            f"{head} {call(other, other_letters)}", "#endif"]
