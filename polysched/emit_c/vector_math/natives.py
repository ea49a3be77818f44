"""What processors have an instruction for, and no operator of the vector extensions reaches.

gcc and clang get the instruction by inline assembly on x86 where a vector is one register (AVX-512).  Elsewhere
rounding and the square root are clang's builtins for whole vectors, or one builtin call per lane, which a compiler may
turn into vectors by itself; the others are programs.
"""

from __future__ import annotations

from polysched.emit_c.vector_math.notation import Form
from polysched.scop.dtypes import FLOAT32

CLANG_SINCE = 17  # has all of the builtins below; clang 17 release notes, "Elementwise builtins"
_ROUNDING = {"floor": 9, "ceil": 10, "trunc": 11, "rint": 4, "nearbyint": 12}
"""Immediates of VRNDSCALEPS (Intel SDM, volume 2): round to a multiple of 2**0."""

LANEWISE = frozenset({"sqrt", *_ROUNDING})

# Name -> parameters, the instruction in AT&T order, and the program where there is no such instruction.
_OTHERS: dict[str, tuple[tuple[str, ...], str, str]] = {
    # x rounded to an integer of at most half as many bits as the mantissa has.
    "nearest": (("x",), "vrndscale{k} $8, %1, %0", "to_real(bits(x + {magic}) - {magic_bits})"),
    # x * 2**y, y an integer between -2 and 2 times the exponent's range, rounded once.
    "scale": (("x", "y"), "vscalef{k} %2, %1, %0", "two_steps(x, real(bits(y + {magic}) - {magic_bits}))"),
    # The smaller of x and the constant y, and the larger; x where it is NaN.
    "at_most": (("x", "y"), "vmin{k} %1, %2, %0", "pick(x > y, y, x)"),
    "at_least": (("x", "y"), "vmax{k} %1, %2, %0", "pick(x < y, y, x)"),
}
NATIVES = frozenset({*LANEWISE, *_OTHERS})
_MAGIC = {32: ("12582912.0f", "0x4B400000"), 64: ("6755399441055744.0", "0x4338000000000000L")}


def native_program(name: str, form: Form) -> str | None:
    """The program of a function where the processor lacks the instruction; None for those that work lane by lane."""
    if name not in _OTHERS:
        return None
    magic, magic_bits = _MAGIC[form.dtype.bits]
    return _OTHERS[name][2].format(magic=magic, magic_bits=magic_bits)


def native_definition(name: str, macro: str, form: Form, otherwise: list[str]) -> list[str]:
    """The lines that define a macro for a native function.

    Parameters
    ----------
    otherwise : the macro as a program; empty for a function that works lane by lane.
    """
    alternatives: list[tuple[str, list[str]]] = []
    if (size := form.lanes * form.dtype.bits) in (128, 256, 512):
        feature = "defined(__AVX512F__)" if size == 512 else "defined(__AVX512VL__)"
        alternatives.append((feature, [_assembly(name, macro, form)]))
    if name in LANEWISE:
        alternatives.append((f"defined(__clang__) && __clang_major__ >= {CLANG_SINCE}",
                             [f"#define {macro}(x) __builtin_elementwise_{name}(x)"]))
        otherwise = [_lane_by_lane(name, macro, form)]
    lines: list[str] = []
    for condition, definition in alternatives:
        lines += [f"#{'elif' if lines else 'if'} {condition}", *definition]
    return [*lines, "#else", *otherwise, "#endif"] if lines else otherwise


def _assembly(name: str, macro: str, form: Form) -> str:
    kind = "ps" if form.dtype == FLOAT32 else "pd"
    parameters: tuple[str, ...] = ("x",)
    if name == "nearest":
        # Adding a large number rounds; the compiler does not see that it is subtracted again.
        magic, _ = _MAGIC[form.dtype.bits]
        return (f"#define {macro}(x) __extension__ ({{ {form.c_type('R')} polysched_r = (x) + {magic}; "
                f"__asm__(\"\" : \"+v\"(polysched_r)); polysched_r - {magic}; }})")
    if name in _OTHERS:
        parameters, instruction, _ = _OTHERS[name]
    elif name == "sqrt":
        instruction = "vsqrt{k} %1, %0"
    else:
        instruction = f"vrndscale{{k}} ${_ROUNDING[name]}, %1, %0"
    operands = ", ".join(f"\"v\"({p})" for p in parameters)
    return (f"#define {macro}({', '.join(parameters)}) __extension__ ({{ {form.c_type('R')} polysched_r; "
            f"__asm__(\"{instruction.format(k=kind)}\" : \"=v\"(polysched_r) : {operands}); polysched_r; }})")


def _lane_by_lane(name: str, macro: str, form: Form) -> str:
    real = form.c_type("R")
    suffix = "f" if form.dtype == FLOAT32 else ""
    lanes = ", ".join(f"__builtin_{name}{suffix}(polysched_v[{n}])" for n in range(form.lanes))
    return f"#define {macro}(x) __extension__ ({{ const {real} polysched_v = (x); ({real}){{{lanes}}}; }})"
