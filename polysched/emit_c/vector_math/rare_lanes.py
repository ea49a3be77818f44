"""Lanes whose argument is rare: they take the C library's function, one by one, behind one test for all lanes.

Sines and cosines of large arguments need hundreds of bits of pi (M. H. Payne and R. N. Hanek, "Radian reduction for
trigonometric functions", ACM SIGNUM Newsletter 18(1), 1983), which the C library has.  Which lanes these are does not
depend on others, so every number of lanes gives the same values.
"""

from __future__ import annotations

from polysched.scop.dtypes import FLOAT32, DType

RARELY = {"by_libm_sin": "sin", "by_libm_cos": "cos"}
"""Macro of the programs -> the function of math.h, by its name for doubles."""

_AVX_BYTES = 32


def rare_lanes_definition(name: str, macro: str, dtype: DType) -> list[str]:
    """The lines that define `macro(R, I, v, x, m)`: v, but the function of x in the lanes where m is -1."""
    suffix, masks = ("f", "d") if dtype == FLOAT32 else ("", "q")
    p = "polysched_rare_"
    count = f"(long)(sizeof(R) / sizeof({p}v[0]))"
    by_lanes = f"for (long {p}n = 0; {p}n < {count}; {p}n++) {p}some |= {p}m[{p}n] != 0;"
    wide = (f"__asm__(\"vptestm{masks} %1, %1, %%k1\\n\\tkortestw %%k1, %%k1\" : \"=@ccnz\"({p}some) "
            f": \"v\"({p}m) : \"k1\");")
    narrow = f"__asm__(\"vptest %1, %1\" : \"=@ccnz\"({p}some) : \"x\"({p}m));"

    def defined(test: str) -> list[str]:
        return [f"#define {macro}(R, I, v_, x_, m_) __extension__ ({{ \\",
                f"  R {p}v = (v_); const R {p}x = (x_); const I {p}m = (I)(m_); int {p}some = 0; \\",
                f"  {test} \\",
                f"  if (__builtin_expect({p}some, 0)) for (long {p}n = 0; {p}n < {count}; {p}n++) \\",
                f"    if ({p}m[{p}n]) {p}v[{p}n] = __builtin_{RARELY[name]}{suffix}({p}x[{p}n]); \\",
                f"  {p}v; }})"]

    choice = f"__builtin_choose_expr(sizeof(R) <= {_AVX_BYTES}, ({{ {narrow} }}), ({{ {by_lanes} }}));"
    return ["#if defined(__AVX512VL__)", *defined(wide), "#elif defined(__AVX__) && !defined(__clang__)",
            *defined(choice), "#else", *defined(by_lanes), "#endif"]
