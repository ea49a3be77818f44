"""Functions that a printed Triton module has beside its kernel, where a word of Triton's means less than ours.

Triton's division rounds towards zero, its maximum drops NaNs, it sums small integers in 32 bits, and its functions
take no half precision.
Source: the Triton documentation, `triton.language`, "Semantics".
"""

from __future__ import annotations

from collections.abc import Iterable

FLOORDIV, MOD = "polysched_floordiv", "polysched_mod"


_HALF = "if x.dtype.is_floating() and x.dtype.primitive_bitwidth < 32:"


def _jit(name: str, arguments: str, *lines: str) -> str:
    return f"@triton.jit\ndef {name}({arguments}):\n" + "".join(f"    {line}\n" for line in lines)


def _wide(word: str) -> str:
    return _jit(f"polysched_{word}", "x", _HALF, f"    return tl.{word}(x.to(tl.float32)).to(x.dtype)", "else:",
                f"    return tl.{word}(x)")


def _most(word: str, pair: str) -> str:
    return _jit(f"polysched_{word}", "x, axis: tl.constexpr", _HALF,
                f"    return tl.reduce(x.to(tl.float32), axis, {pair}).to(x.dtype)", "else:",
                f"    return tl.reduce(x, axis, {pair})")


def _pair(word: str) -> str:
    return _jit(f"polysched_{word}", "a, b", f"return tl.{word}(a, b, propagate_nan=tl.PropagateNan.ALL)")


_AWAY = "rest = a % b", "is_below = (rest != 0) & ((rest < 0) != (b < 0))"
HELPERS = {
    FLOORDIV: _jit(FLOORDIV, "a, b", *_AWAY, "return tl.where(is_below, a // b - 1, a // b)"),
    MOD: _jit(MOD, "a, b", *_AWAY, "return tl.where(is_below, rest + b, rest)"),
    "polysched_maximum": _pair("maximum"),
    "polysched_minimum": _pair("minimum"),
    "polysched_max": _most("max", "polysched_maximum"),
    "polysched_min": _most("min", "polysched_minimum"),
    "polysched_sum": _jit("polysched_sum", "x, axis: tl.constexpr",
                          "if x.dtype.is_int() and x.dtype.primitive_bitwidth in (8, 16):",
                          "    return tl.sum(x, axis).to(x.dtype)", "else:", "    return tl.sum(x, axis)"),
    "polysched_exp": _wide("exp"),
    "polysched_log": _wide("log"),
    "polysched_sqrt": _wide("sqrt"),
}
"""The functions by name; `max` and `min` call `maximum` and `minimum`."""


def helper_of(word: str) -> str:
    """The helper that stands for a word, or Triton's own."""
    name = f"polysched_{word}"
    return name if name in HELPERS else f"tl.{word}"


def helper_lines(used: Iterable[str]) -> str:
    """The functions that a module uses, each behind those that it calls."""
    wanted = set(used)
    wanted |= {other for name in wanted for other in HELPERS if f" {other})" in HELPERS[name]}
    return "".join(f"{text}\n\n" for name, text in HELPERS.items() if name in wanted)
