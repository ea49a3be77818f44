"""Helper macros of the emitted region: defined in front of it, only when used, and undefined behind it."""

from __future__ import annotations

import re

from polysched.emit_c.loop_ir.names import TakenNames

_OWN_NAME = re.compile(r"\b[a-z]_\b")
"""How names that a definition declares itself are spelled."""
_DEFINITIONS = {
    "min": ("(a, b)", "((a) < (b) ? (a) : (b))"),
    "max": ("(a, b)", "((a) > (b) ? (a) : (b))"),
    # Rounds down for a negative numerator too and cannot overflow; the divisor is a positive constant.
    "floordiv": ("(n, d)", "((n) / (d) - ((n) % (d) < 0))"),
    # Python's // and %: the divisor may have any sign, the remainder takes the divisor's.
    "value_floordiv": ("(n, d)", "((n) / (d) - ((n) % (d) != 0 && ((n) < 0) != ((d) < 0)))"),
    # bfloat16 as its bits: the upper half of a float; rounded to nearest, ties to even, a NaN stays a NaN.
    "from_bfloat16": ("(x)", "((union { unsigned u; float f; }){(unsigned)(x) << 16}.f)"),
    "to_bfloat16": ("(x)", "({ const float v_ = (x); const unsigned u_ = (union { float f; unsigned u; }){v_}.u; "
                           "(unsigned short)(v_ != v_ ? u_ >> 16 | 64 : (u_ + 0x7fff + (u_ >> 16 & 1)) >> 16); })"),
    "value_floormod": ("(n, d)", "((n) % (d) + ((n) % (d) != 0 && ((n) < 0) != ((d) < 0) ? (d) : 0))"),
}


def _aligned(letter: str, element: str, mask: str) -> tuple[str, str, str, str]:
    """One vector of 64 bytes out of two, from a lane of the first one on: valignq, for which gcc takes vpermi2q."""
    return ("defined __AVX512F__ && !defined __clang__", "(type, low, high, from, ...)",
            f"({{ typedef {element} v_ __attribute__((vector_size(64))); (type)__builtin_ia32_align{letter}512_mask("
            f"(v_)(high), (v_)(low), from, (v_)(low), ({mask})-1); }})",
            "__builtin_shufflevector(low, high, __VA_ARGS__)")


def _emptied(machine: str, count: int) -> tuple[str, str, str, str]:
    """No value stays in a vector register from the code in front to the code behind."""
    names = ", ".join(f'"xmm{number}"' for number in range(count))
    return machine, "()", f'__asm__ volatile("" : : : {names})', "((void)0)"


def _grown(machine: str, have: str, want: str, size: int, builtin: str, *more: str) -> tuple[str, str, str, str]:
    """One instruction for elements that grow to twice their width: gcc takes halves apart and puts them together.

    Parameters
    ----------
    have, want : the element types of the builtin.
    size : bytes of the result; one of 64 takes what masked lanes keep, and a mask.
    more : further arguments.
    """
    given = ", ".join(["(g_)(x)", *(["(r_){0}", "-1"] if size == 64 else []), *more])
    kinds = f"typedef {have} g_ __attribute__((vector_size({size // 2}))); "
    if size == 64:
        kinds += f"typedef {want} r_ __attribute__((vector_size(64))); "
    name = f"{builtin}{'512_mask' if size == 64 else '256'}"
    return (f"defined {machine} && !defined __clang__", "(type, x)",
            f"__extension__ ({{ {kinds}(type)__builtin_ia32_{name}({given}); }})", "__builtin_convertvector(x, type)")


def _widenings() -> dict[str, tuple[str, str, str, str]]:
    """For vectors of 32 and of 64 bytes, by the type of the elements, that of the result, and the number of lanes."""
    found = {}
    for size, wide in ((32, "__AVX2__"), (64, "__AVX512F__")):
        for sign, letter in (("", "s"), ("u", "z")):
            for bits, have, want, pair in ((8, "char", "short", "bw"), (16, "short", "int", "wd"),
                                           (32, "int", "long long", "dq")):
                machine = "__AVX512BW__" if (size, bits) == (64, 8) else wide
                found[f"{sign}int{bits}_int{2 * bits}_{4 * size // bits}"] = _grown(
                    machine, have, want, size, f"pmov{letter}x{pair}")
        found[f"int32_float64_{size // 8}"] = _grown(wide, "int", "double", size, "cvtdq2pd")
        found[f"float32_float64_{size // 8}"] = _grown(
            wide, "float", "double", size, "cvtps2pd", *(["4"] if size == 64 else []))
    return found


WIDENINGS = _widenings()

# Definitions for some machines, and for all others.
_BY_MACHINE = {
    "store_past_caches_64": ("__AVX512F__", "(to, x)", '__asm__ volatile("vmovntps %1, %0" : "=m"(to) : "v"(x))',
                             "((to) = (x))"),
    "store_past_caches_32": ("__AVX__", "(to, x)", '__asm__ volatile("vmovntps %1, %0" : "=m"(to) : "x"(x))',
                             "((to) = (x))"),
    "across_8": _aligned("q", "long long", "unsigned char"),
    "across_4": _aligned("d", "int", "unsigned short"),
    "empty_registers_16": _emptied("defined __x86_64__ && defined __SSE__", 16),
    "empty_registers_32": _emptied("defined __x86_64__ && defined __AVX512F__", 32),
    "fence": ("__SSE__", "()", '__asm__ volatile("sfence" : : : "memory")', "((void)0)"),
    **WIDENINGS,
}


class HelperMacros:
    """Collects which macros a region uses while it is printed."""

    def __init__(self, taken: TakenNames) -> None:
        self._taken = taken
        self._names: dict[str, str] = {}

    def use(self, kind: str) -> str:
        """The name of the macro of this kind (a key of the tables above, or `threads`), from now on defined."""
        if kind not in self._names:
            self._names[kind] = self._taken.fresh(f"polysched_{kind}")
        return self._names[kind]

    def threads(self) -> str:
        """The number of threads that a team would have, as an expression; one without OpenMP."""
        return f"{self.use('threads')}()"

    def definitions(self) -> list[str]:
        """One `#define` per used macro, in a fixed order."""
        lines = [f"#define {self._names[k]}{args} {self._apart(body)}" for k, (args, body) in _DEFINITIONS.items()
                 if k in self._names]
        for kind, (machine, args, body, elsewhere) in _BY_MACHINE.items():
            if kind in self._names:
                head = f"#define {self._names[kind]}{args}"
                test = f"#ifdef {machine}" if machine.isidentifier() else f"#if {machine}"
                lines += [test, f"{head} {self._apart(body)}", "#else", f"{head} {elsewhere}", "#endif"]
        if "threads" in self._names:
            lines += ["#ifdef _OPENMP", "int omp_get_max_threads(void);",
                      f"#define {self._names['threads']}() omp_get_max_threads()", "#else",
                      f"#define {self._names['threads']}() 1", "#endif"]
        return lines

    def _apart(self, body: str) -> str:
        """A definition whose own names are none of the program, which its arguments may use."""
        return _OWN_NAME.sub(lambda own: self._taken.fresh(own[0]), body)

    def undefinitions(self) -> list[str]:
        """One `#undef` per used macro."""
        return [f"#undef {self._names[k]}" for k in (*_DEFINITIONS, *_BY_MACHINE, "threads") if k in self._names]
