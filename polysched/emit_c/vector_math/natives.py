"""What processors have an instruction for, and no operator of the vector extensions reaches.

gcc and clang get the instruction by inline assembly on x86 where a vector is one register (AVX-512); gcc with AVX and
registers of at most 256 bits, too.  Elsewhere rounding and the square root are clang's builtins for whole vectors, or
one builtin call per lane, which a compiler may turn into vectors by itself; the others are programs.
"""

from __future__ import annotations

from polysched.scop.dtypes import FLOAT32, DType

CLANG_SINCE = 17  # has all of the builtins below; clang 17 release notes, "Elementwise builtins"
_ROUNDING = {"floor": 9, "ceil": 10, "trunc": 11, "rint": 4, "nearbyint": 12}
"""Immediates of VRNDSCALEPS (Intel SDM, volume 2): round to a multiple of 2**0."""

LANEWISE = frozenset({"sqrt", *_ROUNDING})

AVX_BITS = 256
# Name -> parameters, the instruction in AT&T order, and the program where there is no such instruction.
_OTHERS: dict[str, tuple[tuple[str, ...], str, str]] = {
    # x rounded to an integer of at most half as many bits as the mantissa has.
    "nearest": (("x",), "vrndscale{k} $8, %1, %0", "to_real(less(bits(x + {magic}), {magic_bits}))"),
    # x * 2**y, y an integer between -2 and 2 times the exponent's range, rounded once: half of y at a time.  The last
    # bits of t are y plus twice the exponent's bias; h is the exponent of one factor, what is left of t the other's.
    "scale": (("x", "y"), "vscalef{k} %2, %1, %0", """
        I t = bits(y + {biased_magic});
        I h = (t << {half}) & {exponent};
        (x * real(h)) * real(less(t << {mantissa}, h))
     """),
    # The smaller of x and the constant y, and the larger; x where it is NaN.
    "at_most": (("x", "y"), "vmin{k} %1, %2, %0", "pick(x > y, y, x)"),
    "at_least": (("x", "y"), "vmax{k} %1, %2, %0", "pick(x < y, y, x)"),
}
NATIVES = frozenset({*LANEWISE, *_OTHERS})
_AVX_OTHERS = frozenset({"nearest", "at_most", "at_least"})    # the rest came with AVX-512
# What rounds a number by being added, and its bits.
_MAGIC = {32: ("12582912.0f", "0x4B400000"), 64: ("6755399441055744.0", "0x4338000000000000L")}
_SCALE = {32: {"biased_magic": "12583166.0f", "half": 22, "mantissa": 23, "exponent": "0x7F800000"},
          64: {"biased_magic": "6755399441057790.0", "half": 51, "mantissa": 52, "exponent": "0x7FF0000000000000L"}}


def native_program(name: str, dtype: DType) -> str | None:
    """The program of a function where the processor lacks the instruction; None for those that work lane by lane."""
    if name not in _OTHERS:
        return None
    magic, magic_bits = _MAGIC[dtype.bits]
    return _OTHERS[name][2].format(magic=magic, magic_bits=magic_bits, **_SCALE[dtype.bits])


def lanewise_definition(name: str, head: str, dtype: DType) -> list[str]:
    """The lines that define a macro for a function that is called for each lane."""
    suffix = "f" if dtype == FLOAT32 else ""
    return [f"#define {head} __extension__ ({{ R polysched_v = (x_); \\",
            "    for (unsigned long polysched_n = 0; polysched_n < sizeof(R) / sizeof(polysched_v[0]); "
            "polysched_n++) \\",
            f"      polysched_v[polysched_n] = __builtin_{name}{suffix}(polysched_v[polysched_n]); \\",
            "    polysched_v; })"]


def has_avx_form(name: str) -> bool:
    """Whether AVX has an instruction for a native function."""
    return name in LANEWISE or name in _AVX_OTHERS


def native_definition(name: str, head: str, dtype: DType, otherwise: list[str], wide: str | None = None) -> list[str]:
    """The lines that define a macro for a native function.

    Parameters
    ----------
    head : the macro's name with its parameters.
    otherwise : the lines that define it where there is no instruction.
    wide : the same as a call, for vectors that are more than one register of AVX; None for AVX-512 alone.
    """
    lines = ["#if defined(__AVX512VL__)", f"#define {head} {_assembly(name, dtype, 'v')}"]
    if wide is not None:
        lines += ["#elif defined(__AVX__) && !defined(__clang__)",
                  f"#define {head} __builtin_choose_expr(sizeof(R) <= {AVX_BITS // 8}, "
                  f"{_assembly(name, dtype, 'x')}, {wide})"]
    if name in LANEWISE:
        lines += [f"#elif defined(__clang__) && __clang_major__ >= {CLANG_SINCE}",
                  f"#define {head} __builtin_elementwise_{name}(x_)"]
    return [*lines, "#else", *otherwise, "#endif"]


def _assembly(name: str, dtype: DType, register: str) -> str:
    """The instruction on registers of a class: `v` those of AVX-512, `x` those of AVX."""
    kind = "ps" if dtype == FLOAT32 else "pd"
    if name == "nearest":
        # Adding a large number rounds; the compiler does not see that it is subtracted again, nor what from.
        magic, _ = _MAGIC[dtype.bits]
        hidden = f"__asm__(\"\" : \"+{register}\"(polysched_r));"
        return (f"__extension__ ({{ R polysched_r = (x_) + {magic}; {hidden} polysched_r -= {magic}; {hidden} "
                "polysched_r; })")
    parameters: tuple[str, ...] = ("x",)
    if name in _OTHERS:
        parameters, instruction, _ = _OTHERS[name]
    elif name == "sqrt":
        instruction = "vsqrt{k} %1, %0"
    else:
        rounding = "vrndscale" if register == "v" else "vround"    # Intel SDM, volume 2, VROUNDPS: the same immediates
        instruction = f"{rounding}{{k}} ${_ROUNDING[name]}, %1, %0"
    operands = ", ".join(f"\"{register}\"({p}_)" for p in parameters)
    return (f"__extension__ ({{ R polysched_r; __asm__(\"{instruction.format(k=kind)}\" "
            f": \"={register}\"(polysched_r) : {operands}); polysched_r; }})")


def native_parameters(name: str) -> tuple[str, ...]:
    """`x`, or `x` and `y`."""
    return _OTHERS[name][0] if name in _OTHERS else ("x",)
